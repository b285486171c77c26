"""The one database of a process: it loads nothing, and nobody changes its settings later."""

from __future__ import annotations

import duckdb
import pytest

from reportgen.formats.sql import get_engine


@pytest.mark.parametrize(
    "statement",
    [
        "SET threads = 1",
        "SET GLOBAL TimeZone = 'Europe/Berlin'",
        "SET autoload_known_extensions = true",
        "SET allow_community_extensions = true",
        "SET lock_configuration = false",
        "RESET memory_limit",
        "PRAGMA enable_progress_bar",
        "INSTALL h3 FROM community",
        "LOAD sqlite",
    ],
)
def test_settings_are_locked_and_nothing_is_loaded(statement: str) -> None:
    """Neither on the database's own connection nor on a cursor."""
    database = get_engine()
    for run in (database.fetch_rows, database._connection.execute):
        with pytest.raises(duckdb.Error):
            run(statement)


def test_the_database_is_as_it_was_set_up() -> None:
    """Times are in UTC, in every cursor."""
    asked = "SELECT current_setting('TimeZone'), current_setting('allow_community_extensions')"
    assert get_engine().fetch_rows(asked) == [("UTC", False)]

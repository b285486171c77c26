"""What goes wrong with the logs of Inspect that the guide shows."""

from __future__ import annotations

import json
import shutil
import zipfile
from typing import TYPE_CHECKING, Any

from guide_damage import cut, kept
from guide_messages import Accident

from reportgen.formats.archive import open_archive

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from guide_damage import Happens


def _first(change: Callable[[dict[str, bytes]], None]) -> Happens:
    """The first log has other members."""
    return lambda folder: _repacked(min(folder.rglob("*.eval")), change)


def _repacked(path: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    with open_archive(path) as archive:
        members = {name: archive.read(name) for name in archive.names}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _member(name: str, change: Callable[[Any], None]) -> Happens:
    """JSON in the first log holds something else."""

    def rewritten(members: dict[str, bytes]) -> None:
        document = json.loads(members[name])
        change(document)
        members[name] = json.dumps(document).encode()

    return _first(rewritten)


def _retried(folder: Path) -> None:
    """An hour later the task was tried again, and ended well."""
    path = min(folder.rglob("*.eval"))
    shutil.copyfile(path, path.with_name(path.name.replace("T19-", "T20-")))
    _member("header.json", lambda header: header.update(status="error"))(folder)


def _failed(samples: list[dict[str, Any]]) -> None:
    samples[1].update(error="timed out", scores={})


def _no_summaries(members: dict[str, bytes]) -> None:
    del members["summaries.json"]


def _huge_summaries(members: dict[str, bytes]) -> None:
    members["summaries.json"] = b"[" + b" " * (20 << 20) + b"]"


INSPECT = (
    Accident(
        "the evaluation was cancelled, and has scores nevertheless",
        _member("header.json", lambda header: header.update(status="cancelled")),
    ),
    Accident("the task has 2 logs: only the newest that ended well is read", _retried),
    Accident(
        "the limit leaves 30 of 100 samples of the dataset",
        _member("header.json", lambda header: header["eval"]["dataset"].update(samples=100)),
    ),
    Accident("1 sample failed (first error: timed out)", _member("summaries.json", _failed)),
    Accident(
        "1 sample was stopped by a limit (token)",
        _member("summaries.json", lambda samples: samples[0].update(limit="token")),
    ),
    Accident(
        "accuracy (match) is said to be 0.525, and its 119 samples give 0.529412",
        _member("summaries.json", _failed),
    ),
    Accident(
        "the answers of each epoch are not kept; a score for each problem is read", _first(_no_summaries)
    ),
    Accident(
        "the archive is torn or damaged, and its list of members lost: 3 whole members are read",
        cut("*.eval", 30),
    ),
    Accident(
        "it is no whole zip archive: its list of members is missing or damaged; this run is left out",
        kept("*.eval", 3000),
    ),
    Accident(
        "summaries.json in the archive unpacks to more than 200 times its size; this run is left out",
        _first(_huge_summaries),
    ),
)

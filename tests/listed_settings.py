"""Every key that users may write, from the models of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from reportgen.settings.base import Settings
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.hub import HubSettings
from reportgen.settings.report import FrontMatter, ProjectSettings
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOTS: tuple[type[Settings], ...] = (
    *BLOCKS.values(),
    FrontMatter,
    HubSettings,
    ProjectSettings,
    SourceSettings,
)


def list_keys() -> list[str]:
    """Return the keys of blocks, front matter, ``source.yml``, ``mkdocs.yml`` and a hub."""
    return sorted({key for root in _ROOTS for model in _list_models(root) for key in model.model_fields})


def _list_models(model: type[Settings]) -> Iterator[type[Settings]]:
    """Yield a settings model and every model that its fields mention."""
    yield model
    for field in model.model_fields.values():
        yield from (found for part in _list_parts(field.annotation) for found in _list_models(part))


def _list_parts(annotation: object) -> Iterator[type[Settings]]:
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        yield annotation
    for argument in get_args(annotation):
        yield from _list_parts(argument)

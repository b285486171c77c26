"""What the models know about the value at a path: its key, its field, and how a sentence names it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, get_args, get_origin

from pydantic import BaseModel

from reportgen.settings.parsing import shorten

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from reportgen.settings.faults import KeyPath


@dataclass(frozen=True, slots=True)
class Spot:
    """A value's position among the models.

    Attributes:
        owner: what the key belongs to, such as "reference in a curve block".
        holder: the model the key belongs to; None below keys that are the user's own.
        inner: the model of what stands here, if it is a mapping or a list of mappings with our keys.
        field: the nearest field on the way here, with its key.
        key: the last key on the way, empty at the top.
        item: the 1-based number of an item in the list under that key.
        named: whether the keys below are the user's own names, each with an ``inner`` of its own.
    """

    owner: str
    holder: type[BaseModel] | None = None
    inner: type[BaseModel] | None = None
    field: tuple[str, FieldInfo] | None = None
    key: str = ""
    item: int | None = None
    named: bool = False

    @property
    def label(self) -> str:
        """The value's name in a sentence."""
        if not self.key:
            return self.owner
        name = f'"{shorten(self.key)}"'
        return f"item {self.item} of {name}" if self.item else name

    @property
    def advice(self) -> str:
        """What the key is for."""
        return describe_field(*self.field) if self.field else ""


def find_spot(path: KeyPath, model: type[BaseModel], owner: str) -> Spot:
    """Follow a path through the models from ``model``, which a sentence calls ``owner``."""
    return reduce(_follow_step, path, Spot(owner, inner=model))


def describe_field(key: str, field: FieldInfo | None) -> str:
    """A key with its description, without the full stop; empty where there is none."""
    if field is None or not field.description:
        return ""
    return f"{shorten(key)}: {field.description.rstrip('.')}"


def _follow_step(spot: Spot, step: str | int) -> Spot:
    if isinstance(step, int):
        return replace(spot, item=step + 1)
    owner = f"{shorten(spot.key)} in {spot.owner}" if spot.key else spot.owner
    if spot.named:
        return Spot(owner, None, spot.inner, spot.field, step)
    field = spot.inner.model_fields.get(step) if spot.inner else None
    inner = _find_model(field.annotation) if field else None
    named = field is not None and get_origin(field.annotation) is dict
    return Spot(owner, spot.inner, inner, (step, field) if field else spot.field, step, named=named)


def _find_model(annotation: object) -> type[BaseModel] | None:
    """The one model that an annotation such as ``tuple[Name | PanelSettings, ...]`` mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _find_model(part))), None)

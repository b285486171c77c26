"""The base of every settings model: frozen, unknown keys refused, names in the user's spelling."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
Number = Annotated[float, Field(allow_inf_nan=False)]


class Settings(BaseModel):
    """Frozen, strict about keys; every field's description is shown in the guide and in editors."""

    # Validators are built when first needed: no report needs all of them.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


CellValue: TypeAlias = str | int | float | bool

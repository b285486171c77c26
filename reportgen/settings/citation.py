"""How a report is cited, by ``citation`` of ``mkdocs.yml``; and how others name its models and benchmarks."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, field_validator, model_validator

from reportgen.settings.base import Name, Settings

_ORCID: Final = re.compile(r"(?:https://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")
# As Crossref recommends it.
_DOI: Final = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:)?(10\.\d{4,9}/[-._;()/:a-zA-Z0-9]+)")
_URL: Final = re.compile(r"https?://[^\s<>\"]+")


class Author(Settings):
    """An author of a report."""

    name: Name = Field(description="A person as Given Family, or as Family, Given; or an organization.")
    kind: Literal["person", "organization"] = Field("person", description="What the name is of.")
    orcid: str | None = Field(None, description="ORCID iD of a person.")
    affiliation: Name | None = Field(None, description="Where a person works.")

    @field_validator("orcid")
    @classmethod
    def _check_orcid(cls, orcid: str | None) -> str | None:
        if orcid is None:
            return None
        found = _ORCID.fullmatch(orcid.strip())
        if not found:
            raise ValueError("an ORCID iD has 16 digits in groups of four, such as 0000-0002-1825-0097")
        plain = found[1].replace("-", "")
        digits, last = plain[:-1], plain[-1]
        # ISO 7064, MOD 11-2.
        rest = 0
        for digit in digits:
            rest = (rest + int(digit)) * 2
        expected = "0123456789X"[(12 - rest % 11) % 11]
        if last != expected:
            raise ValueError(
                f"this ORCID iD ends in {last}, and by its other digits it has to end in {expected}"
            )
        return found[1]

    @property
    def family(self) -> str:
        """The family name of a person; the whole name of an organization, or of a person with one name."""
        return self._split_name()[0]

    @property
    def given(self) -> str:
        """The given names of a person; may be empty."""
        return self._split_name()[1]

    def _split_name(self) -> tuple[str, str]:
        if self.kind == "organization":
            return self.name, ""
        family, comma, given = (part.strip() for part in self.name.partition(","))
        if comma:
            return family, given
        given, _, family = self.name.rpartition(" ")
        return family, given.strip()


class RelatedWork(Settings):
    """Something else that a report is related to."""

    relation: Literal[
        "cites", "isCitedBy", "isSupplementTo", "isSupplementedBy", "isNewVersionOf", "isPreviousVersionOf",
        "isPartOf", "hasPart", "isDerivedFrom", "isSourceOf", "isDocumentedBy", "documents", "references",
        "isReferencedBy",
    ] = Field(description="How this report is related to it, in DataCite's words.")  # fmt: skip
    id: str = Field(description="Its DOI or address.")

    @field_validator("id")
    @classmethod
    def _check_id(cls, text: str) -> str:
        is_address = _URL.fullmatch(text) and not _DOI.fullmatch(text)
        return text if is_address else _read_doi(text)


class Citation(Settings):
    """How a report is cited."""

    authors: tuple[Author, ...] = Field(min_length=1, description="Who wrote it, in this order.")
    title: Name | None = Field(None, description="Its title; site_name if left out.")
    license: str | None = Field(None, description="SPDX identifier of its licence, such as CC-BY-4.0.")
    version: Name | None = Field(None, description="Its version, such as 1.0.")
    doi: str | None = Field(None, description="Its DOI, if one is reserved or registered.")
    abstract: Name | None = Field(None, description="What it is about; site_description if left out.")
    keywords: tuple[Name, ...] = Field((), description="Words to find it by.")
    related: tuple[RelatedWork, ...] = Field((), description="Papers, data and code that belong to it.")

    @field_validator("license")
    @classmethod
    def _check_license(cls, license: str | None) -> str | None:  # noqa: A002 - the key's name
        if license is None:
            return None
        # The list of licences is long, and most reports name none.
        from packaging.licenses import (  # noqa: PLC0415
            InvalidLicenseExpression,
            canonicalize_license_expression,
        )

        try:
            name = str(canonicalize_license_expression(license))
        except InvalidLicenseExpression:
            name = ""
        if not name or " " in name:
            raise ValueError(f'"{license}" is not the SPDX identifier of a licence, such as CC-BY-4.0 or MIT')
        return name

    @field_validator("doi")
    @classmethod
    def _check_doi(cls, doi: str | None) -> str | None:
        return None if doi is None else _read_doi(doi)

    @model_validator(mode="after")
    def _check_persons(self) -> Citation:
        for author in self.authors:
            if author.kind == "organization" and (author.orcid or author.affiliation):
                raise ValueError(f'"{author.name}" is an organization: orcid and affiliation are of persons')
        return self


def _read_doi(text: str) -> str:
    found = _DOI.fullmatch(text.strip())
    if not found:
        raise ValueError(f'"{text}" is neither a DOI, such as 10.5281/zenodo.1234567, nor an address')
    return found[1]


def _check_model(name: str) -> str:
    if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name):
        raise ValueError("a model is written as organisation/name, such as Qwen/Qwen3-8B")
    return name


ModelName: TypeAlias = Annotated[str, AfterValidator(_check_model)]


class HubTask(Settings):
    """A benchmark on the Hugging Face Hub."""

    dataset: Name = Field(description="Its dataset, as organisation/name.")
    task: Name = Field(description="Which of the dataset's tasks it is.")

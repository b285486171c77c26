"""Validate the RO-Crates of unpacked archives: a line of JSON with what is not as required, a list a profile.

    python check_crate.py FOLDER PROFILE [PROFILE ...]

The context of RO-Crate is that of its Python library: version 1.3, which has all terms of 1.2. Nothing is
fetched.
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files

import requests
from requests.adapters import HTTPAdapter
from rocrate_validator import services
from rocrate_validator.models import Severity, ValidationSettings

CONTEXTS = "https://w3id.org/ro/crate/"


class LocalContext(HTTPAdapter):
    """Answers for the addresses of contexts."""

    def send(self, request: requests.PreparedRequest, *_: object, **__: object) -> requests.Response:
        """Answer with the library's context, and refuse any other address."""
        if not str(request.url).startswith(CONTEXTS):
            raise requests.ConnectionError(f"{request.url} is not here")
        response = requests.Response()
        response.status_code, response.url, response.request = 200, str(request.url), request
        response.headers["Content-Type"] = "application/ld+json"
        response._content = (files("rocrate") / "data" / "ro-crate.jsonld").read_bytes()
        return response


def main(folder: str, profiles: list[str]) -> None:
    """Print what a crate lacks of each profile."""
    HTTPAdapter.send = LocalContext.send  # type: ignore[assignment, method-assign]
    found = {}
    for profile in profiles:
        settings = ValidationSettings(
            rocrate_uri=folder,
            profile_identifier=profile,
            requirement_severity=Severity.REQUIRED,
            no_cache=True,
        )
        issues = services.validate(settings).get_issues()
        found[profile] = sorted({f"{one.check.identifier}: {one.message}" for one in issues})
    sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

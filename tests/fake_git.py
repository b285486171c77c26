"""A stand-in for GitHub's Git data API: objects, and branches that only move forward."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = Any
Answer: TypeAlias = tuple[int, dict[str, str], Json]

MISSING: Answer = (404, {}, {"message": "Not Found"})
FOLDER = "040000"


@dataclass
class GitData:
    """The objects of a repository by their hashes, and its branches.

    A tree is a mapping of names to entries; ``writable`` says whether the token may write contents.
    """

    objects: dict[str, Json] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    writable: bool = True

    def answer(self, method: str, parts: list[str], body: Json) -> Answer:
        """Status, headers and JSON."""
        if method == "GET":
            return self._read(parts)
        if not self.writable:
            return 403, {}, {"message": "Resource not accessible by integration"}
        sha = ""
        match [method, *parts]:
            case ["POST", "blobs"]:
                sha = self._add(base64.b64decode(body["content"], validate=True))
            case ["POST", "trees"]:
                sha = self._make_tree(body)
            case ["POST", "commits"] if {body["tree"], *body["parents"]} <= self.objects.keys():
                sha = self._add({"commit": body})
            case ["POST", "refs"] if body["ref"] not in self.refs:
                self.refs[body["ref"]] = sha = body["sha"]
            case ["PATCH", "refs", *name] if not body["force"]:
                ref = "refs/" + "/".join(name)
                if ref in self.refs and self.is_after(body["sha"], self.refs[ref]):
                    self.refs[ref] = sha = body["sha"]
        return (201, {}, {"sha": sha}) if sha else (422, {}, {"message": "Validation Failed"})

    def is_after(self, sha: str, earlier: str) -> bool:
        """Whether a commit is an earlier one or follows it."""
        parents = self.objects[sha]["commit"]["parents"]
        return sha == earlier or any(self.is_after(one, earlier) for one in parents)

    def list_files(self, commit: str) -> dict[str, bytes]:
        """Every file of a commit by its path."""
        found: dict[str, bytes] = {}

        def walk(sha: str, path: str) -> None:
            for name, entry in self.objects[sha].items():
                if entry["mode"] == FOLDER:
                    walk(entry["sha"], f"{path}{name}/")
                else:
                    found[f"{path}{name}"] = self.objects[entry["sha"]]

        walk(self.objects[commit]["commit"]["tree"], "")
        return found

    def _add(self, value: Json) -> str:
        content = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
        sha = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        self.objects[sha] = value
        return sha

    def _read(self, parts: list[str]) -> Answer:
        match parts:
            case ["ref", *name] if "refs/" + "/".join(name) in self.refs:
                return 200, {}, {"object": {"sha": self.refs["refs/" + "/".join(name)]}}
            case ["commits", sha] if sha in self.objects:
                return 200, {}, {"tree": {"sha": self.objects[sha]["commit"]["tree"]}}
            case ["trees", sha] if sha in self.objects:
                listed = [{"path": name, "size": 1, **entry} for name, entry in self.objects[sha].items()]
                return 200, {}, {"tree": listed}
        return MISSING

    def _make_tree(self, body: Json) -> str:
        """A tree of entries in folders, upon another one if there is ``base_tree``; empty if it cannot be."""
        files: dict[str, Json] = dict(self.objects[body["base_tree"]]) if "base_tree" in body else {}
        below: dict[str, list[Json]] = {}
        for entry in body["tree"]:
            first, slash, rest = entry["path"].partition("/")
            if slash:
                below.setdefault(first, []).append(entry | {"path": rest})
                continue
            sha = self._add(entry["content"].encode()) if "content" in entry else entry["sha"]
            if sha not in self.objects or (entry["mode"] == FOLDER) != (entry["type"] == "tree"):
                return ""
            files[first] = {"mode": entry["mode"], "type": entry["type"], "sha": sha}
        for name, entries in below.items():
            base = {"base_tree": files[name]["sha"]} if name in files else {}
            sha = self._make_tree({"tree": entries} | base)
            files[name] = {"mode": FOLDER, "type": "tree", "sha": sha}
        return self._add(files)

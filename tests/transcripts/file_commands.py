"""Commands of a transcript on files: those of a shell that need no process, ``git``, and ``sed``.

``cat FILE``, ``ls FOLDER`` (all files below it), ``rm PATH``, ``cp PATH PATH``, ``mv PATH PATH``, ``mkdir
FOLDER``, ``ln TARGET LINK``, ``mkfifo FILE``, ``echo TEXT > FILE`` (or ``>> FILE``), and ``replace OLD NEW
FILE``. ``grep WORDS FILE`` prints the lines that have them. ``json FILE KEY.KEY`` prints a value, with the
key ``*`` one of each element; ``set FILE KEY.KEY VALUE`` changes it. ``diff FOLDER FOLDER`` names what
differs, and ``cmp FILE FILE`` whether they do. ``samples FIGURE PROBLEM …`` prints the texts of samples of
these problems, a line each, as the scripts beside a figure have them. For archives: ``zip``, ``unzip``,
``names``, and ``seal``, which writes the manifest anew.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import made_archives
from made_projects import files_below, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


def _list_files(root: Path, folder: str) -> str:
    found = sorted(path for path in (root / folder).rglob("*") if path.is_symlink() or not path.is_dir())
    links = {path: f" -> {path.readlink()}" for path in found if path.is_symlink()}
    return "".join(f"{path.relative_to(root).as_posix()}{links.get(path, '')}\n" for path in found)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)


def _link(root: Path, target: str, link: str) -> None:
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(target)


def _replace(root: Path, old: str, new: str, file: str) -> None:
    content, before = (root / file).read_bytes(), old.replace("\\n", "\n").encode()
    assert before in content, f"{file} has no {old}"
    write_file(root / file, content.replace(before, new.replace("\\n", "\n").encode()))


def _write(root: Path, text: str, mark: str, file: str) -> None:
    path = root / file
    before = path.read_text("utf-8") if mark == ">>" and path.exists() else ""
    write_file(path, before + text.replace("\\n", "\n") + "\n")


def _search(root: Path, words: str, file: str) -> str:
    lines = (root / file).read_text("utf-8").splitlines()
    return "".join(line.strip() + "\n" for line in lines if words in line)


def _print_value(root: Path, file: str, path: str) -> str:
    # A script that sets a variable is read, too.
    text = re.sub(r"^\w[\w.]* = (.*);\s*$", r"\1", (root / file).read_text("utf-8"), flags=re.DOTALL)
    first, each, rest = path.partition("*")
    value = _find_value(json.loads(text), filter(None, first.split(".")))
    if not each:
        return json.dumps(value, indent=1, ensure_ascii=False)
    found = (_find_value(one, filter(None, rest.split("."))) for one in value)
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found)


def _find_value(value: Any, keys: Iterable[str]) -> Any:  # noqa: ANN401 - of a JSON document
    for key in keys:
        value = value[int(key) if isinstance(value, list) else key]
    return value


def _set_value(root: Path, file: str, path: str, text: str) -> None:
    *keys, last = path.split(".")
    document = json.loads((root / file).read_text("utf-8"))
    place = _find_value(document, keys)
    place[int(last) if isinstance(place, list) else last] = json.loads(text)
    (root / file).write_text(json.dumps(document), "utf-8")


SAMPLE_FIELDS = ("series", "label", "score", "prompt", "expected", "response", "answer", "explanation")


def read_samples(figure: Path) -> dict[str, list[dict[str, Any]]]:
    """The texts of samples of each problem, as the scripts beside a figure have them."""
    found = {}
    for path in sorted(figure.parent.glob(f"{figure.name}.samples-*.js")):
        part = json.loads(path.read_text("utf-8").partition("]=")[2].removesuffix(";\n"))
        for problem, rows in part["problems"]:
            texts = [
                (*row[:3], *(None if at is None else part["texts"][at] for at in row[3:])) for row in rows
            ]
            found[problem] = [dict(zip(SAMPLE_FIELDS, row, strict=True)) for row in texts]
    return found


def _print_samples(root: Path, figure: str, *problems: str) -> str:
    found = read_samples(root / figure)
    rows = [row for problem in problems for row in found[problem]]
    lines = [{name: text for name, text in row.items() if text is not None} for row in rows]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _compare(one: Path, other: Path) -> str:
    first, second = files_below(one), files_below(other)
    lines = [f"only in {one.name}: {name}" for name in sorted(first.keys() - second.keys())]
    lines += [f"only in {other.name}: {name}" for name in sorted(second.keys() - first.keys())]
    lines += [f"differs: {name}" for name in first if name in second and first[name] != second[name]]
    return "".join(f"{line}\n" for line in lines)


def _edit(root: Path, *words: str) -> None:
    subprocess.run(["sed", *words], cwd=root, check=True)  # noqa: S607 - on PATH everywhere


def _unzip(path: Path, folder: Path) -> None:
    made_archives.unpack(path, folder)


def _seal(path: Path, folder: Path) -> None:
    made_archives.pack(folder, path)


# Commands all of whose words are paths, and others.
_PATHS: dict[str, Callable[..., object]] = {
    "cat": lambda path: path.read_text("utf-8"),
    "rm": _remove,
    "cp": _copy,
    "mv": _move,
    "mkdir": lambda path: path.mkdir(parents=True),
    "mkfifo": os.mkfifo,
    "cmp": lambda one, other: "" if one.read_bytes() == other.read_bytes() else "they differ\n",
    "diff": _compare,
    "zip": lambda path, folder: made_archives.zip_files(path, files_below(folder)),
    "unzip": _unzip,
    "names": made_archives.list_names,
    "seal": _seal,
}
_WORDS: dict[str, Callable[..., object]] = {
    "ls": _list_files,
    "ln": _link,
    "replace": _replace,
    "echo": _write,
    "grep": _search,
    "json": _print_value,
    "samples": _print_samples,
    "set": _set_value,
    "git": made_archives.git,
    "sed": _edit,
}


def run_file_command(root: Path, name: str, words: list[str]) -> str:
    """Run a command on files and return what it prints."""
    assert name in _PATHS or name in _WORDS, f"no such command in a transcript: {name} {words}"
    try:
        if name in _PATHS:
            return str(_PATHS[name](*(root / word for word in words)) or "")
        return str(_WORDS[name](root, *words) or "")
    except OSError as error:
        return f"{name}: {error.strerror}\n"

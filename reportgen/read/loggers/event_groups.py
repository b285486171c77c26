"""Which folders of event files ``add_scalars`` wrote: curves of one run, each in a folder of its own.

Source: torch/utils/tensorboard/writer.py of pytorch/pytorch and tensorboardX/writer.py of
lanpa/tensorboardX, both ``add_scalars(main_tag, {tag: value})``: below the run's folder, values go to
``MAIN_TAG_TAG`` (slashes of the main tag as ``_``) or ``MAIN_TAG/TAG``, in both under the tag ``MAIN_TAG``.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from reportgen.read.loggers.event_message import parse_event
from reportgen.read.loggers.protobuf import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_LENGTH: Final = Struct("<Q")
# A record is its length, the length's checksum, the message and its checksum.
_BEFORE, _BEHIND = 12, 4


def find_curve_folders(beginnings: Mapping[Path, Sequence[bytes]]) -> dict[Path, tuple[Path, str]]:
    """For folders that ``add_scalars`` wrote: the folder of their run, and the name of their curve.

    Args:
        beginnings: for each folder with event files, how each of these begins.
    """
    found: dict[Path, tuple[Path, str]] = {}
    # From the outside to the inside: no folder of a curve has curves.
    for folder, beginnings_here in sorted(beginnings.items(), key=lambda one: len(one[0].parts)):
        above = [parent for parent in folder.parents if parent in beginnings and parent not in found]
        tags = {tag for beginning in beginnings_here for tag in _read_tags(beginning)} if above else set()
        if len(tags) != 1:
            continue
        (tag,) = tags
        for parent in above:
            if name := _find_curve_name(folder.relative_to(parent).as_posix(), tag):
                found[folder] = (parent, name)
                break
    return found


def _find_curve_name(path: str, tag: str) -> str:
    """The name of the curve in a folder with values of one tag; empty where ``add_scalars`` made it not."""
    for start in (f"{tag}/", f"{tag.replace('/', '_')}_"):
        if tag and path.startswith(start) and (start.endswith("/") or "/" not in path):
            return path.removeprefix(start)
    return ""


def _read_tags(beginning: bytes) -> Iterator[str]:
    """The tags of the scalars whose records are whole in the beginning of an event file."""
    at = 0
    while at + _BEFORE < len(beginning):
        (length,) = _LENGTH.unpack_from(beginning, at)
        start, at = at + _BEFORE, at + _BEFORE + length + _BEHIND
        if at > len(beginning):
            return
        try:
            parsed = parse_event(memoryview(beginning)[start : start + length])
        except MalformedError:
            return
        yield from (scalar.tag.decode("utf-8", "replace") for scalar in parsed.scalars)

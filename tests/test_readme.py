"""The README shows what one gets, and its commands are there."""

from __future__ import annotations

import re
from pathlib import Path

from take_screenshots import MOST_BYTES, ROOT, SCHEMES, SHOWN, readme_picture

README = (ROOT / "README.md").read_text("utf-8")


def test_its_pictures_are_there_and_small() -> None:
    """Two pages in both schemes, described for who does not see them; ``make screenshots`` takes them."""
    files = [readme_picture(name, scheme) for name in SHOWN for scheme in SCHEMES]
    shown = re.findall(r'(?:srcset|src)="([^"]+)"', README)
    assert sorted(shown) == sorted(file.relative_to(ROOT).as_posix() for file in files)
    assert sum(file.stat().st_size for file in files) <= MOST_BYTES
    assert all(file.read_bytes()[8:12] == b"WEBP" for file in files)
    assert len(re.findall(r'<img alt="[^"]{40,}"', README)) == len(SHOWN)


def test_its_links_and_make_targets_exist() -> None:
    """Nothing in it leads nowhere."""
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
    assert links
    assert [link for link in links if not Path(ROOT, link).exists()] == []
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"make (\w+)", README))
    assert {"site", "test"} <= targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []

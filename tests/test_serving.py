"""``serve`` answers this machine and nobody else, with the policy of a built site."""

from __future__ import annotations

import http.client
import re
import socket
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from command_line import MKDOCS, REPORTGEN, run, serving
from made_projects import SETTINGS, write_report
from tries import slow_after

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.fixture(scope="module", params=slow_after(1, [REPORTGEN, MKDOCS]), ids=["reportgen", "mkdocs"])
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A small report, served."""
    folder = write_report(tmp_path_factory.mktemp("served") / "report")
    (folder / "content" / "idea.md").write_text(
        "---\ndraft: true\n---\n\n```curve\nsource: runs\n```\n\nMEL ends at 0.82, X at 0.61. And 0.777.\n",
        "utf-8",
    )
    with (folder / "data" / "runs.csv").open("a", encoding="utf-8") as runs:
        runs.write("X<b>,1,0,0.1\nX<b>,1,10,0.61\n")
    with serving(folder, free_port(), *request.param) as port:
        yield port


def get(port: int, path: str, host: str | None = None) -> tuple[int, dict[str, str], str]:
    """Ask for a path by a name; status, headers and text of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers={"Host": host} if host is not None else {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.getheaders()), text


def test_own_names_are_answered(port: int) -> None:
    """Loopback names, and addresses: no other site's page can make its own name one of them."""
    names = (
        "127.0.0.1",
        f"127.0.0.1:{port}",
        f"localhost:{port}",
        "LocalHost",
        f"[::1]:{port}",
        "192.168.1.7",
    )
    for host in names:
        status, _, text = get(port, "/", host)
        assert (status, "<title>" in text) == (200, True), host


def test_drafts_are_shown_whole(port: int) -> None:
    """With their figures, which the draft of the report made."""
    assert '<figure class="rg-figure' in get(port, "/idea/")[2]


def test_numbers_that_nobody_bound_are_listed_on_their_page(port: int) -> None:
    """With the binding to paste, escaped, under the policy; a page without such numbers has no list."""
    _, headers, text = get(port, "/idea/index.html")
    listed = text[text.index('<details id="rg-numbers"') :]
    assert "3 of 3 numbers on this page are not bound" in listed
    assert "Line 9: 0.82 may be final(MEL)" in listed
    assert re.search(r"<code>\[0\.82\]\{value=&#34;final\(MEL\)&#34;.*?\}</code>", listed)
    assert "final(&#39;X&lt;b&gt;&#39;)" in listed
    assert "no fact of the page's data: 1" in listed
    assert "; style-src 'self' 'sha256-" in headers["Content-Security-Policy"]
    assert "rg-numbers" not in get(port, "/")[2]


def test_other_names_are_refused(port: int) -> None:
    """A page of another site whose name was made to lead here reads nothing here."""
    names = ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example")
    for host in (*names, "[x", "a@b"):
        for path in ("/", "/report.json", "/livereload/0/0"):
            status, _, text = get(port, path, host)
            assert (status, "--dev-addr" in text, "<title>" in text) == (403, True, False), (host, path)


def test_paths_that_no_file_has_are_not_there(port: int) -> None:
    """An answer of 404, not a fault of the server."""
    paths = ("/%00", "/a%00.html", "/index.html%00.png", "/%00/", "/..%2f..%2fmkdocs.yml", "/" + "a" * 5000)
    assert {get(port, path)[0] for path in paths} == {404}


def test_pages_have_the_policy_with_the_live_reload(port: int) -> None:
    """Scripts of the site and that one script in the page; nothing else in it may run."""
    _, headers, text = get(port, "/")
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'; ")
    assert re.search(r"; script-src 'self' 'sha256-[A-Za-z0-9+/]{43}='$", policy)
    assert "unsafe" not in policy
    assert "livereload(" in text
    _, headers, _ = get(port, "/report.json")
    assert "Content-Security-Policy" not in headers


@pytest.mark.slow
def test_an_address_without_a_page_shows_why_there_is_none(tmp_path: Path) -> None:
    """Where a build failed after MkDocs emptied the folder, every page is one that loads itself again."""
    folder = write_report(tmp_path / "report")
    with serving(folder, free_port(), *REPORTGEN) as port:
        assert get(port, "/new/")[0] == 404
        (folder / "content/new.md").write_text("# New\n\n```curv\n```\n", "utf-8")
        for _ in range(100):
            status, headers, text = get(port, "/new/")
            if "curv" in text:
                break
            time.sleep(0.2)
        assert status == 404
        assert '<meta http-equiv="refresh" content="2">' in text
        assert "there is no block called" in text
        assert re.search(
            r"; style-src 'self' 'sha256-[A-Za-z0-9+/]{43}='$", headers["Content-Security-Policy"]
        )


@pytest.mark.slow
@pytest.mark.parametrize("command", [REPORTGEN, MKDOCS], ids=["reportgen", "mkdocs"])
def test_problems_are_printed_once(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Each with its severity, when a page is broken while it is served."""
    folder, log = write_report(tmp_path / "report"), tmp_path / "log"
    words = [*command, "serve", "--dev-addr", f"127.0.0.1:{free_port()}"]
    with log.open("w") as said, subprocess.Popen(words, cwd=folder, stdout=said, stderr=said) as process:
        wait_for(log, "Serving on")
        (folder / "content/index.md").write_text(
            "# New\n\n```curve\nsource: nowhere\n```\n", encoding="utf-8"
        )
        wait_for(log, '"nowhere"')
        wait_for(log, "Reloading browsers")
        process.terminate()
    text = log.read_text(encoding="utf-8")
    assert text.count('content/index.md:3: error: there is no source "nowhere"') == 1
    assert text.count('"nowhere"') == 1


@pytest.mark.slow
def test_mistakes_in_the_settings_are_shown_with_their_line(tmp_path: Path) -> None:
    """On the page and, once, where it is served: MkDocs says only that it stopped."""
    folder, log, port = write_report(tmp_path / "report"), tmp_path / "log", free_port()
    words = [*REPORTGEN, "serve", "--dev-addr", f"127.0.0.1:{port}"]
    with log.open("w") as said, subprocess.Popen(words, cwd=folder, stdout=said, stderr=said) as process:
        wait_for(log, "Serving on")
        settings = SETTINGS.replace("[reportgen]", "[reportgen: {colours: {a: grey}}]")
        (folder / "mkdocs.yml").write_text(settings, "utf-8")
        wait_for(log, "is no colour of the palette")
        wait_for(log, "Reloading browsers")
        page = get(port, "/")[2]
        process.terminate()
    line = settings[: settings.index("grey")].count("\n") + 1
    assert re.search(rf"<code>mkdocs.yml:{line}:\d+</code>\s*.{{1,10}}grey", page)
    assert "Aborted" not in page
    assert log.read_text(encoding="utf-8").count("is no colour of the palette") == 1


@pytest.mark.slow
def test_problems_of_the_first_build_are_printed_once(tmp_path: Path) -> None:
    """There is no site to serve then."""
    page = "# New\n\n```curve\nsource: nowhere\n```\n"
    done = run(write_report(tmp_path / "report", {"content/index.md": page}), "serve")
    assert done.returncode == 1
    assert (done.stdout + done.stderr).count('"nowhere"') == 1


def wait_for(log: Path, words: str) -> None:
    """Wait until a log has these words."""
    end = time.monotonic() + 60
    while words not in log.read_text(encoding="utf-8"):
        assert time.monotonic() < end, log.read_text(encoding="utf-8")
        time.sleep(0.1)

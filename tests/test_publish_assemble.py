"""Publishing: main, versions and previews in one folder that follows from them alone, faults and all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_archives import REPORT, archive, commit, invoke, unpack
from made_projects import RUNS, files_below, share_cache, write_file, write_report
from made_sites import make_site, pack_archive, pack_site, write_site
from test_archive_hostile import list_hostile
from tries import tries

from reportgen.archive.publishing import assembling, sites
from reportgen.archive.publishing.assembling import Inputs, assemble
from reportgen.archive.publishing.pages import Places, insert_into_head
from reportgen.archive.publishing.sites import Given

if TYPE_CHECKING:
    from collections.abc import Sequence


def publish(folder: Path, *options: object, main: str = "main") -> tuple[int, str]:
    """Assemble a folder's ``main`` and what is in it into its ``public``."""
    words = ["publish", "assemble", "--main", folder / main, "--to", folder / "public"]
    return invoke(*words, *options)


def version(folder: Path, name: str, **site: Any) -> str:  # noqa: ANN401 - as make_site takes them
    """An option that names an archive of a site."""
    return f"--version={name}={pack_archive(folder / f'{name}.zip', make_site(**site))}"


def preview(folder: Path, number: int, **site: Any) -> str:  # noqa: ANN401 - as make_site takes them
    """An option that names a pull request's packed site, which is of another commit."""
    content = make_site(**({"commit": "b" * 40, "date": "2026-11-21"} | site))
    return f"--preview={number}={pack_site(folder / f'{number}.zip', content)}"


def read_record(folder: Path) -> dict[str, Any]:
    """What publish.json says."""
    record: dict[str, Any] = json.loads((folder / "public" / "publish.json").read_bytes())
    return record


def left_out(folder: Path) -> dict[str, str]:
    """What was left out, with its reason."""
    return {one["name"]: one["reason"] for one in read_record(folder)["left_out"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small site in ``main``."""
    write_site(tmp_path / "main", make_site())
    return tmp_path


# ---- real reports


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report's site in ``main``, its archive as ``1.0.zip``, and a changed one's site as ``12.zip``."""
    folder = tmp_path_factory.mktemp("real")
    report = commit(write_report(folder / "report", REPORT))
    shutil.move(archive(report, "1.zip", "--site"), folder / "1.0.zip")
    # As the build leaves them: links to files of the cache.
    (report / "site").rename(folder / "main")
    changed = {
        "data/other.csv": RUNS.replace("0.84", "0.90"),
        "content/new.md": "# New\n\nSee [](other.md).\n",
    }
    other = write_report(folder / "changed", REPORT | changed)
    share_cache(report, other)
    assert invoke("build", "--config-file", commit(other) / "mkdocs.yml")[0] == 0
    pack_site(folder / "12.zip", files_below(other / "site"))
    options = (f"--version=1.0={folder / '1.0.zip'}", f"--preview=12={folder / '12.zip'}")
    assert publish(folder, *options)[0] == 0
    return folder


def test_a_version_has_the_bytes_of_its_release(real: Path, tmp_path: Path) -> None:
    """What the archive has in site/ is at /v/1.0/, whatever main is; verify names the same identity."""
    unpacked = unpack(real / "1.0.zip", tmp_path)
    assert files_below(real / "public/v/1.0") == files_below(unpacked / "site")
    (one,) = read_record(real)["versions"]
    assert one["identity"] in invoke("verify", real / "1.0.zip", "--level", "intact")[1]


def test_pages_of_main_gain_only_the_sign_that_there_are_versions(real: Path) -> None:
    """Everything else of main is copied byte for byte."""
    main, public = files_below(real / "main"), files_below(real / "public")
    for path, content in main.items():
        if path.endswith(".html"):
            assert public[path] == content.replace(b"</head>", b'<meta name="reportgen-versions">\n</head>')
        elif not path.startswith("sitemap.xml"):
            assert public[path] == content


def test_nothing_that_is_published_is_a_link(real: Path) -> None:
    """A build links unchanged files, GitHub Pages refuses links: each file is one of its own."""
    assert any(path.stat().st_nlink > 1 for path in (real / "main").rglob("*") if path.is_file())
    for path in (real / "public").rglob("*"):
        assert not path.is_symlink()
        assert path.is_dir() or path.stat().st_nlink == 1


def test_a_preview_has_what_differs_and_leads_to_main(real: Path) -> None:
    """Commit, date and list of pages differ on every page; only those whose text or figures do are there."""
    public = real / "public"
    assert set(files_below(public / "pr/12")) == {
        *("index.html", "new/index.html", "other/index.html", "assets/reportgen/preview.css"),
        *(f"figures/other/other-accuracy.{end}" for end in ("svg", "csv", "vl.json", "pdf")),
    }
    (one,) = read_record(real)["previews"]
    assert one["changed"] == ["new/", "other/"]
    page = (public / "pr/12/other/index.html").read_text("utf-8")
    for address in (
        'src="../../../js/theme.js"',
        'href="../figures/other/other-accuracy.csv"',
        'href="../new/"',
    ):
        assert address in page
    home = (public / "pr/12/index.html").read_text("utf-8")
    assert 'href="../../figures/index/accuracy.csv"' in home


# ---- what is where


def test_what_is_where(folder: Path) -> None:
    """publish.json names each place with its commit and hashes, which sha256sum also finds."""
    code, said = publish(folder, version(folder, "1.0"), preview(folder, 7, texts={"a/": "<h1>Other</h1>"}))
    assert (code, said.count("\n")) == (0, 1)
    assert "the report, 1 version (1.0) and 1 preview (#7)" in said
    record = read_record(folder)
    assert record["main"]["commit"] == "a" * 40
    assert record["previews"][0]["commit"] == "b" * 40
    for one in (*record["versions"], *record["previews"]):
        files = files_below(folder / "public" / one["path"])
        lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())]
        assert one["tree"] == hashlib.sha256("".join(lines).encode()).hexdigest()
        assert (one["files"], one["bytes"]) == (len(files), sum(map(len, files.values())))
    assert (folder / "public/.nojekyll").read_bytes() == b""
    assert read_record(folder)["left_out"] == []


def test_the_list_of_versions_is_that_of_mike(folder: Path) -> None:
    """Newest first, in the order of versions; the newest that is no prerelease is the latest."""
    names = ("v1.9", "1.10", "2.0rc1", "camera-ready", "1.0")
    assert publish(folder, *(version(folder, name) for name in names))[0] == 0
    listed = json.loads((folder / "public/versions.json").read_bytes())
    assert [one["version"] for one in listed] == ["2.0rc1", "1.10", "v1.9", "1.0", "camera-ready"]
    assert [one["aliases"] for one in listed] == [[], ["latest"], [], [], []]
    assert all(one["title"] == one["version"] and len(one) == 3 for one in listed)
    script = (folder / "public/versions.js").read_text("utf-8")
    assert json.loads(script.removeprefix("globalThis.reportgenVersions = ").removesuffix(";\n")) == listed


def test_without_versions_main_is_as_it_was(folder: Path) -> None:
    """No page is changed, and the menu finds an empty list."""
    assert publish(folder)[0] == 0
    main, public = files_below(folder / "main"), files_below(folder / "public")
    assert {path: public[path] for path in main if path != "sitemap.xml"} == {
        path: content for path, content in main.items() if path != "sitemap.xml"
    }
    assert set(public) - set(main) == {
        *(".nojekyll", "publish.json", "robots.txt", "versions.js", "versions.json")
    }
    # That of main was for another place, and nobody says which one this is.
    assert "sitemap.xml" not in public
    assert json.loads(public["versions.json"]) == []


@pytest.mark.parametrize(
    ("given_url", "base", "path"),
    [
        ("https://lab.github.io/report", "https://lab.github.io/report/", "/report/"),
        ("https://lab.github.io/report/", "https://lab.github.io/report/", "/report/"),
        ("https://lab.github.io", "https://lab.github.io/", "/"),
        ("https://results.example.org", "https://results.example.org/", "/"),
        ("https://lab.github.io/my report/", "https://lab.github.io/my%20report/", "/my%20report/"),
        ("https://lab.github.io/my%20report/", "https://lab.github.io/my%20report/", "/my%20report/"),
    ],
)
def test_addresses_of_project_user_and_custom_sites(
    folder: Path, given_url: str, base: str, path: str
) -> None:
    """The sitemap has the pages of main and of versions, and robots stay out of previews."""
    assert publish(folder, version(folder, "1.0"), "--base-url", given_url)[0] == 0
    sitemap = (folder / "public/sitemap.xml").read_text("utf-8")
    pages = [f"{start}{page}" for start in ("", "v/1.0/") for page in ("a/", "b/", "")]
    assert sitemap.count("<loc>") == len(pages)
    assert all(f"<loc>{base}{page}</loc>" in sitemap for page in pages)
    robots = f"User-agent: *\nDisallow: {path}pr/\n\nSitemap: {base}sitemap.xml\n"
    assert (folder / "public/robots.txt").read_text("utf-8") == robots


def test_the_address_that_main_was_built_for_counts(folder: Path) -> None:
    """Without --base-url it is that of the first page."""
    page = folder / "main/index.html"
    link = '<link rel="canonical" href="https://lab.github.io/report/">'
    page.write_text(insert_into_head(page.read_text("utf-8"), link), "utf-8")
    assert publish(folder)[0] == 0
    assert read_record(folder)["base_url"] == "https://lab.github.io/report/"
    code, said = publish(folder, "--base-url=https://other.github.io/report/")
    assert code == 0
    assert 'index.html: "https://lab.github.io/report/" leads out of https://other.github.io/report/' in said


@pytest.mark.parametrize(
    "address", ["lab.github.io/report", "ftp://lab.org/", "https://", "https://x.org/?a=b"]
)
def test_an_address_that_is_none(folder: Path, address: str) -> None:
    """It is a wrong call."""
    code, said = publish(folder, "--base-url", address)
    assert code == 2
    assert "is not an address such as" in said


def test_addresses_that_leave_the_site_are_named(folder: Path) -> None:
    """One that begins at the host's root leads nowhere in a project's site."""
    write_file(folder / "main/404.html", '<html><head></head><body><a href="/css/x.css">x</a></body></html>')
    code, said = publish(folder, "--base-url=https://lab.github.io/report/")
    assert code == 0
    assert 'warning: 404.html: "/css/x.css" leads out of https://lab.github.io/report/' in said
    assert "site_url" in said
    assert "warning" not in publish(folder, "--base-url=https://lab.github.io/")[1]


def test_robots_of_the_author_stay(folder: Path) -> None:
    """What is added stands behind it."""
    write_file(folder / "main/robots.txt", "User-agent: greedy\nDisallow: /\n")
    assert publish(folder)[0] == 0
    text = (folder / "public/robots.txt").read_text("utf-8")
    assert text == "User-agent: greedy\nDisallow: /\n\nUser-agent: *\nDisallow: /pr/\n"


def test_a_domain_and_a_page_for_wrong_addresses_are_only_at_the_root(folder: Path) -> None:
    """GitHub reads CNAME and 404.html there alone; a version stays as it was otherwise."""
    write_file(folder / "main/CNAME", "results.example.org\n")
    other = {"CNAME": "other.example.org\n", "css/theme.css": "other"}
    options = (version(folder, "1.0", files=other), preview(folder, 3, files=other))
    code, said = publish(folder, *options, "--base-url=https://results.example.org/")
    assert (code, "warning" in said) == (0, False)
    public = files_below(folder / "public")
    assert [path for path in public if path.endswith("CNAME")] == ["CNAME"]
    assert [path for path in public if path.endswith("404.html")] == ["404.html", "v/1.0/404.html"]
    assert "CNAME: it says results.example.org" in publish(folder, "--base-url=https://lab.github.io/r/")[1]


# ---- previews


def test_a_preview_says_so_and_is_not_searched(folder: Path) -> None:
    """Each page names the pull request and leads back, within the page's own policy."""
    assert publish(folder, preview(folder, 12, texts={"a/": "<h1>New</h1>", "c/": "C", "b/": None}))[0] == 0
    for path, content in files_below(folder / "public/pr/12").items():
        if path.endswith(".html"):
            html = content.decode()
            assert '<meta name="robots" content="noindex">\n' in html.partition("</head>")[0]
            assert 'assets/reportgen/preview.css">' in html.partition("</head>")[0]
            assert html.count("Preview of pull request #12") == 1
            assert "style=" not in html
            assert html.index("Skip to content") < html.index("rg-preview")
    home = (folder / "public/pr/12/index.html").read_text("utf-8")
    assert '<a href="a/">A</a>' in home
    assert "<del>b/index.html</del>" in home
    assert '<a href="../../../a/">This page as published</a>' in (
        folder / "public/pr/12/a/index.html"
    ).read_text("utf-8")
    assert "as published" not in (folder / "public/pr/12/c/index.html").read_text("utf-8")


def test_a_picture_that_changed_changes_its_page(folder: Path) -> None:
    """A page whose text is as before is there if what it shows is another file."""
    assert publish(folder, preview(folder, 1, files={"figures/a/curve.svg": "<svg/>"}))[0] == 0
    (one,) = read_record(folder)["previews"]
    assert one["changed"] == ["a/"]
    assert 'src="../figures/a/curve.svg"' in (folder / "public/pr/1/a/index.html").read_text("utf-8")


def test_a_preview_without_a_difference_still_has_its_address(folder: Path) -> None:
    """The first page says that nothing differs."""
    assert publish(folder, preview(folder, 1))[0] == 0
    assert set(files_below(folder / "public/pr/1")) == {"index.html", "assets/reportgen/preview.css"}
    assert "0 pages differ" in (folder / "public/pr/1/index.html").read_text("utf-8")


@pytest.mark.parametrize("files", [{"css/theme.css": "other"}, {"js/more.js": "other"}])
def test_a_preview_with_another_theme_is_whole(folder: Path, files: dict[str, str]) -> None:
    """Scripts load each other, and what they load is next to them."""
    assert publish(folder, preview(folder, 1, files=files))[0] == 0
    made = set(files_below(folder / "public/pr/1"))
    assert {"a/index.html", "b/index.html", "css/theme.css", "js/theme.js", "report.json"} <= made
    assert 'src="../js/theme.js"' in (folder / "public/pr/1/a/index.html").read_text("utf-8")


def test_a_preview_of_a_folder_is_that_of_its_zip_file(folder: Path) -> None:
    """Also of a zip file that lists folders themselves, as other programs write it."""
    site = make_site({"a/": "Other"}, commit="b" * 40)
    packed = pack_site(folder / "1.zip", {"a/": b"", **site})
    assert publish(folder, f"--preview=1={packed}")[0] == 0
    first = files_below(folder / "public")
    assert publish(folder, f"--preview=1={write_site(folder / 'one', site)}")[0] == 0
    assert files_below(folder / "public") == first


def test_a_page_that_loads_nothing_gets_no_style_sheet(folder: Path) -> None:
    """Its policy would refuse it, and the words are enough."""
    html = (
        '<html><head><meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src'
        " 'sha256-x'\"></head><body>R</body></html>"
    )
    assert publish(folder, preview(folder, 1, files={"review.html": html}))[0] == 0
    made = (folder / "public/pr/1/review.html").read_text("utf-8")
    assert "preview.css" not in made
    assert "Preview of pull request #1" in made


def test_of_many_previews_the_newest_pull_requests_stay(folder: Path) -> None:
    """A broken one takes nobody's place."""
    options = [preview(folder, number) for number in range(1, 29)]
    (folder / "28.zip").write_bytes(b"no zip")
    code, said = publish(folder, *options)
    assert code == 0
    assert [one["number"] for one in read_record(folder)["previews"]] == [*range(27, 2, -1)]
    assert "preview 2: left out: 25 pull requests with higher numbers have previews" in said
    assert "not" in left_out(folder)["28"]


def test_a_large_preview_is_left_out(folder: Path) -> None:
    """What differs may have 30 MB; a file that main has as well does not count."""
    large = os.urandom(29_000_000)
    write_file(folder / "main/data.bin", large)
    assert publish(folder, preview(folder, 1, files={"data.bin": large, "b.bin": b"0" * 2_000_000}))[0] == 0
    assert left_out(folder) == {}
    code, _ = publish(folder, preview(folder, 1, files={"data.bin": large[::-1], "b.bin": b"0" * 2_000_000}))
    assert code == 0
    assert "more than 30 MB" in left_out(folder)["1"]
    assert not (folder / "public/pr").exists()


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"report.json": None}, "there is no report.json"),
        ({"index.html": None}, "there is no index.html"),
        ({"report.json": "{}"}, "reportgen did not write it"),
        ({"report.json": "[" * 100_000}, "reportgen did not write it"),
        ({"../evil": "x"}, "a name that leads elsewhere"),
    ],
)
def test_a_preview_that_is_no_site_is_left_out(folder: Path, files: dict[str, str], reason: str) -> None:
    """The reason is named, and the others are published."""
    code, said = publish(folder, preview(folder, 1, files=files), preview(folder, 2))
    assert code == 0
    assert "warning: preview 1: left out: 1.zip" in said
    assert reason in left_out(folder)["1"]
    assert (folder / "public/pr/2/index.html").is_file()


def test_two_previews_of_one_pull_request_are_left_out(folder: Path) -> None:
    """Nobody can say which one counts."""
    first = preview(folder, 1)
    code, _ = publish(folder, first, first, preview(folder, 2))
    assert code == 0
    assert left_out(folder) == {"1": "it is given more than once"}


def test_links_in_folders_are_left_out(folder: Path) -> None:
    """Nothing outside a folder that is given is ever published."""
    site = write_site(folder / "site", make_site())
    (site / "passwords").symlink_to("/etc/passwd")
    pack_archive(folder / "1.zip", make_site())
    unpacked = unpack(folder / "1.zip", folder / "unpacked")
    (unpacked / "site/passwords").symlink_to("/etc/passwd")
    code, _ = publish(folder, f"--preview=1={site}", f"--version=1.0={unpacked}")
    assert code == 0
    assert left_out(folder) == {
        "1.0": "site/passwords: this is a link, or no file. Put a copy of what it leads to in its place.",
        "1": "passwords: this is a link, or no file. Put a copy of what it leads to in its place.",
    }


# ---- versions


@pytest.mark.parametrize(
    "name",
    ["latest", "Latest", "../x", "..", "1.0 beta", "x" * 300, "", "release/1.0", ".hidden", "1.0.", "ü"],
)
def test_a_name_that_cannot_be_a_folder_is_left_out(folder: Path, name: str) -> None:
    """Tags may be called anything; the other versions are published."""
    path = pack_archive(folder / "one.zip", make_site())
    code, said = publish(folder, f"--version={name}={path}", f"--version=1.0={path}")
    assert code == 0
    assert f"warning: version {name}: left out: " in said
    assert [*left_out(folder)] == [name]
    assert sorted(os.listdir(folder / "public/v")) == ["1.0"]  # noqa: PTH208 - names


def test_names_that_are_given_twice(folder: Path) -> None:
    """Nobody can say which one counts; of names that differ in case only the first stays."""
    options = [version(folder, name) for name in ("1.0", "v2", "V2", "3.0")]
    code, _ = publish(folder, *options, version(folder, "1.0", commit="c" * 40))
    assert code == 0
    assert left_out(folder) == {
        "1.0": "it is given more than once",
        "v2": "on some systems its name is the same as V2",
    }
    assert [one["version"] for one in read_record(folder)["versions"]] == ["3.0", "V2"]


def test_an_archive_that_was_changed_is_left_out(folder: Path) -> None:
    """One flipped bit, one missing end, one file more, and what is no archive of ours at all."""
    good = pack_archive(folder / "good.zip", make_site()).read_bytes()
    (folder / "cut.zip").write_bytes(good[:-100])
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    (folder / "flipped.zip").write_bytes(flipped)
    pack_archive(folder / "edited.zip", make_site(), **{"site/index.html": b"<p>Edited</p>"})
    pack_archive(folder / "more.zip", make_site(), **{"site/more.html": b"<p>More</p>"})
    pack_archive(folder / "outside.zip", make_site(), **{"../../evil": b"x"})
    pack_site(folder / "foreign.zip", {"index.html": b"x"})
    pack_archive(folder / "siteless.zip", {})
    pack_archive(folder / "theirs.zip", make_site(files={"report.json": "{}"}))
    names = ("cut", "flipped", "edited", "more", "outside", "foreign", "siteless", "theirs", "good")
    code, said = publish(folder, *(f"--version={name}={folder / f'{name}.zip'}" for name in names))
    assert code == 0
    assert said.count("warning: version ") == 8
    assert [one["version"] for one in read_record(folder)["versions"]] == ["good"]
    reasons = left_out(folder)
    assert "no whole zip file" in reasons["cut"]
    assert reasons["edited"] == "edited.zip: site/index.html: changed."
    assert reasons["more"] == "more.zip: site/more.html: not in the manifest."
    assert "a name that leads elsewhere" in reasons["outside"]
    assert "no archive of a report" in reasons["foreign"]
    assert "--site" in reasons["siteless"]
    assert "reportgen did not write it" in reasons["theirs"]
    assert not (folder.parent / "evil").exists()


def test_a_hundred_hostile_archives(folder: Path) -> None:
    """None is published, as a version or as a preview, nothing is written elsewhere, and main is there."""
    zips = folder / "zips"
    zips.mkdir()
    paths = list(list_hostile(zips))
    options = [f"--version=1.{number}={path}" for number, path in enumerate(paths)]
    options += [f"--preview={number}={path}" for number, path in enumerate(paths, 1)]
    code, said = publish(folder, *options)
    assert code == 0
    assert said.count("left out: ") == 2 * len(paths) >= 200
    assert sorted(path.name for path in folder.iterdir()) == ["main", "public", "zips"]
    assert not {"v", "pr"} & {path.name for path in (folder / "public").iterdir()}
    assert not (folder.parent / "evil").exists()


def test_five_hundred_versions(folder: Path) -> None:
    """They are all there, and in order."""
    one = pack_archive(folder / "one.zip", make_site())
    assert publish(folder, *(f"--version=1.{number}={one}" for number in range(500)))[0] == 0
    listed = json.loads((folder / "public/versions.json").read_bytes())
    assert [entry["version"] for entry in listed] == [f"1.{number}" for number in range(499, -1, -1)]


# ---- main


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"report.json": None}, "there is no report.json, so it is no site that reportgen built"),
        ({"index.html": None}, "there is no index.html"),
        ({"report.json": '{"generator": 1}'}, "reportgen did not write it"),
        ({"v/index.html": "x"}, "v/index.html: error: versions, previews"),
        ({"PR/index.html": "x"}, "PR/index.html: error: versions, previews"),
        ({"versions.json": "[]", "publish.json": "{}"}, "2 problems; nothing was published"),
    ],
)
def test_a_main_that_cannot_be_published(folder: Path, files: dict[str, str], message: str) -> None:
    """It is refused with a sentence, and what is published stays."""
    assert publish(folder)[0] == 0
    before = files_below(folder / "public")
    shutil.rmtree(folder / "main")
    write_site(folder / "main", make_site(files=files))
    code, said = publish(folder)
    assert code == 1
    assert message in said
    assert "nothing was published" in said
    assert files_below(folder / "public") == before


def test_links_in_main_are_refused_all_at_once(folder: Path) -> None:
    """GitHub Pages takes none."""
    (folder / "main/one").symlink_to("/etc/passwd")
    (folder / "main/two").symlink_to(".")
    os.mkfifo(folder / "main/three")
    code, said = publish(folder)
    assert code == 1
    assert "3 problems" in said
    assert not (folder / "public").exists()


def test_names_that_differ_only_in_case_are_named(folder: Path) -> None:
    """GitHub Pages tells them apart, some disks do not."""
    write_file(folder / "main/A/index.html", "<html></html>")
    code, said = publish(folder)
    assert code == 0
    assert "on some systems this is the same name as" in said


def test_a_site_that_is_too_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 10 GB is refused before anything is written, and one that GitHub Pages may refuse is named."""
    with (folder / "main/large.bin").open("wb") as file:
        file.truncate(10_000_000_001)
    code, said = publish(folder)
    assert code == 1
    assert "larger than 10 GB" in said
    (folder / "main/large.bin").unlink()
    monkeypatch.setattr(assembling, "LARGE", 1000)
    code, said = publish(folder)
    assert code == 0
    assert "GitHub Pages takes 1 GB" in said


def test_a_folder_with_something_else_is_refused(folder: Path) -> None:
    """Only what reportgen published is ever replaced, and nothing is published into itself."""
    write_file(folder / "public/thesis.tex", "x")
    assert "did not write when it last ran here: thesis.tex" in publish(folder)[1]
    write_file(folder / "public/publish.json", '{"generator": {"name": "other"}}')
    assert publish(folder)[0] == 1
    assert (folder / "public/thesis.tex").read_text("utf-8") == "x"
    for place in ("main", "main/public", "."):
        code, said = invoke("publish", "assemble", "--main", folder / "main", "--to", folder / place)
        assert code == 1
        assert "choose a folder of its own" in said.lower()
    assert files_below(folder / "main") == make_site()


def test_what_is_published_stays_until_the_next_is_complete(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk in the middle leaves the old site, and nothing beside it."""
    assert publish(folder)[0] == 0
    before = files_below(folder / "public")

    def fill(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sites.Tree, "copy", fill)
    code, said = publish(folder, version(folder, "1.0"))
    assert code == 1
    assert "No space left on device" in said
    assert files_below(folder / "public") == before
    assert not [path for path in folder.iterdir() if path.name.startswith(".public")]


@pytest.mark.parametrize(
    "option",
    ["--version=1.0", "--version=1.0=nowhere.zip", "--preview=x=main", "--preview=0=main", "--preview=7="],
)
def test_a_wrong_option(folder: Path, option: str) -> None:
    """It is a wrong call."""
    assert publish(folder, option)[0] == 2


# ---- addresses


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("../b/", "../../../b/"),
        ("../b/#state", "../../../b/#state"),
        ("../b", "../../../b"),
        ("..", "../../../"),
        ("../?q=1", "../../../?q=1"),
        ("./", "./"),
        ("../own/", "../own/"),
        ("#here", "#here"),
        ("", ""),
        ("/b/", "/b/"),
        ("https://x.org/b/", "https://x.org/b/"),
        ("//x.org/b/", "//x.org/b/"),
        ("mailto:a@b", "mailto:a@b"),
        ("../../b/", "../../b/"),
        ("../my%20page.html", "../../../my%20page.html"),
        ("../nowhere/", "../nowhere/"),
        ("http://[", "http://["),
    ],
)
def test_where_an_address_leads_in_a_preview(address: str, found: str) -> None:
    """What only main has is found there, and all else is left as it is written."""
    places = Places(
        frozenset(("a/index.html", "own/index.html")),
        frozenset(("index.html", "a/index.html", "b/index.html", "my page.html")),
    )
    assert places.find(address, "a/index.html") == found


def test_all_that_loads_is_led_to_main() -> None:
    """Also candidates of pictures, and the folder of scripts that an inline one loads; quotes stay quoted."""
    files = frozenset(("js/theme.js", "one.png", "two.png", "own/index.html"))
    html = (
        "<script data-js='js/'>if (a < b) '<a href=\"one.png\">'</script><img alt='a > b' SRC=one.png"
        ' srcset="one.png 1x, two.png 2x"><a title="one.png"><!-- <a href="one.png"> --></a>'
        "<a href='one.png#&quot;onclick=&quot;x&amp;y'>"
    )
    made = Places(frozenset(("own/index.html",)), files).rewrite(html, "index.html")
    assert made == (
        "<script data-js=\"../../js/\">if (a < b) '<a href=\"one.png\">'</script><img alt='a > b'"
        ' SRC="../../one.png" srcset="../../one.png 1x, ../../two.png 2x"><a title="one.png">'
        '<!-- <a href="one.png"> --></a>'
        '<a href="../../one.png#&quot;onclick=&quot;x&amp;y">'
    )


# ---- laws

VERSIONS = ("0.9", "1.0", "1.0 beta", "1.1rc1", "cut", "latest")
PREVIEWS = ("1", "2", "3")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A main site, archives of which some are no good, and sites of pull requests."""
    folder = tmp_path_factory.mktemp("store")
    write_site(folder / "main", make_site())
    for name in VERSIONS:
        pack_archive(folder / f"v{name}.zip", make_site({"": f"<h1>{name}</h1>"}))
    (folder / "vcut.zip").write_bytes((folder / "vcut.zip").read_bytes()[:-50])
    for number in PREVIEWS:
        pack_site(folder / f"p{number}.zip", make_site({"a/": number}, commit=number * 40))
    pack_site(folder / "p2.zip", {"index.html": b"no report"})
    return folder


def assemble_some(store: Path, names: Sequence[str], numbers: Sequence[str]) -> dict[str, bytes]:
    """What is published of some of the versions and previews."""
    inputs = Inputs(
        store / "main",
        [Given(name, store / f"v{name}.zip") for name in names],
        [Given(number, store / f"p{number}.zip") for number in numbers],
    )
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(2):  # the second time in place of the first
            assemble(inputs, Path(scratch) / "public", lambda _: None)
        return files_below(Path(scratch) / "public")


@pytest.fixture(scope="module")
def whole(store: Path) -> dict[str, bytes]:
    """What is published of all of them."""
    return assemble_some(store, VERSIONS, PREVIEWS)


@settings(max_examples=tries(3, 30))
@given(names=st.permutations(VERSIONS), numbers=st.permutations(PREVIEWS))
def test_the_order_of_what_is_given_does_not_matter(
    store: Path, whole: dict[str, bytes], names: list[str], numbers: list[str]
) -> None:
    """The same inputs give the same bytes."""
    assert assemble_some(store, names, numbers) == whole


@settings(max_examples=tries(3, 30))
@given(names=st.sets(st.sampled_from(VERSIONS)), numbers=st.sets(st.sampled_from(PREVIEWS)))
def test_what_is_left_out_leaves_the_rest_as_it_is(
    store: Path, whole: dict[str, bytes], names: set[str], numbers: set[str]
) -> None:
    """Every version and preview has the bytes that it has among all others, or none."""
    part = assemble_some(store, sorted(names), sorted(numbers))
    good = [name for name in ("0.9", "1.0", "1.1rc1") if name in names]
    for place in (*(f"v/{name}/" for name in good), *(f"pr/{n}/" for n in numbers if n != "2")):
        found = {path: content for path, content in part.items() if path.startswith(place)}
        assert found
        assert found == {path: content for path, content in whole.items() if path.startswith(place)}
    assert {path.split("/")[1] for path in part if path.startswith("v/")} == set(good)
    text = part["a/index.html"].replace(b'<meta name="reportgen-versions">\n', b"")
    assert text == (store / "main/a/index.html").read_bytes()
    assert (text != part["a/index.html"]) == bool(good)

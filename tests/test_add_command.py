"""``reportgen add``: data, settings, a page and its line in ``nav:``, or nothing at all."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report
from made_sources import LONG

from reportgen.site.sources.adding import add_to_navigation

if TYPE_CHECKING:
    from subprocess import CompletedProcess

CONFIG = """\
site_name: Ours
docs_dir: content
theme: {name: reportgen}  # ours
plugins: [search, reportgen]

nav:
    # Read this first.
    -   Overview: index.md   # the front page
    -   Guide:
        -   Words: words.md
markdown_extensions: [attr_list]
"""
ANSWERS_OF_TWO = "model,benchmark,problem,correct\n" + "".join(
    f"{model},{benchmark},{problem},{int(problem < skill)}\n"
    for model, skill in (("Elm", 5), ("Fir", 9))
    for benchmark in ("_a_b[*]", "plain")
    for problem in range(10)
)
ANSWERS = "model,problem,correct\n" + "".join(
    f"{model},p{number},{int(number % step > 0)}\n"
    for model, step in (("Elm", 2), ("Fir", 3))
    for number in range(20)
)
TRACKERS = Path(__file__).parent / "data"
STUDY = Path(__file__).parent / "shapes/optuna/study.db"


def make_report(root: Path, config: str = CONFIG) -> Path:
    """A report without any data, which has no ``data/`` either."""
    report = root / "report"
    (report / "content").mkdir(parents=True)
    (report / "mkdocs.yml").write_text(config, encoding="utf-8")
    for page in ("index.md", "words.md"):
        (report / "content" / page).write_text("# Words\n", encoding="utf-8")
    return report


def list_tree(folder: Path) -> dict[str, bytes]:
    """Every file and link below a folder."""
    return {
        path.relative_to(folder).as_posix(): str(path.readlink()).encode()
        if path.is_symlink()
        else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    } | {path.relative_to(folder).as_posix(): b"" for path in folder.rglob("*") if path.is_dir()}


def add(report: Path, *words: str) -> CompletedProcess[str]:
    """Add in the folder of the report, with a cache of its own."""
    return call(report, "add", *words, REPORTGEN_CACHE_DIR=str(report.parent / "cache"))


def check(report: Path) -> dict[str, object]:
    """What ``reportgen check`` says."""
    done = call(report, "check", "--format", "json", REPORTGEN_CACHE_DIR=str(report.parent / "cache"))
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("name", "text", "sentences"),
    [
        ("long.csv", LONG, ["A ends at", "B ends at", '{claim="final(B) > final(A)"']),
        ("answers.csv", ANSWERS, ["Elm scores", "Fir scores", '{claim="score(Fir) > score(Elm)"']),
        ("tests.csv", ANSWERS_OF_TWO, ["Elm scores [50.0%]", " on \\_a\\_b(\\*)."]),
        ("scores.csv", "Model,AIME,MATH\nElm,51.2%,76.8%\nFir,48.0%,75.5%\n", ["Elm scores [51.2%]"]),
        ("one.csv", "step,loss\n1,3\n2,2\n", ["One ends below its start", 'claim="start(One) > final(One)"']),
        ("tokens.csv", "model,tokens_seen,loss\nA,100,3\nA,200,2\n", ["A ends below its start"]),
        ("odd.csv", 'model,step,loss\n"a_b[*]\'s",1,3\n"a_b[*]\'s",2,2\n', ["a\\_b(\\*)'s ends at"]),
    ],
)
def test_a_page_that_checks(tmp_path: Path, name: str, text: str, sentences: list[str]) -> None:
    """The page shows the source; its values and claims are bound, and hold."""
    report, data = make_report(tmp_path), tmp_path / name
    data.write_text(text, encoding="utf-8")
    done = add(report, str(data), "--page")
    assert done.returncode == 0, done.stderr
    stem = data.stem
    for file in (f"data/{name}", f"data/{stem}.source.yml", f"content/{stem}.md", "mkdocs.yml"):
        assert f"  {file}\n" in done.stdout
    assert (report / "data" / name).read_bytes() == data.read_bytes()
    page = (report / "content" / f"{stem}.md").read_text(encoding="utf-8")
    assert all(sentence in page for sentence in sentences), page
    found = check(report)
    assert (found["fails"], found["problems"]) == (False, [])
    assert len(found["statements"] or []) >= 2  # type: ignore[arg-type]


def test_a_page_whose_reader_chooses_x(tmp_path: Path) -> None:
    """The block offers what the data have besides the step, and the page is built with it."""
    report, data = make_report(tmp_path), tmp_path / "runs.csv"
    rows = [f"{seed},{step},{step * 4096},{step * seed / 100}" for seed in (1, 2) for step in range(5)]
    data.write_text("\n".join(["seed,step,tokens,score", *rows, ""]), encoding="utf-8")
    assert add(report, str(data), "--page").returncode == 0
    page = (report / "content/runs.md").read_text(encoding="utf-8")
    assert "metric: score\nother_x: auto\ntitle: Score\n" in page
    done = call(report, "build", REPORTGEN_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert '"title":"tokens"' in (report / "site/runs/index.html").read_text(encoding="utf-8")


def test_the_navigation_keeps_its_words(tmp_path: Path) -> None:
    """A line is added at the end; comments, spaces and line ends stay."""
    report = make_report(tmp_path, CONFIG.replace("\n", "\r\n"))
    (tmp_path / "runs.csv").write_text(LONG, encoding="utf-8")
    (report / "mkdocs.yml").write_bytes(CONFIG.replace("\n", "\r\n").encode())
    assert add(report, "../runs.csv", "--as", "our-runs", "--page").returncode == 0
    lines = CONFIG.splitlines()
    lines.insert(10, "    -   Our runs: our-runs.md")
    assert (report / "mkdocs.yml").read_bytes() == ("\r\n".join(lines) + "\r\n").encode()


@pytest.mark.parametrize(
    ("nav", "expected"),
    [
        ("nav:\n- A: [x/a.md]\n- b.md", "nav:\n- A: [x/a.md]\n- b.md\n- New: new.md\n"),
        ("nav:\n- index.md", "nav:\n- index.md\n- New: new.md\n"),
        ("nav: [index.md, {Words: words.md}]\n", "nav: [index.md, {Words: words.md}, {New: new.md}]\n"),
        (
            "nav:\n  - A:\n    - a.md\n  - B:\n    - b.md\nx: 1\n",
            "nav:\n  - A:\n    - a.md\n  - B:\n    - b.md\n  - New: new.md\nx: 1\n",
        ),
        ("site_name: x\n", "site_name: x\n"),
        ("nav:\n  - New: new.md\n", "nav:\n  - New: new.md\n"),
    ],
)
def test_ways_to_write_a_navigation(nav: str, expected: str) -> None:
    """With dashes, in brackets, of sections alone, or not at all."""
    assert add_to_navigation(nav, "mkdocs.yml", "New", "new.md") == expected


def test_a_page_is_added_to_the_section_of_its_folder(tmp_path: Path) -> None:
    """Where pages of the same folder are; otherwise at the end, also behind sections."""
    nav = "nav:\n  - index.md\n  - Sweeps:\n    - Depth: sweeps/depth.md\n  - Guide:\n    - words.md\n"
    report = make_report(tmp_path, f"site_name: Ours\ndocs_dir: content\nplugins: [search, reportgen]\n{nav}")
    (report / "content/sweeps").mkdir()
    (report / "content/sweeps/depth.md").write_text("# Depth\n", encoding="utf-8")
    (tmp_path / "runs.csv").write_text(LONG, encoding="utf-8")
    for name in ("sweeps/width", "others/width", "runs"):
        assert add(report, "../runs.csv", "--as", name, "--page").returncode == 0
    depth = "    - Depth: sweeps/depth.md\n"
    nav = nav.replace(depth, f"{depth}    - Width: sweeps/width.md\n")
    written = (report / "mkdocs.yml").read_text(encoding="utf-8")
    assert written.endswith(f"{nav}  - Width: others/width.md\n  - Runs: runs.md\n")


def test_folders_are_copied_as_far_as_they_are_read(tmp_path: Path) -> None:
    """Runs of a logger with what lies beside them: weights stay where they are."""
    report, runs = make_report(tmp_path), tmp_path / "Our runs!"
    for seed in (1, 2):
        (runs / f"seed{seed}").mkdir(parents=True)
        (runs / f"seed{seed}/log.csv").write_text(f"step,loss\n1,{seed}\n2,0.5\n", encoding="utf-8")
    (runs / "model.bin").write_bytes(b"\0" * 1000)
    done = add(report, str(runs))
    assert done.returncode == 0, done.stderr
    assert set(list_tree(report / "data")) == {
        *("Our-runs", "Our-runs/seed1", "Our-runs/seed1/log.csv", "Our-runs/seed2", "Our-runs/seed2/log.csv"),
        "Our-runs/source.yml",
    }
    assert "To paste into a page\n```curve\nsource: Our-runs\n" in done.stdout
    assert not (report / "content/Our-runs.md").exists()


def test_an_archive_and_a_name_with_folders(tmp_path: Path) -> None:
    """An archive is copied as it is; ``--as`` may name folders."""
    report = make_report(tmp_path)
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as packed:
        packed.writestr("long.csv", LONG)
    assert add(report, str(tmp_path / "runs.zip"), "--as", "sweeps/width", "--page").returncode == 0
    assert (report / "data/sweeps/width/runs.zip").read_bytes() == (tmp_path / "runs.zip").read_bytes()
    assert "Width: sweeps/width.md" in (report / "mkdocs.yml").read_text(encoding="utf-8")
    assert check(report)["problems"] == []


def test_one_way_and_a_report_are_needed(tmp_path: Path) -> None:
    """Two ways are refused, and outside a report the next step is named."""
    report = make_report(tmp_path)
    (tmp_path / "log.csv").write_text(LONG, encoding="utf-8")
    done = add(report, str(tmp_path / "log.csv"), "--copy", "--freeze")
    assert done.returncode == 2
    assert "--copy and --freeze exclude each other. Choose one." in done.stderr
    assert not (report / "data").exists()
    done = add(tmp_path, str(tmp_path / "log.csv"))
    assert done.returncode == 2
    assert "does not exist. Go into the folder of a report, or make one with reportgen init" in done.stderr


def test_frozen_linked_or_left(tmp_path: Path) -> None:
    """By an option; data in the data folder stay there."""
    report = make_report(tmp_path)
    source = tmp_path / "long.csv"
    source.write_text(LONG, encoding="utf-8")
    assert add(report, str(source), "--freeze", "--as", "frozen", "--page").returncode == 0
    assert {path.name for path in (report / "data/frozen").iterdir()} == {"data.parquet", "source.yml"}
    shutil.copy(source, report / "data/there.csv")
    for option in ("--copy", "--link", "--freeze"):
        refused = add(report, "data/there.csv", option)
        assert f"it is already in the data folder. Leave {option} out" in refused.stderr
    assert "left where they are" in add(report, "data/there.csv", "--page").stdout
    assert (report / "content/there.md").exists()
    config = CONFIG.replace("reportgen]", "{reportgen: {follow_links: true}}]")
    (report / "mkdocs.yml").write_text(config, encoding="utf-8")
    assert add(report, str(source), "--link").returncode == 0
    assert (report / "data/long.csv").readlink() == source
    assert (report / "data/long.source.yml").read_text(encoding="utf-8") == "title: Long\n"


@pytest.mark.parametrize("name", ["mine", "all/mine"])
def test_a_link_to_a_folder_has_its_settings_next_to_it(tmp_path: Path, name: str) -> None:
    """Nothing is written into the folder, whose own settings stay in force if it has some."""
    report = make_report(tmp_path)
    config = CONFIG.replace("reportgen]", "{reportgen: {follow_links: true}}]")
    (report / "mkdocs.yml").write_text(config, encoding="utf-8")
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "table.csv").write_text("model,f1\nElm,0.5\nFir,0.6\n", encoding="utf-8")
    done = add(report, str(folder), "--link", "--as", name, "--page")
    assert done.returncode == 0, done.stderr
    assert (report / "data" / name).readlink() == folder
    settings = "title: Mine\nform: totals\ncolumns:\n  score: f1\n"
    assert (report / f"data/{name}.source.yml").read_text(encoding="utf-8") == settings
    assert f"  data/{name}.source.yml\n" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["table.csv"]
    assert check(report)["problems"] == []
    assert f"\n{name} " in call(report, "describe", "data").stdout
    (folder / "source.yml").write_text(settings.replace("Mine", "Theirs"), encoding="utf-8")
    assert add(report, str(folder), "--link", "--as", "theirs").returncode == 0
    assert not (report / "data/theirs.source.yml").exists()
    assert check(report)["problems"] == []


def test_what_exists_is_never_overwritten(tmp_path: Path) -> None:
    """Data, settings and pages that are there are all named, and nothing changes."""
    report, source = make_report(tmp_path), tmp_path / "words.csv"
    source.write_text(LONG, encoding="utf-8")
    (report / "data").mkdir()
    (report / "data/words.tsv").write_text("step\tloss\n1\t2\n", encoding="utf-8")
    before = list_tree(report)
    done = add(report, str(source), "--page")
    assert done.returncode == 1
    for file in ("content/words.md", "data/words.tsv"):
        assert f"{file}: error: it exists already. Give the source another name with --as." in done.stderr
    assert "nothing was written" in done.stderr
    assert list_tree(report) == before


@pytest.mark.parametrize(
    ("config", "words", "message"),
    [
        (CONFIG, ["--as", "../out"], '"../out" is not a valid name for a source'),
        (CONFIG, ["--as", "/out"], '"/out" is not a valid name for a source'),
        (CONFIG, ["--as", ".hidden"], '".hidden" is not a valid name for a source'),
        (CONFIG, ["--link"], "a link to it would lead out of the repository"),
        (
            "nav: [\n  index.md,\n  words.md,\n]\nplugins: [reportgen]\ndocs_dir: content\nsite_name: x\n",
            [],
            "Add the page yourself: - Long: long.md",
        ),
        ("plugins: [reportgen]\ndocs_dir: content\n", [], "site_name"),
    ],
)
def test_nothing_is_half_written(tmp_path: Path, config: str, words: list[str], message: str) -> None:
    """Where the last step fails, what came before is taken back."""
    report, source = make_report(tmp_path, config), tmp_path / "long.csv"
    source.write_text(LONG, encoding="utf-8")
    before = list_tree(report)
    done = add(report, str(source), "--page", *words)
    assert done.returncode == 1
    assert message in done.stderr
    assert list_tree(report) == before


def test_data_that_cannot_be_read(tmp_path: Path) -> None:
    """As ``describe`` says it, and nothing is written."""
    report = make_report(tmp_path)
    (tmp_path / "notes.txt").write_text("words\n", encoding="utf-8")
    before = list_tree(report)
    assert add(report, str(tmp_path / "notes.txt")).returncode == 1
    assert add(report, str(tmp_path / "missing.csv")).returncode == 1
    assert list_tree(report) == before


def write_logs(folder: Path, text: str) -> Path:
    """A dozen runs of three learning rates, with their settings beside them."""
    for number in range(12):
        run = folder / f"run{number}"
        run.mkdir(parents=True)
        rate = (0.1, 0.01, 0.001)[number % 3]
        (run / "log.csv").write_text(text.format(end=rate + number / 100), encoding="utf-8")
        (run / "config.json").write_text(json.dumps({"lr": rate}), encoding="utf-8")
    return folder


def test_sentences_name_the_groups_of_the_suggested_block(tmp_path: Path) -> None:
    """Where it draws many runs by a setting; values are means of the raw runs."""
    report = make_report(tmp_path)
    data = write_logs(tmp_path / "many", "step,val_acc\n0,0\n1,{end}\n")
    assert add(report, str(data), "--page").returncode == 0
    page = (report / "content/many.md").read_text(encoding="utf-8")
    assert "by: lr" in page
    found = check(report)
    ends = {one["expression"]: one["found"] for one in found["statements"] or []}  # type: ignore[attr-defined]
    # Runs 0, 3, 6 and 9 have a rate of 0.1.
    assert f"= {0.1 + (0 + 3 + 6 + 9) / 400:.3f} [" in ends["final('lr=0.1')"]
    assert found["problems"] == []


def test_one_reading_of_each_run_is_no_curve(tmp_path: Path) -> None:
    """With a setting in which runs differ it is a sweep, otherwise a table."""
    report = make_report(tmp_path)
    data = write_logs(tmp_path / "ends", "step,val_acc\n5,{end}\n")
    assert add(report, str(data), "--page").returncode == 0
    assert "```sweep\nid: results\nsource: ends\nmetric: val_acc\nx: lr\n" in (
        report / "content/ends.md"
    ).read_text(encoding="utf-8")
    (tmp_path / "two.csv").write_text("model,step,acc\nA,9,0.5\nB,9,0.75\n", encoding="utf-8")
    assert add(report, str(tmp_path / "two.csv"), "--page").returncode == 0
    page = (report / "content/two.md").read_text(encoding="utf-8")
    assert "```table\n" in page
    assert "B ends above A" in page
    assert check(report)["problems"] == []


def test_trials_of_a_study_have_their_values_bound(tmp_path: Path) -> None:
    """A sweep of single readings has sentences about its groups, whose means are those of the raw trials."""
    report = make_report(tmp_path)
    header = "number,value,datetime_start,datetime_complete,duration,params_lr,params_optimizer,state"
    rows = (
        f"{n},{0.5 + n / 100},2026-01-01 00:00:0{n},2026-01-01 00:00:1{n},0 days 00:00:10,"
        f"{(n + 1) / 10},{('sgd', 'adam')[n % 2]},COMPLETE"
        for n in range(6)
    )
    file = tmp_path / "search/study.csv"
    file.parent.mkdir()
    file.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    assert add(report, str(tmp_path / "search"), "--page").returncode == 0
    page = (report / "content/search.md").read_text(encoding="utf-8")
    assert "```sweep\n" in page
    found = check(report)
    assert found["problems"] == []
    ends = {one["expression"]: one["found"] for one in found["statements"] or []}  # type: ignore[attr-defined]
    assert "= 0.53" in ends["final(adam)"]


def test_a_study_that_minimises_has_its_best_trial_lowest(tmp_path: Path) -> None:
    """The database says the direction, and its sweep comes before a mean over different trials."""
    report = make_report(tmp_path)
    shutil.copy(STUDY, tmp_path / "tune.db")
    with closing(sqlite3.connect(tmp_path / "tune.db")) as store, store:
        store.execute("UPDATE study_directions SET direction = 'MINIMIZE'")
    assert add(report, str(tmp_path / "tune.db"), "--page").returncode == 0
    page = (report / "content/tune.md").read_text("utf-8")
    assert "```sweep\nid: results\nsource: tune\nmetric: value\n" in page
    found = call(report, "facts", "tune", "--metric", "value")
    assert "value of 1 series, lower is better" in found.stdout
    said = call(report, "describe", "data/tune.db").stdout
    assert "x: lr is a guess: it puts runs together that may differ in more; name another" in said


def test_each_judge_is_shown(tmp_path: Path) -> None:
    """A figure of one judge, and a table of both."""
    report = make_report(tmp_path)
    for judge, off in (("gpt-4", 0), ("claude", 1)):
        rows = [
            {"question_id": q, "model": m, "judge": [judge, "single-v1"], "score": q % 5 + off + i, "turn": t}
            for i, m in enumerate(("vicuna", "alpaca"), 1)
            for q in range(81, 91)
            for t in (1, 2)
        ]
        file = tmp_path / f"mt/mt_bench/model_judgment/{judge}_single.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps({**row, "judgment": "[[5]]", "tstamp": 1.0}) + "\n" for row in rows)
        file.write_text(text, encoding="utf-8")
    assert add(report, str(tmp_path / "mt"), "--page").returncode == 0
    page = (report / "content/mt.md").read_text(encoding="utf-8")
    assert "```comparison\nsource: mt\n```" in page
    assert "score(vicuna)" in page
    assert check(report)["problems"] == []
    done = call(report, "build")
    assert done.returncode == 0, done.stderr
    shown = (report / "site/mt/index.html").read_text(encoding="utf-8")
    assert "judge gpt-4" in shown
    assert "judge claude" in shown


def test_studies_are_not_averaged(tmp_path: Path) -> None:
    """Two of them over the same parameter are a line each."""
    report = make_report(tmp_path)
    (tmp_path / "studies").mkdir()
    for name, off in (("base", 0.1), ("wide", 0.2)):
        rows = "".join(f"{n},{off + n / 10},{0.01 * (n + 1)},COMPLETE\n" for n in range(3))
        (tmp_path / f"studies/{name}.csv").write_text("number,value,params_lr,state\n" + rows)
    assert add(report, str(tmp_path / "studies"), "--page").returncode == 0
    assert "\nx: lr\nby: series\n" in (report / "content/studies.md").read_text(encoding="utf-8")
    assert check(report)["problems"] == []
    assert call(report, "build").returncode == 0
    with (report / "site/figures/studies/results.csv").open() as file:
        found = {(row["series"], row["n"], float(row["value"])) for row in csv.DictReader(file)}
    assert found == {("base", "1", v) for v in (0.1, 0.2, 0.3)} | {("wide", "1", v) for v in (0.2, 0.3, 0.4)}


def test_a_table_of_papers_is_shown_whole(tmp_path: Path) -> None:
    """The figure has one benchmark, the table below it all of them."""
    report = make_report(tmp_path)
    (tmp_path / "paper.csv").write_text(
        "Model,AIME,MATH\nElm,51.2%,76.8%\nFir,48.0%,75.5%\n", encoding="utf-8"
    )
    assert add(report, str(tmp_path / "paper.csv"), "--page").returncode == 0
    assert "```comparison\nsource: paper\n```" in (report / "content/paper.md").read_text(encoding="utf-8")
    assert check(report)["problems"] == []


def test_what_a_folder_holds_besides_is_named(tmp_path: Path) -> None:
    """One source has one format; the others can be added by themselves."""
    report, mixed = make_report(tmp_path), tmp_path / "mixed"
    shutil.copytree(TRACKERS / "wandb", mixed / "wandb")
    (mixed / "answers.csv").write_text(ANSWERS, encoding="utf-8")
    done = add(report, str(mixed))
    assert done.returncode == 0
    assert "was added, not answers.csv. Add each of them by itself, as in reportgen add " in done.stderr


def test_groups_without_a_finite_value_are_not_compared(tmp_path: Path) -> None:
    """A sweep has nothing to draw of them, so that the page would be refused."""
    given = tmp_path / "given" / "study"
    given.mkdir(parents=True)
    header, *trials = "number,value,params_lr,state", "0,0.5,0.1", "1,0.25,0.1", "2,inf,0.2", "3,inf,0.3"
    (given / "trials.csv").write_text("\n".join((header, *(f"{one},COMPLETE" for one in trials), "")))
    root = write_report(tmp_path / "report", {})
    assert call(root, "add", str(given), "--page").returncode == 0
    assert call(root, "check").returncode == 0
    assert "```sweep" not in (root / "content/study.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("progress.csv", "time/total_timesteps,rollout/ep_rew_mean\n0,1.5\n100,2.5\n"),
        ("results.json", '{"results": {"mmlu": {"acc": 0.61}}, "config": {"shots": 5}}'),
        ("metrics.csv", "epoch,step,train_loss,val_loss\n0,9,1.0,\n0,9,,1.2\n1,19,0.8,\n1,19,,1.0\n"),
    ],
)
def test_a_log_that_its_name_tells_is_read_under_any_other(tmp_path: Path, name: str, text: str) -> None:
    """It was renamed with the source, and then no log: refused, or read as a table."""
    report, log = make_report(tmp_path), tmp_path / name
    log.write_text(text, encoding="utf-8")
    before = json.loads(call(tmp_path, "describe", name, "--format", "json").stdout)
    added = call(report, "add", str(log), "--as", "ours")
    assert (added.returncode, added.stderr) == (0, "")
    after = json.loads(call(report, "describe", "data/ours", "--format", "json").stdout)
    assert after["title"] == before["title"]

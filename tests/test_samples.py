"""Texts of samples: which formats have them, what is written of them, and that nobody gets them unasked."""

from __future__ import annotations

import gzip
import json
import shutil
import tracemalloc
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from made_projects import files_below, write_report

from reportgen.cli.main import cli
from reportgen.core.errors import ReportError
from reportgen.site.publishing import publish

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).parent
BLOCK = "# Samples\n\n```problems\nsource: answers\nid: map\nsamples: true\n```\n"
FIELDS = ("series", "label", "score", "prompt", "expected", "response", "answer", "explanation")


def build(root: Path, data: Mapping[str, str | bytes], page: str = BLOCK) -> Path:
    """Build a report of one page with this data; returns the site."""
    files = {f"data/{name}": content for name, content in data.items()}
    write_report(root, {"content/index.md": page, "data/runs.csv": None, **files})
    publish(root / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)
    return root / "site"


def read_samples(site: Path) -> dict[str, list[dict[str, Any]]]:
    """The samples of each problem, as the scripts have them."""
    found = {}
    for path in sorted(site.glob("figures/index/*.samples-*.js")):
        part = json.loads(path.read_text("utf-8").partition("]=")[2].removesuffix(";\n"))
        for problem, rows in part["problems"]:
            texts = [
                [*row[:3], *(None if place is None else part["texts"][place] for place in row[3:])]
                for row in rows
            ]
            found[problem] = [dict(zip(FIELDS, row, strict=True)) for row in texts]
    return found


def example(folder: str) -> dict[str, bytes]:
    """The files of an example of this repository."""
    files = files_below(HERE.parent / "data" / folder)
    return {
        f"answers/{name}": content for name, content in files.items() if not name.endswith((".py", ".yml"))
    }


def test_samples_of_lm_eval(tmp_path: Path) -> None:
    """Prompt, whole answer and extracted answer."""
    (first, _) = read_samples(build(tmp_path, example("lm-eval-example")))["0"]
    assert first["prompt"] == "Q: 85 + 26\nA:"
    assert (first["expected"], first["response"], first["answer"]) == ("111", "#### 111", "111")
    assert (first["score"], first["explanation"]) == ("right", None)


def test_likelihoods_of_choices(tmp_path: Path) -> None:
    """Of a multiple choice by likelihood, each continuation with its own."""
    samples = {
        "doc_id": 0,
        "doc": {"q": "sky"},
        "target": "0",
        "arguments": [["The sky is", " blue"], ["The sky is", " green"]],
        "resps": [[[-1.5, False]], [[-4.25, False]]],
        "filtered_resps": [[-1.5, False], [-4.25, False]],
        "acc": 1.0,
    }
    results = {
        "results": {"sky": {"acc,none": 1.0, "alias": "sky"}},
        "config": {"model": "hf"},
        "versions": {},
    }
    stamp = "2026-01-05T09-30-00.000000"
    data = {
        f"answers/results_{stamp}.json": json.dumps(results),
        f"answers/samples_sky_{stamp}.jsonl": json.dumps(samples) + "\n",
    }
    (only,) = read_samples(build(tmp_path, data))["0"]
    assert only["prompt"] == "The sky is"
    assert (
        only["response"]
        == "blue: log-likelihood \N{MINUS SIGN}1.5\n green: log-likelihood \N{MINUS SIGN}4.25"
    )


def test_samples_of_inspect(tmp_path: Path) -> None:
    """From whole samples where a log has them: the answer of the model, and what the scorer explained."""
    logs = {f"answers/{path.name}": path.read_bytes() for path in (HERE / "data" / "inspect").glob("*.eval")}
    found = read_samples(build(tmp_path, logs))
    every = [one for samples in found.values() for one in samples]
    assert every
    assert all(one["prompt"] and one["expected"] and one["response"] for one in every)
    assert any(one["explanation"] for one in every)


def test_summaries_of_inspect(tmp_path: Path) -> None:
    """A log without whole samples has prompts and extracted answers."""
    samples = read_samples(build(tmp_path, example("inspect-example")))["sum-00"]
    assert len(samples) == 8
    assert {one["expected"] for one in samples} == {str(sum(map(int, samples[0]["prompt"].split(" + "))))}
    assert all(one["answer"] for one in samples)


def test_samples_of_promptfoo(tmp_path: Path) -> None:
    """With the reason of the grading."""
    packed = (HERE / "data" / "promptfoo" / "sums.json.gz").read_bytes()
    found = read_samples(build(tmp_path, {"answers/results.json": gzip.decompress(packed)}))
    every = [one for samples in found.values() for one in samples]
    assert every
    assert all(one["prompt"] and one["response"] and one["explanation"] for one in every)


TABLE = """model,problem,score,target,question,output,judgement
A,p,1,2,1 + 1?,It is 2,fine
B,p,0,2,1 + 1?,3,bad
"""


def test_columns_of_a_table(tmp_path: Path) -> None:
    """Those that source.yml names; the right answer stands in for the expected text."""
    named = "columns: {prompt: question, response: output, explanation: judgement}\n"
    found = read_samples(build(tmp_path, {"answers/a.csv": TABLE, "answers/source.yml": named}))
    shared = {"label": "sample", "prompt": "1 + 1?", "expected": "2", "answer": None}
    one, other = found["p"]
    assert one == {"series": 0, "score": "right", "response": "It is 2", "explanation": "fine", **shared}
    assert other == {"series": 1, "score": "wrong", "response": "3", "explanation": "bad", **shared}


def test_data_without_texts_are_an_error(tmp_path: Path) -> None:
    """It names the formats that have them, and what to write for a table."""
    with pytest.raises(ReportError) as error:
        build(tmp_path, {"answers/a.csv": TABLE})
    (problem,) = error.value.problems
    assert str(problem.location) == "content/index.md:3"
    assert problem.message == "samples: true, but the data have no prompts or answers as texts"
    assert "columns: {prompt: NAME, response: NAME}" in problem.next_step


def test_nothing_is_published_unasked(tmp_path: Path) -> None:
    """Without samples: true the site has no text of a prompt."""
    site = build(tmp_path, example("lm-eval-example"), BLOCK.replace("samples: true\n", ""))
    assert not [name for name, content in files_below(site).items() if b"85 + 26" in content]


def test_the_build_says_how_much(tmp_path: Path) -> None:
    """Samples and bytes, of the build and of the next one that has nothing to do."""
    root = write_report(
        tmp_path,
        {
            "content/index.md": BLOCK,
            "data/runs.csv": None,
            **{f"data/{n}": c for n, c in example("lm-eval-example").items()},
        },
    )
    build_again = ["build", "--config-file", str(root / "mkdocs.yml")]
    said = [CliRunner().invoke(cli, build_again).output for _ in range(2)]
    size = sum(path.stat().st_size for path in root.glob("site/figures/index/*.samples-*.js"))
    assert all(f"1 page, 1 figure, texts of 48 samples ({size / 1000:.3g} kB)" in one for one in said), said


def test_a_secret_in_a_sample_is_not_archived(tmp_path: Path) -> None:
    """Also where the data stay out, and the site has it."""
    row = {
        "id": "p",
        "question": "Key?",
        "answer": "no",
        "responses": ["AKIAABCDEFGHIJKLMNOP"],
        "correct": [False],
    }
    build(tmp_path, {"answers/model.jsonl": json.dumps(row) + "\n"})
    archive = ["archive", "--config-file", str(tmp_path / "mkdocs.yml"), "--data", "none", "--to"]
    without = CliRunner().invoke(cli, [*archive, str(tmp_path / "a.zip")])
    assert without.exit_code == 0, without.output
    refused = CliRunner().invoke(cli, [*archive, str(tmp_path / "b.zip"), "--site"])
    assert (
        "site/figures/index/map-map.samples-0.js:1: error: this looks like an access key of AWS"
        in refused.output
    )
    assert not (tmp_path / "b.zip").exists()


def test_a_frozen_archive_keeps_logs_that_a_page_shows(tmp_path: Path) -> None:
    """A table of them would have no texts, and the report could not be built again."""
    build(tmp_path, example("lm-eval-example"))
    target = tmp_path / "a.zip"
    command = [
        "archive",
        "--config-file",
        str(tmp_path / "mkdocs.yml"),
        "--data",
        "frozen",
        "--to",
        str(target),
    ]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.output
    assert 'the source "answers" cannot be one table, so its files are packed as they are' in done.output
    with zipfile.ZipFile(target) as archive:
        assert [name for name in archive.namelist() if name.endswith(".jsonl")]


def test_same_data_same_scripts(tmp_path: Path) -> None:
    """From another folder, with a cache of its own and from the cache."""
    sites = [build(tmp_path / name, example("lm-eval-example")) for name in "ab"]
    shutil.rmtree(sites[1])
    sites[1] = build(tmp_path / "b", {})
    one, other = (files_below(site / "figures") for site in sites)
    assert one == other
    assert [name for name in one if ".samples-" in name]


def test_many_problems_have_several_scripts(tmp_path: Path) -> None:
    """Each of a bounded size, together with every problem; a column of several problems names them all."""
    rows = [
        {
            "id": f"q{n}",
            "question": f"{n}? " + "w" * 900,
            "answer": str(n),
            "responses": [f"r{n}"],
            "correct": [n % 2 == 0],
        }
        for n in range(1300)
    ]
    site = build(tmp_path, {"answers/model.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    scripts = sorted(site.glob("figures/index/*.samples-*.js"))
    assert len(scripts) > 10
    assert max(path.stat().st_size for path in scripts) < 200_000
    assert read_samples(site).keys() == {row["id"] for row in rows}
    page = (site / "index.html").read_text("utf-8")
    payload = json.loads(page.partition('class="rg-heat-data">')[2].partition("</script>")[0])
    places = payload["texts"]["places"]
    assert len(places) == len(payload["problems"]) == 434
    assert sum(map(len, places)) == 1300


def test_texts_are_never_in_memory_together(tmp_path: Path) -> None:
    """They are read and written in parts: a build takes less memory than its texts, and mixes none up."""
    series, problems, samples = "AB", range(400), range(16)
    texts = {(s, n, k): f"{s}{n}.{k} " + "w" * 3000 for k in samples for n in problems for s in series}
    lines = [f"{s},q{n},{k},{(n + k) % 2},{n}?,{text}" for (s, n, k), text in texts.items()]
    table = "\n".join(["series,problem,sample,score,prompt,response", *lines])
    named = "columns: {prompt: prompt, response: response}\n"
    files = {"answers/a.csv": table, "answers/source.yml": named}
    build(
        tmp_path / "imports", {"answers/a.csv": table[:4000].rpartition("\n")[0], "answers/source.yml": named}
    )
    build(tmp_path / "report", files, "# Nothing yet\n")
    tracemalloc.start()
    site = build(tmp_path / "report", {})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(table) * 2 / 3, f"{peak:,} of {len(table):,}"
    found = read_samples(site)
    assert {name: [row["response"] for row in rows] for name, rows in found.items()} == {
        f"q{n}": [texts[s, n, k] for k in samples for s in series] for n in problems
    }

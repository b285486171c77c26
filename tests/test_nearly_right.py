"""Statements and settings files that are nearly right are errors, neither text on a page nor ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_file, write_report

if TYPE_CHECKING:
    from pathlib import Path

# Each with a part of the message.
NEARLY = {
    '[0.99]{vlaue="final(MEL)"}': 'Did you mean "value"?',
    '[0.99]{vlaue="0.99"}': 'Did you mean "value"?',
    "[0.99]{vlaue=final(MEL)}": 'Did you mean "value"?',
    '[0.99] {val="final(MEL)"}': 'Did you mean "value"?',
    '[0.99]{Value="final(MEL)"}': 'Did you mean "value"?',
    '[0.99]{value: "final(MEL)"}': "cannot be read",
    '[0.99]{of="a"}': "a statement has value= or claim=",
    '[MEL wins]{clam="better(MEL, GRPO)" name="m"}': 'Did you mean "claim"?',
    'MEL wins {claim="better(MEL, GRPO)"}': "read as text",
    'MEL wins{of="a" claim="better(MEL, GRPO)"}': "read as text",
    "- MEL wins {clam='better(MEL, GRPO)'}": "read as text",
    '**0.99**{value="final(MEL)"}': "read as text",
    '[0.99](value="final(MEL)")': "read as text",
    '[0.99](x.md){value="final(MEL)"}': "read as text",
    # An expression in other words, brackets, quotes and signs.
    "[0.99]{final(MEL)}": "read as text",
    "[0.99]{{final(MEL)}}": "read as text",
    "**0.99** {final(MEL) - peak(GRPO) + 0.1}": "read as text",
    '[0.99]{exp="final(MEL)"}': "read as text",
    "[0.99]{is=final(MEL)}": "read as text",
    "[0.99]{value:0.99}": "read as text",
    "[0.99]{'value': 'final(MEL)'}": "read as text",
    '[0.99][value="final(MEL)"]': "read as text",
    "[0.99](value=final(MEL))": "read as text",
    "[0.99](final(MEL))": "read as text",
    "[0.99] {value=final(MEL)}": "there is a space",
    "[0.99]{value=\u201cfinal(MEL)\u201d}": "has no quotes",
    '\uff3b0.99\uff3d\uff5bvalue\uff1d"final\uff08MEL\uff09"\uff5d': "read as text",
    "[MEL wins]{final(MEL) > final(GRPO)}": "read as text",
    "[MEL wins]{assert='better(MEL, GRPO) and not final(MEL) < 0.5'}": "read as text",
}
OTHERS = [
    '![x](a.png){width="50%" loading=lazy data-x="1"}',
    '[x](y.md){.class #id target=_blank data-value="f(x)"}',
    '[x](y.md){style="width: calc(1px)" onclick="f(x)" title="value of f(x)"}',
    "# Heading {#id .claim}",
    '* item {value="3"}',
    '`x {claim="better(A, B)"}`',
    '    x {claim="better(A, B)"}',
    '\\{claim="f(x)"}',
    "<div data-x='{value=\"f(x)\"}'>a</div>",
    "The set {value = f(x)}, {a, b} and $\\text{claim = f(x)}$.",
    'Or {"value": "f(x)"} and (value="f(x)").',
    "[x](y.md \"value='f(x)'\") and [x]{.of}",
    "`[0.99]{final(MEL)}` and \\[0.99]{final(MEL)}",
    "[text]{.class #id key=val} and [text]{: .class }",
    '[x]{title="mean(x) over runs"} and [x]{title="mean(x)" data-tip="mean(x)"}',
    "[final(MEL)](final(MEL).md), [x](https://a.org/?value=f(x)) and [see][final(MEL)].",
    "[final(MEL)]: https://a.org",
    "A note[^1] (mean(x)) and [0, 1] (value = 3), x[i]{j} and [citation needed]{f(x)}.",
    "[^1]: Its text (see [1], mean(x)).",
    "$\\sqrt[3]{mean(x)}$ and $[0,1]{final(x)}$",
    "The call final(MEL) or f[x](y), and {mean} of them.",
]


def test_statements_that_are_nearly_right_are_errors(tmp_path: Path) -> None:
    """Each at its line; other braces, and braces in code, are none."""
    root = write_report(tmp_path, {"content/index.md": "\n\n".join(["# Page", *NEARLY, *OTHERS])})
    lines = call(root, "check").stdout.split("\n")
    for number, expected in enumerate(NEARLY.values()):
        assert any(f":{2 * number + 3}:" in line and expected in line for line in lines), (number, lines)
    assert not any(f":{2 * number + 3}:" in line for number in range(len(NEARLY), 60) for line in lines)


SETTINGS = "rename: {MEL: Ours}\n"
BESIDE = [
    *("runs.source.yaml", "runs.csv.source.yml", "Runs.Source.yml", "run.source.yml", "runs.sources.yml"),
    *("runs.source.json", "runs.source.toml", "runs.source.ymal", "runs.source.txt", "runs.source"),
    *("runs.yml", "runs.csv.yaml", "runs.toml", "runs.settings.yml", ".source.yml", "source.json"),
]


def write_settings(name: str) -> str:
    """The same settings as YAML or TOML."""
    return '[rename]\nMEL = "Ours"\n' if name.endswith("toml") else SETTINGS


@pytest.mark.parametrize("name", BESIDE)
def test_settings_of_a_file_under_another_name_are_an_error(tmp_path: Path, name: str) -> None:
    """It says which name they have to have."""
    root = write_report(tmp_path, {f"data/{name}": write_settings(name)})
    found = call(root, "check").stdout
    assert found.startswith(f"data/{name}: error: this file is read for no source")
    assert "Rename it to runs.source.yml" in found
    assert "Rename it to runs.source.yml" in call(root, "describe", "data/runs.csv").stdout
    (root / "data" / name).unlink()
    write_file(root / "data/runs.source.yml", SETTINGS)
    assert call(root, "check").returncode == 0


INSIDE = [
    *("source.yaml", "Source.yml", "soruce.yml", "runs.source.yml", "source.yml.txt", "inner/source.yml"),
    *("source.json", "source.toml", ".source.yml", "source", "runs.yml", "inner.source.yml"),
]
AROUND = ["runs.source.yml", "source.yml", "../source.yml", "runs.source.json", "runs.yml", ".source.yml"]


@pytest.mark.parametrize("name", [*(f"runs/{name}" for name in INSIDE), *AROUND])
def test_settings_of_a_folder_under_another_name_are_an_error(tmp_path: Path, name: str) -> None:
    """Inside it, above it and below it."""
    root = write_report(tmp_path)
    table = (root / "data/runs.csv").read_text()
    (root / "data/runs.csv").unlink()
    write_file(root / "data/runs/inner/table.csv", table)
    write_file(root / "data" / name, write_settings(name))
    done = call(root, "check")
    assert done.returncode == 1
    assert "runs/source.yml" in done.stdout
    (root / "data" / name).unlink()
    write_file(root / "data/runs/source.yml", SETTINGS)
    assert call(root, "check").returncode == 0


OTHER_FILES = {
    "runs.sources.yml": "- {model: Elm, score: 1}\n",
    "old.source.yml.bak": SETTINGS,
    "runs.yml": "title: Third try\nmodel: resnet\n",
    "runs.toml": "[model]\nlayers = 3\n",
    "runs.meta.json": '{"title": "Third try"}\n',
    "runs.source.txt": "rename: was done by hand, on Monday:\n",
    "runs.source": "https://example.org\n",
    "runs.csv.dvc": "outs:\n- {md5: 0, path: runs.csv}\n",
    "config.yml": SETTINGS,
}


def test_other_files_with_such_names_are_data(tmp_path: Path) -> None:
    """What holds no key of settings is not meant as settings, and neither are settings of another program."""
    root = write_report(tmp_path, {f"data/{name}": text for name, text in OTHER_FILES.items()})
    assert call(root, "check").returncode == 0

"""Texts of samples: the prompt, the expected answer, the answer and the grader's words, bounded in length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_number
from reportgen.formats.evaluations.scores import get_inner
from reportgen.formats.json_files import as_list, as_mapping
from reportgen.settings.text import cut_text

if TYPE_CHECKING:
    from collections.abc import Mapping


TEXTS: Final = ("prompt", "expected", "response", "explanation")


def make_texts(**cells: object) -> dict[str, str]:
    """Return the cells that are texts, bounded, by their names."""
    joined = {name: _join(cell).strip() for name, cell in cells.items()}
    return {name: cut_text(text) for name, text in joined.items() if text}


def _join(cell: object) -> str:
    """Return the text of a cell: of the messages of a chat with their roles, of parts of a message."""
    if isinstance(cell, list):
        return "\n\n".join(filter(None, map(_join, cell)))
    if not isinstance(cell, dict):
        return cell if isinstance(cell, str) else ""
    said = _join(cell.get("content") or cell.get("text") or cell.get("reasoning"))
    return f"{cell['role']}: {said}" if said and isinstance(cell.get("role"), str) else said


def shorten_inspect_sample(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return input and output of a sample of Inspect as texts, as they are if they are texts already."""
    output = sample.get("output")
    if isinstance(output, dict):
        first = next(iter(as_list(output.get("choices"))), None)
        output = output.get("completion") or get_inner(first, "message", "content")
    return make_texts(input=sample.get("input"), output=output)


def read_inspect_texts(sample: Mapping[str, Any], explanation: object) -> dict[str, str]:
    """Return the texts of a sample of Inspect, with what a scorer explained."""
    said = shorten_inspect_sample(sample)
    given = {"prompt": said.get("input"), "response": said.get("output")}
    return make_texts(**given, expected=sample.get("target"), explanation=explanation)


def read_lm_eval_texts(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a row of lm-eval; of choices by likelihood, each continuation with its own."""
    requests = row.get("arguments")
    requests = list(requests.values()) if isinstance(requests, dict) else as_list(requests)
    arguments = [list(one.values()) if isinstance(one, dict) else as_list(one) for one in requests]
    prompt = arguments[0][0] if arguments and arguments[0] else None
    responses: list[str] = []
    for number, response in enumerate(as_list(row.get("resps"))):
        first = as_list(response)[0] if isinstance(response, list) and response else response
        first = first[0] if isinstance(first, list) and first else first
        if isinstance(first, str):
            responses += (one for one in as_list(response) if isinstance(one, str))
        elif isinstance(first, int | float) and number < len(arguments) and len(arguments[number]) > 1:
            responses.append(f"{arguments[number][1]}: log-likelihood {format_number(float(first))}")
    target = row.get("target")
    return make_texts(
        prompt=prompt,
        expected=target if isinstance(target, str | list) else str(target),
        response="\n".join(responses),
    )


def read_promptfoo_texts(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a result of promptfoo."""
    return make_texts(
        prompt=get_inner(row, "prompt", "raw"),
        response=get_inner(as_mapping(row.get("response")), "output"),
        explanation=get_inner(row, "gradingResult", "reason"),
    )

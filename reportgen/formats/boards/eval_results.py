"""Results of models on the Hugging Face Hub: ``.eval_results/NAME.yaml`` of a model's repository.

Source: https://huggingface.co/docs/hub/eval-results: a list of ``dataset: {id, task_id}``, ``value``, and
optional ``date``, ``source: {url, name}`` and ``notes``. The model is named by the folder around
``.eval_results``, a file elsewhere by its own name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.formats.decode import Decoder
from reportgen.formats.evaluations import scores
from reportgen.formats.files import get_stem
from reportgen.formats.json_files import as_list, as_mapping, as_word
from reportgen.formats.run_data import parse_yaml
from reportgen.formats.runs import Evaluation, UnreadableError
from reportgen.settings.yaml_tree import to_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.formats.runs import Unit

_FOLDER: Final = ".eval_results"
_LONGEST: Final = 1_000_000
_SCORE: Final = "score"


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield an evaluation for each result of a file."""
    path = unit.files[0]
    decoding = Decoder(path)
    tree, fault = parse_yaml(path, decoding.read_whole(_LONGEST))
    if tree is None:
        message, line = (fault.message, fault.location.line) if fault else ("it is empty", None)
        raise UnreadableError(path, message, line=line)
    folder = path.absolute().parent
    model = folder.parent.name if folder.name == _FOLDER else get_stem(path)
    found, messages = list[Evaluation](), list[str]()
    for entry in map(as_mapping, as_list(to_values(tree))):
        dataset, source = as_mapping(entry.get("dataset")), as_mapping(entry.get("source"))
        benchmark = as_word(dataset.get("task_id") or dataset.get("id"))
        total = scores.parse_total(_SCORE, entry.get("value"), messages)
        said = {"harness": entry.get("evaluation_framework"), "date": entry.get("date")}
        protocol = scores.build_protocol({**said, "reported by": source.get("name") or source.get("url")})
        if total is not None and benchmark:
            found.append(Evaluation(path, model, benchmark, protocol=protocol, totals=(total,)))
    if not found:
        raise UnreadableError(path, "no result has a dataset and a value", "Check that it is of the Hub")
    findings = (*scores.make_findings(path, messages), *decoding.list_findings())
    yield from scores.add_to_first(found, [*findings])

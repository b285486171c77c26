"""Results of MTEB, the Massive Text Embedding Benchmark: ``results/MODEL/REVISION/TASK.json``.

Schema: embeddings-benchmark/mteb, mteb/results/task_result.py: ``task_name``, ``mteb_version``, and
``scores`` with a list of subsets for each split, each with its ``main_score`` and ``hf_subset``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.formats.evaluations import scores
from reportgen.formats.files import get_stem
from reportgen.formats.json_files import as_list, as_mapping, as_word, read_json_object
from reportgen.formats.runs import Evaluation, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.formats.runs import Unit

_SCORE: Final = "main_score"
_DEFAULT: Final = "default"


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield an evaluation for each subset of a task; MODEL is the folder above that of the revision."""
    path = unit.files[0]
    document, findings = read_json_object(path)
    folder = path.absolute().parent
    task, messages = as_word(document.get("task_name")) or get_stem(path), list[str]()
    splits = as_mapping(document.get("scores"))
    protocol = scores.build_protocol({"harness": "MTEB", "version": document.get("mteb_version")})
    protocol |= {"revision": folder.name}
    found = list[Evaluation]()
    for split, subsets in splits.items():
        for entry in map(as_mapping, as_list(subsets)):
            subset = as_word(entry.get("hf_subset"))
            parts = [split] * (len(splits) > 1) + [subset] * (subset not in {"", _DEFAULT})
            benchmark = f"{task} ({', '.join(parts)})" if parts else task
            total = scores.parse_total(_SCORE, entry.get(_SCORE), messages)
            if total is not None:
                model = folder.parent.name.replace("__", "/")
                found.append(Evaluation(path, model, benchmark, protocol=protocol, totals=(total,)))
    if not found:
        raise UnreadableError(path, "no split in it has a main_score", "Check that it is of MTEB")
    yield from scores.add_to_first(found, [*findings, *scores.make_findings(path, messages)])

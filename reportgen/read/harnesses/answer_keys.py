"""Names under which evaluation scripts keep a problem, its gold answer, the responses and their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# The first of them that a record has counts. Compared in small letters, with - and spaces as _.
PROBLEM: Final = (
    *("problem_id", "question_id", "task_id", "example_id", "instance_id", "doc_id", "unique_id", "uid"),
    *("qid", "id", "idx", "index", "item_id", "problem_idx", "question_idx", "no", "number", "name"),
)
TEXT: Final = ("problem", "question", "prompt", "query", "input", "instruction")
GOLD: Final = (
    *("gold", "gold_answer", "gt", "gt_answer", "ground_truth", "ground_truth_answer", "groundtruth"),
    *("expected_answer", "expected", "reference", "reference_answer", "correct_answer", "final_answer"),
    *("answer", "target", "label"),
)
# Lists with an entry a sample.
RESPONSES: Final = (
    *("responses", "response", "generations", "generation", "generated_responses", "outputs", "output"),
    *("completions", "completion", "model_responses", "model_outputs", "model_output", "code", "codes"),
    *(
        "output_list",
        "code_list",
        "samples",
        "attempts",
        "rollouts",
        "solutions",
        "candidates",
        "results",
        "generated_text",
    ),
)
ANSWERS: Final = (
    *("preds", "pred", "predictions", "prediction", "extracted_answers", "extracted_answer", "extracted"),
    *("model_answers", "model_answer", "pred_answers", "pred_answer", "parsed_answers", "parsed_answer"),
    *("predicted_answers", "predicted_answer", "answers", "final_answers"),
)
SCORES: Final = (
    *("correct", "is_correct", "corrects", "correctness", "correctnesses", "is_corrects", "scores"),
    *(
        "score",
        "accs",
        "acc",
        "accuracy",
        "passed",
        "pass",
        "passes",
        "is_passed",
        "resolved",
        "rewards",
        "reward",
    ),
    *(
        "graded_list",
        "judgements",
        "judgments",
        "verdicts",
        "labels",
        "grades",
        "graded",
        "eval",
        "evals",
        "results",
    ),
)
TOKENS: Final = (
    *(
        "completion_tokens",
        "output_tokens",
        "num_tokens",
        "n_tokens",
        "tokens",
        "token_counts",
        "token_count",
    ),
    *("response_length", "response_lengths", "lengths", "num_output_tokens"),
)
SECONDS: Final = ("seconds", "latency", "latencies", "elapsed", "elapsed_seconds", "duration", "runtime")
SAMPLE: Final = (
    "sample",
    "sample_id",
    "sample_idx",
    "sample_index",
    "attempt",
    "epoch",
    "repeat",
    "trial",
    "run",
)
MODEL: Final = ("model", "model_name", "model_id", "model_name_or_path", "model_path")
BENCHMARK: Final = ("benchmark", "dataset", "dataset_name", "task", "task_name", "data_name", "data_source")
# Where a file is an object around its records.
RECORDS: Final = (
    *("results", "data", "problems", "questions", "examples", "records", "samples", "details", "outputs"),
    *("items", "entries", "instances"),
)


def normalize_key(key: str) -> str:
    """A key as it is compared."""
    return key.strip().lower().replace("-", "_").replace(" ", "_")


def pick_fields(record: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """What a record has of some names, in their order, by the name that it has itself."""
    own = {normalize_key(key): key for key in record}
    return {own[name]: record[own[name]] for name in names if name in own}

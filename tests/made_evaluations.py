"""Files as evaluation harnesses write them, built for tests, and what any reading of them has to give."""

from __future__ import annotations

import json
import struct
import sys
import zlib
from typing import TYPE_CHECKING, Any

if sys.version_info >= (3, 14):
    from compression.zstd import compress as packed_zstandard
else:
    import zstandard

    def packed_zstandard(data: bytes) -> bytes:
        """A Zstandard frame."""
        return zstandard.ZstdCompressor().compress(data)


if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
DATE = "2026-11-20T12-13-37.650199"


def write(path: Path, value: object) -> Path:
    """A JSON file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def write_lines(path: Path, rows: Sequence[object]) -> Path:
    """A JSON Lines file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def zipped(members: Mapping[str, bytes], method: int = DEFLATED, flags: int = 0) -> bytes:
    """A zip archive, byte by byte, since zipfile writes no Zstandard before Python 3.14.

    Args:
        members: content by name.
        method: how each is packed.
        flags: general purpose bits; 1 says that it is encrypted.
    """
    body, directory = b"", b""
    for name, content in members.items():
        packed = pack(content, method)
        sizes = (zlib.crc32(content), len(packed), len(content))
        own = name.encode()
        central = (b"PK\x01\x02", 20, 20, flags, method, 0, 33, *sizes, len(own), 0, 0, 0, 0, 0, len(body))
        directory += struct.pack("<4s6H3L5H2L", *central) + own
        body += struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, flags, method, 0, 33, *sizes, len(own), 0)
        body += own + packed
    count = len(members)
    return (
        body
        + directory
        + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(body), 0)
    )


def pack(content: bytes, method: int) -> bytes:
    """The content of a member as a method packs it."""
    if method == DEFLATED:
        compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
        return compressor.compress(content) + compressor.flush()
    return packed_zstandard(content) if method == ZSTANDARD else content


def lm_eval_results(**more: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever stands in a results file
    """A results file of lm-eval 0.4 with a task of two filters, a task of choices and their group."""
    generation = {"until": ["\n"], "do_sample": True, "temperature": 0.6, "max_gen_toks": 256}
    return {
        "results": {
            "sums": {
                "alias": "sums",
                "exact_match,strict-match": 0.25,
                "exact_match_stderr,strict-match": 0.25,
                "exact_match,flexible-extract": 0.5,
                "exact_match_stderr,flexible-extract": "N/A",
            },
            "choices": {"alias": "choices", "acc,none": 0.5, "acc_stderr,none": 0.5},
            "both": {"alias": "both", "acc,none": 0.5, "acc_stderr,none": 0.5},
            "heading": {"alias": "heading"},
        },
        "group_subtasks": {"both": ["sums", "choices"], "sums": []},
        "configs": {
            "sums": {
                "output_type": "generate_until",
                "repeats": 1,
                "num_fewshot": 5,
                "generation_kwargs": generation,
            }
        },
        "versions": {"sums": 3.0},
        "n-shot": {"sums": 5},
        "higher_is_better": {"sums": {"exact_match": True}},
        "n-samples": {"sums": {"original": 4, "effective": 4}, "choices": {"original": 9, "effective": 2}},
        "config": {
            "model": "hf",
            "model_args": "pretrained=org/base,dtype=bfloat16",
            "gen_kwargs": {"top_p": 0.9},
            "limit": None,
            "random_seed": 7,
        },
        "lm_eval_version": "0.4.13",
        "date": 1795176815.6,
        "chat_template": "{{ messages }}",
        "model_source": "hf",
        "model_name": "org/base",
        **more,
    }


def lm_eval_rows(right: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """Answers of lm-eval: a row a document and filter, for filters with scores by document."""
    return [
        {
            "doc_id": place,
            "doc": {"question": f"{place}+{place}?", "answer": str(2 * place), "subject": "ab"[place % 2]},
            "target": str(2 * place),
            "arguments": {},
            "resps": [[f"It is {2 * place}"]],
            "filtered_resps": [str(2 * place) if score else "[invalid]"],
            "filter": chosen,
            "metrics": ["exact_match"],
            "doc_hash": f"hash{place}",
            "exact_match": score,
        }
        for place in range(max(map(len, right.values())))
        for chosen, scores_ in right.items()
        for score in [scores_[place]]
    ]

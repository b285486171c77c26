"""Seeds, labels for series and differing settings, from the names, paths and settings of runs."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import compress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.core.directions import guess_direction
from reportgen.core.score_names import describes_model
from reportgen.formats.files import strip_compression
from reportgen.formats.layout import ROLE_NAMES, STATE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reportgen.formats.cells import Text
    from reportgen.formats.runs import Setting
    from reportgen.read.runs.stored import StoredRun


_BETWEEN: Final = r"\s/_\-.,;:=+()\[\]"
# ``Seed-1.5`` is the name of a model.
_SEED: Final = re.compile(
    rf"(?<![^{_BETWEEN}])seed[\s_\-=:.#]*(?P<seed>\d+)(?![^{_BETWEEN}]|\.\d)", re.IGNORECASE
)
# ``s3`` may also name a model, a stage or a store, so it counts only where something else says so.
_SHORT_SEED: Final = re.compile(rf"(?<![^{_BETWEEN}])s(?P<seed>\d+)(?=/|$)", re.IGNORECASE)
_BEHIND: Final = re.compile(r"[\s/_\-.,;:=+]+$")
_BEFORE: Final = re.compile(r"^[\s/_\-.,;:=+]+")
_FILE: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]*")
# Generated names: W&B's folder of a run, from its start and id, and MLflow's id of an experiment.
_MADE: Final = re.compile(r"(offline-)?run-\d{8}_\d{6}-.+|\d{15,}")
# Keys of a seed, the best first; in a nested configuration they follow a dot.
_SEEDS: Final = (
    *("seed", "random_seed", "rng_seed", "manual_seed", "global_seed", "seed_everything"),
    *("train_seed", "training_seed"),
)
# Texts for a missing value, and truth values.
_BARE: Final = frozenset(("", "none", "null", "nan", "true", "false"))
_NUMBER: Final = re.compile(r"[0-9.]+(e[+-]?[0-9]+)?")
# Columns of tables of runs and answers that describe these: they are no settings of an experiment.
_METADATA: Final = frozenset(
    (
        *("state", "status", "notes", "remark", "remarks", "user", "username", "author", "owner", "creator"),
        *("finish_reason", "stop_reason", "error", "message", "path", "file", "file_name", "filename"),
        *("description", "descriptions", "hash", "sha", "revision", "branch", "job_type", "job", "label"),
        *("machine", "node", "cluster", "server", "day", "index", "idx", "number", "fold", "trial"),
        *("repeat", "repetition", "replicate", "attempt"),
    )
)
# What counts these, as ``run_number``.
_COUNTER: Final = re.compile(
    r"(run|trial|fold|repeat|attempt|job)_?(number|num|no|nr|index|idx)|job|index|idx"
)
# Settings that loggers write as metrics, too.
_LOGGED_SETTING: Final = re.compile(r"(.*[^a-z])?(lr|learning[_ -]?rate|temperature)", re.IGNORECASE)
# Fields of a run, which count if no setting has such a name.
_RUN_FIELDS: Final = ("name", "folder", "group", "id", "model", "benchmark")
# Ways to distinguish runs, the simplest first, and their keys in ``series_from``.
SCHEMES: Final = {
    "their names": ("name",),
    "their folders": ("folder",),
    "folders and names": ("folder", "name"),
    "groups and names": ("group", "name"),
}
_NAMES: Final = frozenset(("name", "folder"))
_PLACES: Final = _NAMES | {"group"}
_MOST_KEYS: Final = 3
_LONGEST: Final = 60
# Settings that tools write of one start of a run, and that do not affect its values.
_INCIDENTAL: Final = frozenset(
    (
        # Transformers
        *("logging_steps", "save_steps", "run_name", "hub_model_id", "report_to", "resume_from_checkpoint"),
        # Lightning, PyTorch's examples, CleanRL, Stable-Baselines3
        *("log_every_n_steps", "gpus", "gpu", "num_workers", "workers", "resume", "print_freq", "verbose"),
        *("exp_name", "track", "capture_video", "cuda", "device", "devices", "tensorboard_log", "log_freq"),
        # MMEngine, nanoGPT, verl
        *("gpu_ids", "resume_from", "log_interval", "save_interval", "experiment_name", "project_name"),
        *("rollout_data_dir", "validation_data_dir"),
        # Ray Tune, torchrun, Slurm, CUDA
        *("trial_id", "trial_name", "experiment_id", "hostname", "host", "node_ip", "pid", "port"),
        *("local_rank", "global_rank", "node_rank", "rank", "master_addr", "master_port", "job_id"),
        *("job_name", "visible_devices"),
        # MLflow, W&B, Neptune
        *("id", "run_id", "run_uuid", "tags", "artifact_uri", "url", "resumed", "comment", "notes"),
        *("commit", "created", "created_at", "creation_time", "start_time", "end_time"),
        *("date", "time", "datetime", "timestamp", "display_name"),
    )
)
# Folders into which these write.
_OUTPUT: Final = re.compile(
    r"(output|out|log|logging|save|results?|work|run|exp|experiment|checkpoints?|ckpt|default_root"
    r"|(default_)?local)_?(dir|folder|path)"
)
# Sections, prefixes, switches and ids of loggers and launchers.
_LOGGERS: Final = re.compile(r"([a-z]*_)?(wandb|swanlab|mlflow|hydra|slurm|git)(_\w+)?|u?uid")
_PARTS: Final = re.compile(r"[./]")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T _-]\d\d[-:.]?\d\d([-:.]?\d\d)?|\d{8}[-_]\d{6}")


@lru_cache(4096)
def split_seed(label: str, known: str | None = None) -> tuple[str, str | None]:
    """Split off the last seed of a label: ``seed_3``, ``-seed=3``; ``s3`` if 3 is known to be the seed."""
    short = [match for match in _SHORT_SEED.finditer(label) if known == str(int(match["seed"]))]
    found = list(_SEED.finditer(label)) or short
    if not found:
        return label, None
    before, after = label[: found[-1].start()], label[found[-1].end() :]
    if before.endswith(("(", "[")) and after.startswith((")", "]")):
        before, after = before[:-1], after[1:]
    left, right = _BEHIND.sub("", before), _BEFORE.sub("", after)
    trimmed = before[len(left) :] + after[: len(after) - len(right)]
    between = ("/" if "/" in trimmed else trimmed[:1]) if left and right else ""
    return left + between + right, str(int(found[-1]["seed"]))


def find_named_seed(text: str) -> str | None:
    """Return the seed in a name that is known to have one, also as ``s3``; None if there is none."""
    found = list(_SEED.finditer(text)) or list(_SHORT_SEED.finditer(text))
    return str(int(found[-1]["seed"])) if found else None


def shorten_paths(paths: Iterable[str]) -> list[str]:
    """Return the part of each path that distinguishes it, without a file's suffix; empty for one path."""
    named = map(PurePosixPath, paths)
    split = [path.with_name(strip_compression(path)) if path.name else path for path in named]
    parts = [(*path.parts[:-1], path.stem) if _FILE.fullmatch(path.suffix) else path.parts for path in split]
    if len(set(parts)) < 2:  # noqa: PLR2004 - one path
        return [""] * len(parts)
    while all(parts) and len({path[0] for path in parts}) == 1:
        parts = [path[1:] for path in parts]
    while all(parts) and len({path[-1] for path in parts}) == 1:
        parts = [path[:-1] for path in parts]
    if len({len(path) for path in parts}) == 1:
        columns = [column for column in zip(*parts, strict=True) if len(set(column)) > 1]
        parts = list(zip(*columns, strict=True))
    return ["/".join(path) for path in parts]


class Candidate(Struct, frozen=True):
    """A run and the texts that can name it."""

    run: StoredRun
    labels: Mapping[str, Text]  # the named groups of ``files:``
    path: str  # below the source
    folder: str  # the part of the path that distinguishes it from other runs

    @property
    def plain_path(self) -> str:
        """Path without the parts that a logger made from ids or start times."""
        id_ = self.run.id
        made = {id_, f"run-{id_}", f"run-{id_}.wandb", f"{id_}_part_0.parquet"} if id_ else set()
        parts = PurePosixPath(self.path).parts
        return "/".join(part for part in parts if part not in made and not _MADE.fullmatch(part))


def find_config_seed(config: Mapping[str, Setting]) -> str | None:
    """Return the seed in a configuration, or None if there is none or several differ."""
    names = [key.casefold() for key in config]
    for known in _SEEDS:
        matching = [name == known for name in names]
        if not any(matching):
            matching = [name.rpartition(".")[2] == known for name in names]
        seeds = {parse_seed(_format_setting(value)) for value in compress(config.values(), matching)} - {None}
        if seeds:
            return seeds.pop() if len(seeds) == 1 else None
    return None


def parse_seed(text: str | None) -> str | None:
    """Return a text as a seed, or None if it means no seed, as ``None`` and ``false`` do."""
    return None if text is None or text.strip().casefold() in _BARE else text


def find_seeds(candidate: Candidate) -> tuple[str | None, str | None]:
    """Return the seeds in a run's data or configuration, and in its name or path."""
    run = candidate.run
    configured = parse_seed(run.seed) or find_config_seed(run.config)
    return configured, split_seed(run.name)[1] or split_seed(candidate.path)[1]


def get_value(candidate: Candidate, name: str) -> str | None:
    """Return a run's value under a name, a group of ``files:``, setting, protocol key or field, or None."""
    return _look_up(candidate, name)[0]


def _look_up(candidate: Candidate, name: str) -> tuple[str | None, bool]:
    """Return a run's value under a name, and whether it explains itself, unlike numbers and ``true``."""
    run = candidate.run
    if name in candidate.labels:
        return candidate.labels[name], True
    keys = [name] if name in run.config else []
    if not keys and name not in _RUN_FIELDS:
        keys = [key for key in run.config if key.endswith(f".{name}")]
    if len(keys) == 1:
        setting = run.config[keys[0]]
        text = _format_setting(setting)
        return text, isinstance(setting, str) and text.casefold() not in _BARE
    if name in _RUN_FIELDS:
        return (candidate.folder if name == "folder" else getattr(run, name)) or None, True
    text = run.protocol.get(name, "")
    return run.protocol.get(name), text.casefold() not in _BARE and not _NUMBER.fullmatch(text)


def list_value_names(candidates: Iterable[Candidate]) -> list[str]:
    """Return the names of values that can name runs, those with different values first."""
    values: dict[str, set[str | None]] = {}
    for candidate in candidates:
        for name in (*candidate.labels, *_RUN_FIELDS, *candidate.run.config, *candidate.run.protocol):
            values.setdefault(name, set()).add(get_value(candidate, name))
    known = [name for name, found in values.items() if found != {None}]
    return sorted(known, key=lambda name: len(values[name]) < 2)  # noqa: PLR2004 - all equal


def list_settings(candidate: Candidate) -> dict[str, str]:
    """Return everything that is known of how a run was made, by name, as texts."""
    run = candidate.run
    fields = {
        name: (candidate.folder if name == "folder" else getattr(run, name)) or None for name in _RUN_FIELDS
    }
    known = {**run.protocol, **{name: _format_setting(value) for name, value in run.config.items()}}
    return {name: text for name, text in {**fields, **known, **candidate.labels}.items() if text is not None}


def _format_setting(value: Setting) -> str:
    """Return a setting as a text, whole numbers without a point."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}" if abs(value) < 1e15 else repr(value)  # noqa: PLR2004 - exact
    return str(value)


class Differences(Struct, frozen=True):
    """Settings that differ between runs, except seeds, paths and names."""

    keys: tuple[str, ...]  # also those of protocols
    values: tuple[tuple[str | None, ...] | None, ...]  # of each run, None if no setting of it is known

    def is_repeated(self, indices: Iterable[int]) -> bool:
        """Return whether these runs have the same settings, as far as they are known."""
        return len({self.values[index] for index in indices} - {None}) < 2  # noqa: PLR2004 - all equal

    def list_differing(self) -> list[str]:
        """Return the settings that differ between the runs with known settings."""
        known = [values for values in self.values if values is not None]
        return [key for key, *several in zip(self.keys, *known, strict=True) if len(set(several)) > 1]

    def choose_keys(self, labels: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the fewest settings, three at most, that distinguish the experiments of one label.

        Long texts are excluded; there are none if these do not suffice. Without labels all runs share one.
        """
        labels = labels or [""] * len(self.values)
        rows = [values or (None,) * len(self.keys) for values in self.values]

        def count_classes(indices: Sequence[int]) -> int:
            pairs = zip(labels, rows, strict=True)
            return len({(label, *(row[index] for index in indices)) for label, row in pairs})

        free = [
            index for index in range(len(self.keys)) if all(len(row[index] or "") <= _LONGEST for row in rows)
        ]
        target = count_classes(range(len(self.keys)))
        chosen: list[int] = []
        while count_classes(chosen) < target and len(chosen) < _MOST_KEYS and free:
            chosen.append(max(free, key=lambda index: count_classes([*chosen, index])))
            free.remove(chosen[-1])
        return tuple(self.keys[index] for index in chosen) if count_classes(chosen) == target else ()


def find_differences(candidates: Sequence[Candidate]) -> Differences:
    """Find the settings of runs, and protocols of evaluations, that differ in more than seeds.

    A seed, a time, and the name or id of the run are removed from texts before they are compared.
    """
    settings = [{**one.run.protocol, **one.run.config} for one in candidates]
    is_known = [bool(one) for one in settings]
    columns: dict[str, list[str | None]] = {}
    for key in filter(_may_define, dict.fromkeys(key for one in settings for key in one)):
        cells = [one.get(key) for one in settings]
        if len(set(compress(cells, is_known))) > 1:
            texts = [None if cell is None else _format_setting(cell) for cell in cells]
            for index, candidate in enumerate(candidates):
                text = texts[index]
                if text is None or not isinstance(cells[index], str):
                    continue
                for own in (candidate.run.id, candidate.run.name):
                    # A name alone may be a method; an id may be ``1``, which is not part of ``v12``.
                    if own and own != cells[index] and own in text:
                        text = re.sub(rf"(?<![^\W_]){re.escape(own)}(?![^\W_])", "", text)
                texts[index] = split_seed(_TIME.sub("", text))[0]
            if len(set(compress(texts, is_known))) > 1:
                columns[key] = texts
    rows = [tuple(column[index] for column in columns.values()) for index in range(len(candidates))]
    values = tuple(row if known else None for row, known in zip(rows, is_known, strict=True))
    return Differences(tuple(columns), values)


def _may_define(key: str) -> bool:
    return is_experiment_setting(key) and not _COUNTER.fullmatch(_split_name(key)[-1])


def is_experiment_setting(key: str) -> bool:
    """Return whether a setting of this name may define an experiment, not only a start of one."""
    parts = _split_name(key)
    is_own = any(part in _INCIDENTAL or _OUTPUT.fullmatch(part) or _LOGGERS.fullmatch(part) for part in parts)
    return not (is_own or "seed" in key.casefold() or parts == ["name"])


def _split_name(name: str) -> list[str]:
    """Return the parts of a nested name in small letters, with underscores."""
    return [part.strip().replace(" ", "_") for part in _PARTS.split(name.casefold())]


def is_comparable(column: str) -> bool:
    """Return whether a column with one name in each run may be compared, unlike a place or a time."""
    name = column.strip()
    named = name.casefold().startswith(("exp", "group"))
    return (named or is_experiment_setting(name)) and name.casefold() not in ROLE_NAMES["run"]


def is_metadata(column: str) -> bool:
    """Return whether a column describes or counts runs, and is no setting of an experiment."""
    name = column.strip().casefold().replace(" ", "_")
    return name in _METADATA or _COUNTER.fullmatch(name) is not None


def find_states(columns: Iterable[str]) -> list[str]:
    """Return the columns that say how runs ended."""
    return [name for name in columns if _split_name(name)[-1] in STATE_NAMES]


def is_setting_text(name: str) -> bool:
    """Return whether words of this name may be a setting of an experiment, and no metadata of its runs."""
    return is_comparable(name) and not is_metadata(name)


def is_setting_number(name: str) -> bool:
    """Return whether a number of this name is a setting, and neither a result nor a size or a time."""
    is_role = any(name.strip().casefold() in names for names in ROLE_NAMES.values())
    is_measured = guess_direction(name) is not None and not _LOGGED_SETTING.fullmatch(name.strip())
    return is_setting_text(name) and not (is_role or is_measured or describes_model(name))


def join_labels(
    candidates: Sequence[Candidate],
    keys: Sequence[str],
    seeds: Sequence[str | None],
    source: str,
    folders: Sequence[str] = (),
) -> tuple[tuple[str | None, ...], bool]:
    """Join the values of each run under keys of ``series_from``.

    Return also whether a name was split by guess, at a seed that is not the one in ``seeds``. A number
    follows its name. Folders have no ids unless nothing else differs, and a run without its only text has
    another. A run that is called by its seed alone has the label of the source.
    """
    if not folders:
        plain = shorten_paths(one.plain_path for one in candidates)
        folders = plain if any(plain) else [one.folder for one in candidates]
    between, is_split = " " if set(keys) <= _PLACES else ", ", False
    are_distinct = len(set(seeds)) > 1  # a single ``s1`` is as often a model or stage
    labels = []
    for one, folder, seed in zip(candidates, folders, seeds, strict=True):
        parts = []
        for key in keys:
            value, is_word = _look_up(one, key)
            if key in _NAMES:
                other = one.folder if key == "name" else one.run.name
                text = (folder if key == "folder" else value) or (other if len(keys) == 1 else "")
                value, found = split_seed(text, seed if are_distinct else None)
                is_word, is_split = is_word or key == "folder", is_split or found not in {None, seed}
            if value:
                parts.append(value if is_word else f"{key}={value}")
        labels.append(between.join(parts) or (None if _NAMES.isdisjoint(keys) else source))
    return tuple(labels), is_split

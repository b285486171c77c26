"""Each example of the guide's formulas is recomputed with NumPy and SciPy alone, and is what is printed."""

from __future__ import annotations

import hashlib
import json
import math
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest
from command_line import call
from made_projects import write_report
from scipy import stats
from scipy.optimize import brentq
from scipy.special import comb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

# A value, and the ends of its interval if it has one; a name is a fact or a field of report.json.
Results: TypeAlias = "dict[str, tuple[float, ...]]"
# Rows by series and run; a cell is a score or a number of right samples and one of samples.
Data: TypeAlias = "dict[str, list[str]]"

GUIDE = Path(__file__).parents[1] / "content/guide"
PAGES = [(GUIDE / f"formulas{more}.md").read_text(encoding="utf-8") for more in ("", "-scores", "-pairs")]
LINE = re.compile(r"(.+?) = ([−\d.]+)(?: \[([−\d.]+), ([−\d.]+)\])?")


def read_examples() -> dict[str, tuple[Data, dict[str, tuple[str, ...]]]]:
    """The data and the stated results of each section; without data of its own, it is about those above."""
    examples, data = {}, {}
    for section in re.split(r"^## ", "".join(PAGES), flags=re.MULTILINE)[1:]:
        fences = re.findall(r"^```text\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        if len(fences) > 1:
            data = {words[0]: words[1:] for words in map(str.split, fences[0].splitlines())}
        if fences:
            found = [LINE.fullmatch(line) for line in fences[-1].splitlines()]
            stated = {one[1]: tuple(filter(None, one.groups()[1:])) for one in found if one}
            assert len(stated) == len(found), fences[-1]
            examples[section.partition("\n")[0]] = data, stated
    return examples


def read_cell(cell: str) -> Array:
    """The scores of a problem's samples."""
    right, _, samples = cell.partition("/")
    count = int(samples or 1)
    return np.array([1.0] * int(right) + [0.0] * (count - int(right)) if samples else [float(cell)])


def read_row(row: list[str]) -> Array:
    """The value of each problem, or of each run."""
    return np.array([read_cell(cell).mean() for cell in row])


def read_runs(data: Data, series: str) -> Array:
    """The values of a series' runs, one row each."""
    return np.array([read_row(row) for name, row in data.items() if name.partition(".")[0] == series])


def t_interval(centre: float, stderr: float, df: float, level: float = 0.95) -> tuple[float, float, float]:
    """Centre and ends of an interval of Student's t."""
    half = stats.t.ppf((1 + level) / 2, df) * stderr
    return centre, centre - half, centre + half


def logit_interval(share: float, stderr: float, df: float, level: float = 0.95) -> tuple[float, float, float]:
    """The same on the logit scale."""
    half = stats.t.ppf((1 + level) / 2, df) * stderr / (share * (1 - share))
    middle = math.log(share / (1 - share))
    return share, 1 / (1 + math.exp(half - middle)), 1 / (1 + math.exp(-half - middle))


def p_of_t(t: float, df: float) -> float:
    """Both tails."""
    return float(2 * stats.t.sf(abs(t), df))


def welch(a: Array, b: Array) -> tuple[float, float, float]:
    """Difference, standard error and degrees of freedom."""
    parts = [side.var(ddof=1) / side.size for side in (a, b)]
    df = sum(parts) ** 2 / sum(part**2 / (side.size - 1) for part, side in zip(parts, (a, b), strict=True))
    return a.mean() - b.mean(), math.sqrt(sum(parts)), df


def holm(p: list[float]) -> list[float]:
    """The smallest p times their number, the next times one less, none below the one before."""
    order, adjusted, largest = np.argsort(p), [0.0] * len(p), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = largest
    return adjusted


def mean_over_runs(data: Data) -> Results:
    """Student's t over runs."""
    values = {name: read_row(row) for name, row in data.items()}
    finals = {
        f"final({name})": t_interval(own.mean(), own.std(ddof=1) / math.sqrt(own.size), own.size - 1)
        for name, own in values.items()
    }
    return {**finals, "sd(C)": (values["C"].std(ddof=1),)}


def two_series(data: Data) -> Results:
    """Welch's t, adjusted by Holm."""
    a, b, c = (read_row(data[name]) for name in "ABC")
    tests = [welch(*pair) for pair in ((a, b), (a, c), (b, c))]
    adjusted = holm([p_of_t(d / stderr, df) for d, stderr, df in tests])
    names = ("p_value(A, B)", "p_value(A, C)", "p_value(B, C)")
    return {"gap(A, B, 0)": t_interval(*tests[0]), **{n: (p,) for n, p in zip(names, adjusted, strict=True)}}


def equal_within_a_margin(data: Data) -> Results:
    """The interval of two one-sided tests."""
    tested = welch(read_row(data["B"]), read_row(data["C"]))
    return {"equivalent(B, C)": t_interval(*tested, level=0.9)}


def who_leads(data: Data) -> Results:
    """The larger p of the leader's two pairs, with one variance."""
    values = [read_row(data[name]) for name in "ABC"]
    df = sum(own.size - 1 for own in values)
    variance = sum(own.var(ddof=1) * (own.size - 1) for own in values) / df
    first, *others = values
    p = [
        p_of_t((first.mean() - own.mean()) / math.sqrt(variance * (1 / first.size + 1 / own.size)), df)
        for own in others
    ]
    return {"lead(A)": (max(p),)}


def whole_curves(data: Data) -> Results:
    """Student's t at a level by Bonferroni."""
    runs = read_runs(data, "A")
    count, steps = runs.shape
    last = runs[:, -1]
    stderr = last.std(ddof=1) / math.sqrt(count)
    return {"last(A)": t_interval(last.mean(), stderr, count - 1, level=1 - 0.05 / steps)}


def observations(data: Data) -> Results:
    """Of a change from the first to the last fifth."""
    runs = read_runs(data, "A")
    changes = [runs[:, -1] - runs[:, part] for part in range(4)]
    p = holm([float(stats.ttest_1samp(change, 0).pvalue) for change in changes])
    rise = changes[0]
    estimate = t_interval(rise.mean(), rise.std(ddof=1) / math.sqrt(rise.size), rise.size - 1)
    return {"rise(A)": estimate, "adjusted_p(A)": (p[0],)}


def like_these(values: Array) -> tuple[float, float, float]:
    """The interval of a mean over problems, for scores of 0 to 1."""
    count, centre, stderr = values.size, values.mean(), values.std(ddof=1) / math.sqrt(values.size)
    if set(values) == {0.0, 1.0}:
        wilson = stats.binomtest(int(values.sum()), count).proportion_ci(method="wilson")
        return centre, wilson.low, wilson.high
    unseen = 1 - 0.025 ** (1 / count)
    least, most = centre - unseen * centre, centre + unseen * (1 - centre)
    if not stderr:
        return centre, least, most
    _, low, high = logit_interval(centre, stderr, count - 1)
    if 2 * np.count_nonzero(values >= 0.995) < count:
        return centre, low, high
    if centre - low <= 2 * (centre - least):
        high = logit_interval(centre, stderr, count - 1, level=0.9)[2]
    return centre, min(low, least), max(high, most)


def metrics(data: Data) -> Results:
    """Right samples of samples."""
    counts = np.array([[int(number) for number in cell.split("/")] for cell in data["A"]])
    right, n = counts[:, 0], counts[:, 1]
    return {
        "mean(A)": like_these(right / n),
        "pass@2(A)": like_these(1 - comb(n - right, 2) / comb(n, 2)),
        "pass^2(A)": like_these(comb(right, 2) / comb(n, 2)),
    }


def problems_like_these(data: Data) -> Results:
    """One sample each, all equal, and most at the end."""
    return {f"score({name})": like_these(read_row(row)) for name, row in data.items()}


def split_variance(runs: Array) -> tuple[float, float, float]:
    """τ²/r, its degrees of freedom, and M/P."""
    r, problems = runs.shape
    rest = runs - runs.mean(axis=1)[:, np.newaxis] - runs.mean(axis=0) + runs.mean()
    residual = (rest**2).sum() / ((r - 1) * (problems - 1)) / problems
    between = runs.mean(axis=1).var(ddof=1)
    excess = max(0.0, between - residual)
    return excess / r, (r - 1) * (excess / between) ** 2, residual


def add_up(*parts: tuple[float, float]) -> tuple[float, float]:
    """Standard error and Satterthwaite's degrees of freedom."""
    total = sum(part for part, _ in parts)
    return math.sqrt(total), total**2 / sum(part**2 / df for part, df in parts if part)


def several_runs(data: Data) -> Results:
    """What runs add, with degrees of freedom by Satterthwaite."""
    runs = read_runs(data, "A")
    problems = runs.mean(axis=0)
    of_runs, freedom, _ = split_variance(runs)
    stderr, df = add_up((problems.var(ddof=1) / problems.size, problems.size - 1), (of_runs, freedom))
    return {
        "score(A)": logit_interval(problems.mean(), stderr, df),
        "stderr(A)": (stderr,),
        "run_stderr(A)": (math.sqrt(of_runs),),
        "between_runs(A)": (runs.mean(axis=1).std(ddof=1),),
    }


def clusters(data: Data) -> Results:
    """CR2, with matrices."""
    values, labels = read_row(data["A"]), np.array(data["cluster"])
    member = (labels[:, np.newaxis] == np.unique(labels)).astype(float)  # problems by clusters
    sizes, count = member.sum(axis=0), values.size
    rest = values - values.mean()
    sums = rest @ member
    stderr = math.sqrt(np.sum(sums**2 / (1 - sizes / count))) / count
    groups = sizes.size
    between = np.sum(sums**2 / sizes) / (groups - 1)
    within = (np.sum(rest**2) - np.sum(sums**2 / sizes)) / (count - groups)
    excess = max(0.0, between - within) / ((count - np.sum(sizes**2) / count) / (groups - 1))
    rho = excess / (excess + within)
    correlation = np.eye(count) * (1 - rho) + member @ member.T * rho
    residual = np.eye(count) - 1 / count
    terms = (member / np.sqrt(1 - sizes / count)).T @ residual
    covariance = terms @ correlation @ terms.T
    df = np.trace(covariance) ** 2 / np.trace(covariance @ covariance)
    return {"score(A)": logit_interval(values.mean(), stderr, df), "stderr(A)": (stderr,)}


def these_problems(data: Data) -> Results:
    """Sampling alone."""
    cells = [read_cell(cell) for cell in data["A"]]
    noise = np.array([cell.var(ddof=1) / cell.size for cell in cells])
    df = noise.sum() ** 2 / np.sum(noise**2 / 3)
    stderr = math.sqrt(noise.sum()) / noise.size
    return {
        "score(A)": t_interval(np.mean([cell.mean() for cell in cells]), stderr, df),
        "stderr(A)": (stderr,),
    }


def average_of_benchmarks(data: Data) -> Results:
    """Distances to the ends, squared and added."""
    scores = [like_these(read_row(row)) for row in data.values()]
    centre = sum(score for score, _, _ in scores) / 2
    below = math.hypot(*(score - low for score, low, _ in scores)) / 2
    above = math.hypot(*(high - score for score, _, high in scores)) / 2
    return {"average(A)": (centre, centre - below, centre + above)}


PAIRS = (("A", "B"), ("A", "C"), ("B", "C"))


def list_differences(data: Data) -> list[Array]:
    """Problem by problem."""
    return [read_row(data[a]) - read_row(data[b]) for a, b in PAIRS]


def list_signs(count: int) -> Array:
    """All choices of signs."""
    return np.array(list(product((1.0, -1.0), repeat=count)))


def draw_signs(count: int) -> Array:
    """20,000 choices of signs: of each problem, whose name is its place here, bits of a hash."""
    digests = [hashlib.shake_256(f"0\0{place}".encode()).digest(2500) for place in range(count)]
    return np.array([np.unpackbits(np.frombuffer(one, np.uint8)) for one in digests]).T * 2.0 - 1


def paired_difference(data: Data) -> Results:
    """By t, and by all choices of signs."""
    differences = list_differences(data)
    own = differences[0]
    stderr = own.std(ddof=1) / math.sqrt(own.size)
    found: Results = {
        "difference(A, B)": t_interval(own.mean(), stderr, own.size - 1),
        "stderr(A, B)": (stderr,),
    }
    for (a, b), own in zip(PAIRS, differences, strict=True):
        means = np.abs(list_signs(own.size) @ own)
        found[f"p({a}, {b})"] = (float(np.mean(means >= abs(own.sum()) - 1e-9)),)
    return found


def step_down(seen: list[float], drawn: list[Array]) -> list[float]:
    """Adjust by the largest of the statistics that are not larger than each."""
    order, adjusted, before = np.argsort(seen)[::-1], [0.0] * len(seen), 0.0
    for rank, place in enumerate(order):
        largest = np.max([drawn[other] for other in order[rank:]], axis=0)
        reaching = np.sum(largest >= seen[place] * (1 - 1e-9))
        before = adjusted[place] = max(before, float((1 + reaching) / (1 + largest.size)))
    return adjusted


def all_pairs(data: Data) -> Results:
    """One choice of signs for all pairs."""
    differences = list_differences(data)
    scales = [math.sqrt(np.sum(own**2)) for own in differences]
    signs = draw_signs(differences[0].size)
    seen = [abs(own.sum()) / scale for own, scale in zip(differences, scales, strict=True)]
    drawn = [np.abs(signs @ own) / scale for own, scale in zip(differences, scales, strict=True)]
    alone = paired_difference(data)
    return {
        f"p_value({a}, {b})": (max(p, *alone[f"p({a}, {b})"]),)
        for (a, b), p in zip(PAIRS, step_down(seen, drawn), strict=True)
    }


def pairs_with_runs(data: Data) -> Results:
    """What runs of both sides add."""
    runs = {name: read_runs(data, name) for name in "ABC"}
    parts = {name: split_variance(own) for name, own in runs.items() if len(own) > 1}
    own = runs["A"].mean(axis=0) - runs["B"].mean(axis=0)
    of_runs = parts["A"][0] + parts["B"][0]
    stderr, df = add_up((own.var(ddof=1) / own.size, own.size - 1), parts["A"][:2], parts["B"][:2])
    estimate = t_interval(own.mean(), stderr, df)
    return {
        "difference(A, B)": estimate,
        "run_stderr(A, B)": (math.sqrt(of_runs),),
        "df(A, B)": (df,),
        "p(A, B)": (p_of_t(own.mean() / stderr, df),),
        **compare_with_one_run(runs["A"], runs["C"]),
        **adjust_with_runs(runs, parts),
    }


def compare_with_one_run(several: Array, one: Array) -> Results:
    """The single run is taken to vary as the others do."""
    own = several.mean(axis=0) - one.mean(axis=0)
    between = several.mean(axis=1).var(ddof=1)
    of_runs = between * (1 + 1 / len(several)), len(several) - 1
    stderr, df = add_up((own.var(ddof=1) / own.size, own.size - 1), of_runs)
    return {"run_stderr(A, C)": (math.sqrt(of_runs[0]),), "p(A, C)": (p_of_t(own.mean() / stderr, df),)}


def adjust_with_runs(runs: Mapping[str, Array], parts: Mapping[str, tuple[float, ...]]) -> Results:
    """Draws of our own: p agrees but for their chance."""
    between = {name: runs[name].mean(axis=1).var(ddof=1) for name in parts}
    middle = np.median([one / (1 - 2 / (9 * (len(runs[name]) - 1))) ** 3 for name, one in between.items()])
    raised = {name: max(one, (one + middle) / 2) for name, one in between.items()}
    random, draws = np.random.default_rng(1), 200_000
    count = runs["A"].shape[1]
    signs = random.choice([-1.0, 1.0], size=(draws, count))
    shocks = {name: random.standard_t(2 * (len(runs[name]) - 1), draws) for name in raised}
    shocks["C"] = random.standard_t(2, draws)
    seen, drawn, stderrs = [], [], []
    for a, b in PAIRS:
        own = runs[a].mean(axis=0) - runs[b].mean(axis=0)
        # The single run of C is taken to vary as the runs of the other side do.
        sides = []
        for name, other in ((a, b), (b, a)):
            known = name if name in raised else other
            excess = raised[known] - (0.0 if "C" in {a, b} else parts[known][2])
            sides.append((name, max(0.0, excess) / len(runs[name]), 2 * (len(runs[known]) - 1)))
        q = np.sum(own**2) / count**2
        total = q + sum(part for _, part, _ in sides)
        df = total**2 / sum(part**2 / freedom for _, part, freedom in sides if part)
        moved = signs @ own / count
        for sign, (name, part, _) in zip((1, -1), sides, strict=True):
            moved = moved + sign * math.sqrt(part) * shocks[name]
        factor = (8 * df + 1) / (8 * df + 3)
        scale = [factor * np.sqrt(df * np.log1p(d**2 / total / df)) for d in (own.mean(), moved)]
        seen.append(float(scale[0]))
        drawn.append(np.asarray(scale[1]))
        stderrs.append(math.sqrt(total - own.mean() ** 2 / count))
    return {"family_stderr(A, B)": (stderrs[0],), "p_value(A, B)": (step_down(seen, drawn)[0],)}


def false_discovery_rate(data: Data) -> Results:
    """By SciPy, of the pairs' own p."""
    alone = paired_difference(data)
    names = [f"({a}, {b})" for a, b in PAIRS]
    adjusted = stats.false_discovery_control([alone[f"p{pair}"][0] for pair in names])
    return {f"fdr{pair}": (float(p),) for pair, p in zip(names, adjusted, strict=True)}


def sources_of_noise(data: Data) -> Results:
    """Sampling from the cells, runs as above, and the rest."""
    runs = {name: read_runs(data, name) for name in "AB"}
    own = runs["A"].mean(axis=0) - runs["B"].mean(axis=0)
    cells = [[read_cell(cell) for cell in row] for row in data.values()]
    noise = np.array([[cell.var(ddof=1) / cell.size for cell in row] for row in cells])
    # Two runs each: the variance of their mean, with 3 degrees of freedom from each.
    noise = (noise[::2] + noise[1::2]) / 4
    answers = math.sqrt(noise.sum()) / own.size
    df = noise.sum() ** 2 / np.sum(noise**2 / 6)
    of_runs = sum(split_variance(one)[0] for one in runs.values())
    return {
        "answers(A, B)": (answers,),
        "problems(A, B)": (math.sqrt(own.var(ddof=1) / own.size - answers**2),),
        "runs(A, B)": (math.sqrt(of_runs),),
        "these_problems(A, B)": t_interval(own.mean(), answers, df),
    }


def power(data: Data) -> Results:
    """By the noncentral t."""
    own = list_differences(data)[0]
    stderr, df = own.std(ddof=1) / math.sqrt(own.size), own.size - 1
    least = stats.t.ppf(0.975, df)
    found = brentq(lambda true: stats.nct.sf(least, df, true / stderr) - 0.8, stderr, 20 * stderr)
    return {"plan(A, B)": (float(found),)}


RECOMPUTED: dict[str, Callable[[Data], Results]] = {
    "Mean over runs": mean_over_runs,
    "Two series of runs": two_series,
    "Equal within a margin": equal_within_a_margin,
    "Who leads": who_leads,
    "Whole curves": whole_curves,
    "Observations": observations,
    "pass@k and its relatives": metrics,
    "Problems like these": problems_like_these,
    "Several runs of a method": several_runs,
    "Problems in clusters": clusters,
    "These problems": these_problems,
    "Average of benchmarks": average_of_benchmarks,
    "Paired difference": paired_difference,
    "All pairs of a block": all_pairs,
    "Pairs of methods with runs": pairs_with_runs,
    "False discovery rate": false_discovery_rate,
    "Power": power,
    "Sources of noise": sources_of_noise,
}

EXAMPLES = read_examples()
CURVES = ("Mean over runs", "Whole curves", "Observations")
# A plan rounds to two digits. Chance changes 2,000 draws of noise for the whole curve, 20,000 of t for runs.
TOLERANCE = {"plan(A, B)": 0.005, "Pairs of methods with runs": 0.015}
BLOCKS = {
    "Mean over runs": ("curve\nmetric: value",),
    "Whole curves": ("curve\nmetric: value\nband: simultaneous",),
    "Observations": ("curve\nmetric: value", "observations\nof: own0"),
    "pass@k and its relatives": ("scores\nmetric: mean", "scores\nmetric: pass@2", "scores\nmetric: pass^2"),
    "These problems": ("scores\nestimand: these problems",),
    "Average of benchmarks": ("comparison\nbenchmarks: [one, two]",),
    "Paired difference": (
        "comparison",
        "comparison\nseries: [A, B]",
        "comparison\nadjust: fdr",
        "plan\nseries: [A, B]",
    ),
    "Sources of noise": ("scores", "comparison", "comparison\nestimand: these problems"),
}
BOUND = ("final", "sd", "gap", "p_value", "difference")
FIELDS = ("stderr", "run_stderr", "between_runs", "df", "p", "family_stderr")
IN_WORDS = ("equivalent(B, C)", "lead(A)", "rise(A)", "adjusted_p(A)")
# Margins on both sides of the further end of the 90% interval.
CLAIMS = ("equivalent(B, C, 0.0947)", "equivalent(B, C, 0.0949)")


def list_owners() -> dict[str, str]:
    """Of each section, the one whose data it is about."""
    owners, owner = {}, ""
    for section, (data, _) in EXAMPLES.items():
        owner = owner if owner and EXAMPLES[owner][0] is data else section
        owners[section] = owner
    return owners


OWNERS = list_owners()


def write_data(section: str, data: Data) -> str:
    """The table that reportgen reads."""
    on_curve, labels = section in CURVES, data.get("cluster")
    lines = ["series,seed,step,value" if on_curve else "series,seed,benchmark,problem,sample,score,cluster"]
    for name, row in data.items():
        series, _, seed = name.partition(".")
        of_benchmark = name in {"one", "two"}
        for place, cell in enumerate(row if name != "cluster" else ()):
            if on_curve:
                run, step = (seed, place) if seed else (place, 0)
                lines.append(f"{series},{run},{step},{cell}")
                continue
            first = f"A,1,{name}" if of_benchmark else f"{series},{seed or 1},all"
            cluster = labels[place] if labels else place
            cells = enumerate(read_cell(cell))
            lines += [f"{first},{place},{sample},{score:g},{cluster}" for sample, score in cells]
    return "\n".join(lines) + "\n"


def write_page(section: str, source: str, names: Iterable[str], *, several: bool) -> str:
    """Blocks and bound values about the data of a section, and of those that follow without their own."""
    default = ("scores", "comparison") if several else ("scores",)
    blocks = []
    for place, block in enumerate(BLOCKS.get(section, default)):
        kind, _, settings = block.partition("\n")
        about = "" if kind == "observations" else f"source: {source}\nid: own{place}\n"
        blocks.append(f"```{kind}\n{about}{settings}\n```")
    bound = [f'[1]{{value="{name}" of="{source}"}}' for name in names if name.partition("(")[0] in BOUND]
    bound += [f'[It]{{claim="{name}" of="{source}"}}' for name in CLAIMS if section == "Mean over runs"]
    return "\n\n".join([f"# {section}", *blocks, *bound]) + "\n"


def write_files() -> dict[str, str | None]:
    """A page and a source for each section with data of its own."""
    files: dict[str, str | None] = {"data/runs.csv": None, "content/index.md": "# Formulas\n"}
    for section, (data, _) in EXAMPLES.items():
        if section in OWNERS.values():
            source = re.sub(r"\W+", "-", section.lower())
            names = [name for one, own in OWNERS.items() if own == section for name in EXAMPLES[one][1]]
            files[f"data/{source}/values.csv"] = write_data(section, data)
            stated = "columns: {cluster: cluster}\n" * ("cluster" in data)
            files[f"data/{source}/source.yml"] = stated or "title: An example\n"
            several = any(name.startswith("B") for name in data)
            files[f"content/{source}.md"] = write_page(section, source, names, several=several)
    return files


def list_printed(page: Any) -> Iterator[tuple[str, tuple[float, ...]]]:  # noqa: ANN401 - of report.json
    """Each number that a page of report.json has, by the name that the guide gives it."""
    for fact in (fact for statement in page["statements"] for fact in statement["facts"]):
        yield fact["call"], tuple(fact[key] for key in ("value", "low", "high") if fact[key] is not None)
    for figure in page["figures"]:
        if figure["kind"] == "plan":
            yield "plan(A, B)", (figure["numbers"]["difference"],)
        for one in figure["numbers"].get("series", ()):
            if "last" in one:
                yield f"last({one['name']})", tuple(one["last"][key] for key in ("value", "low", "high"))
    for numbers in (stack["numbers"] for stack in page["stacks"]):
        averages = {name: cell["score"] for name, cell in numbers.get("macro", {}).items()}
        for score in (*numbers.get("scores", ()), *averages.values()):
            series = score["series"]
            of_mean = "average" if averages else "score"
            for name in {of_mean, "mean"} if score["metric"] == "mean" else {score["metric"]}:
                yield f"{name}({series})", (score["estimate"], score["low"], score["high"])
            yield from ((f"{key}({series})", (score[key],)) for key in FIELDS if score.get(key))
        yield from list_pairs(numbers)


def list_pairs(numbers: Any) -> Iterator[tuple[str, tuple[float, ...]]]:  # noqa: ANN401 - of report.json
    """The same of comparisons."""
    for one in numbers.get("comparisons", ()):
        pair = f"({one['a']}, {one['b']})"
        if one["adjust"] == "fdr":
            yield f"fdr{pair}", (one["adjusted_p"],)
        elif one["estimand"] == "these problems":
            yield f"these_problems{pair}", (one["difference"], one["low"], one["high"])
        else:
            yield from ((f"{key}{pair}", (one[key],)) for key in FIELDS if one.get(key))
            yield from ((f"{key}{pair}", (value,)) for key, value in (one["noises"] or {}).items())


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401 - of report.json
    """The pages of a report about all examples, by title."""
    root = write_report(tmp_path_factory.mktemp("formulas"), write_files())
    built = call(root, "build")
    assert (root / "site/report.json").exists(), built.stdout + built.stderr
    pages = json.loads((root / "site/report.json").read_text("utf-8"))["pages"]
    return {page["title"]: page for page in pages}


def to_number(text: str) -> tuple[float, float]:
    """A number as it is written, and half a unit of its last digit."""
    return float(text.replace("−", "-")), 0.5 * 10.0 ** -len(text.partition(".")[2])


@pytest.mark.parametrize("section", EXAMPLES)
def test_each_example_is_recomputed(section: str, report: Any) -> None:  # noqa: ANN401
    """What the guide states, what NumPy computes and what reportgen prints is one number."""
    data, stated = EXAMPLES[section]
    recomputed = RECOMPUTED[section](data)
    assert list(recomputed) == list(stated)
    printed = dict(list_printed(report[OWNERS[section]]))
    for name, values in recomputed.items():
        tolerance = TOLERANCE.get(name, TOLERANCE.get(section, 0.0) if name.startswith("p_value") else 0.0)
        shown = values if name in IN_WORDS else printed[name]
        assert shown[: len(values)] == pytest.approx(values, rel=1e-9, abs=tolerance or 1e-12), name
        for text, value in zip(stated[name], shown, strict=False):
            number, half = to_number(text)
            assert abs(number - value) <= half * 1.001, name


def test_what_is_only_in_words(report: Any) -> None:  # noqa: ANN401 - of report.json
    """The leader, the rise and the margin, whose numbers stand in sentences."""
    (figure,) = report["Mean over runs"]["figures"]
    assert figure["numbers"]["leader"] == "A"
    claims = [one["truth"] for one in report["Mean over runs"]["statements"] if one["kind"] == "claim"]
    assert claims == ["fails", "holds"]
    (block,) = report["Observations"]["observations"]
    (rise,) = (item["text"] for item in block["items"] if item["rule"] == "rise")
    assert rise.endswith("+0.317 [+0.302, +0.331], adjusted p < 0.001.")


def find_numbers(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - of report.json
    """Each number and each method, with its name; of lists and names of series, the name of the whole."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from find_numbers(part, name if name == "largest_k" else key)
    elif isinstance(value, list):
        for part in value:
            yield from find_numbers(part, name)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, value
    elif name in {"method", "interval_method"} and value:
        yield value, value


def read_cases() -> list[Any]:
    """The pages of the report.json of every case."""
    paths = sorted((Path(__file__).parent / "cases").glob("*/expected/report.json"))
    return [page for path in paths for page in json.loads(path.read_text("utf-8"))["pages"]]


def find_pairs(value: Any) -> Iterator[tuple[float, float]]:  # noqa: ANN401 - of report.json
    """The pair's own p and the adjusted one, wherever both are."""
    if isinstance(value, dict):
        if value.get("adjusted_p") is not None:
            yield value["p"], value["adjusted_p"]
        for part in value.values():
            yield from find_pairs(part)
    elif isinstance(value, list):
        for part in value:
            yield from find_pairs(part)


def test_an_adjusted_p_is_never_below_the_own_one(report: Any) -> None:  # noqa: ANN401 - of report.json
    """As the guide says, wherever both are printed."""
    pairs = list(find_pairs([*report.values(), *read_cases()]))
    assert len(pairs) > 20
    assert [pair for pair in pairs if pair[1] < pair[0]] == []


def test_everything_printed_is_defined(report: Any) -> None:  # noqa: ANN401 - of report.json
    """Each number and each method in the report.json of every case has an entry on the page."""
    pages = [*report.values(), *read_cases()]
    parts = [part["numbers"] for page in pages for key in ("figures", "stacks") for part in page[key]]
    names = {name for numbers in parts for name, _ in find_numbers(numbers)}
    assert len(names) > 50
    assert {name for name in names if f"`{name}`" not in " ".join("".join(PAGES).split())} == set()


# What a sentence may say of statistics, also words that none says today.
TERMS = re.compile(
    r"\b(adjusted|alpha|autocorrelat|Bayes|Bonferroni|bootstrap|chance|CI|cluster|confidence|correlat|CR\d|"
    r"credible|deviation|detected|effective|equivalent|exact|exponent|exponential|extrapolat|false discovery|"
    r"flips|Holm|hypothes|interpolat|IQR|jackknife|least squares|likelihood|logit|log scale|majority|median|"
    r"noise|one-sided|paired|percentile|permutation|plateau|pooled|posterior|power|precision|quantile|quartile|"
    r"rank|regression|resampl|Satterthwaite|SD|seeded|sigma|sign-flip|significan|simultaneous|slope|smooth|"
    r"square root|standard error|step-down|Student|studentised|Tukey|two-sided|unbiased|unseen|variance|"
    r"volatility|Welch|Wilson|p(?= [<=>] \d))"
)
SHOWN = re.compile(r"^\$ (?:show|results)\n(.*?)(?=^\$ |^```)", re.MULTILINE | re.DOTALL)


def find_sentences(value: Any) -> Iterator[str]:  # noqa: ANN401 - of report.json
    """Each text with more than one word."""
    if isinstance(value, str):
        yield from [value] if " " in value else []
    else:
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from find_sentences(part)


def test_each_term_of_a_sentence_is_defined(report: Any) -> None:  # noqa: ANN401 - of report.json
    """In captions, summaries and observations of every case and transcript, by this page or one it names."""
    texts = [*find_sentences([*report.values(), *read_cases()])]
    for path in sorted((Path(__file__).parent / "transcripts").glob("*.md")):
        texts += SHOWN.findall(path.read_text("utf-8"))
    found = {term for text in texts for term in TERMS.findall(text)}
    assert len(found) > 25
    named = ("formulas", "formulas-scores", "formulas-pairs", "bands", "reading-figures", "statements")
    guide = Path(__file__).parents[1] / "content" / "guide"
    defined = " ".join((guide / f"{name}.md").read_text("utf-8") for name in named).lower()
    assert {term for term in found if term.lower() not in defined} == set()

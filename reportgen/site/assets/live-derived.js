/* Data made of a figure's own: lines that the reader smooths, and the difference of two series with its interval. */
(function (live) {
  "use strict";

  /** Averages of the values up to each step, weighted less the further back they are, as smooth in points.py: a weight
      for the median distance of steps. Gaps stay. */
  function smoothLine(steps, values, weight) {
    const known = steps.filter((_, i) => values[i] !== null);
    const apart = known.slice(1).map((step, i) => step - known[i]).sort((a, b) => a - b);
    const half = apart.length / 2;
    const unit = (apart[Math.ceil(half) - 1] + apart[Math.floor(half)]) / 2;
    let [total, weights, before] = [0, 0, null];
    return values.map((value, i) => {
      if (value === null) return null;
      const decay = before === null ? 0 : weight ** ((steps[i] - before) / unit);
      [total, weights, before] = [total * decay + value, weights * decay + 1, steps[i]];
      return total / weights;
    });
  }

  /** The data with a weight of the reader's in place of the author's smoothing. What would need all runs before they
      were smoothed is left out: bands, and thin lines that are smoothed already. */
  function smoothed(data, weight) {
    const redone = (one) => {
      const base = one.raw ?? one.y;
      const own = weight === 0 && !one.raw;
      const thin = one.raw ? [] : one.runs;
      return {
        ...one,
        y: weight ? smoothLine(one.steps, base, weight) : base,
        raw: weight ? base : undefined,
        low: own ? one.low : undefined,
        high: own ? one.high : undefined,
        runs: thin.map((run) => ({ ...run, values: weight ? smoothLine(run.steps, run.values, weight) : run.values })),
      };
    };
    return Object.assign(Object.create(data), { series: data.series.map(redone) });
  }

  /** A mark of a view, of a data set of its own or none. */
  function markOf(type, name, update, data) {
    return { type, name: `${name}_marks`, clip: true, ...(data && { from: { data } }), encode: { update } };
  }

  /** The faint lines that are not smoothed, for a view that has none. */
  function rawMarks() {
    const [stroke, path] = [{ scale: "color", field: "series" }, { field: "path" }];
    const look = { strokeWidth: { value: 1 }, strokeOpacity: { value: 0.4 } };
    return markOf("path", "reader_raw", { path, stroke, ...look }, "reader_raw_paths");
  }

  /** The data of one series, the first of two minus the second, at the steps that both have. */
  function subtract(data, pair) {
    const [first, second] = pair;
    const steps = first.steps.filter((step) => second.at.has(step));
    const rows = steps.map((step) => data.difference(pair, step)).map((row) => row ?? { value: null, low: null, high: null });
    const known = rows.some(({ low }) => low !== null);
    const name = `${first.name} \u2212 ${second.name}`;
    const count = (one, step) => (Array.isArray(one.n) ? one.n[one.at.get(step)] : one.n);
    const line = {
      ...first,
      name,
      label: name,
      steps,
      at: new Map(steps.map((step, i) => [step, i])),
      y: rows.map(({ value }) => value),
      low: known ? rows.map(({ low }) => low) : undefined,
      high: known ? rows.map(({ high }) => high) : undefined,
      raw: undefined,
      n: steps.map((step) => Math.min(...pair.map((one) => count(one, step)))),
      runs: [],
    };
    const values = rows.flatMap(({ value, low, high }) => [value, low, high]).filter((value) => value !== null);
    return Object.assign(Object.create(data), { series: [line], values, positive: false });
  }

  /** Stretches of x in which the interval of a difference excludes 0, each step with half the way to its neighbours. */
  function listExcluding({ steps, low, high }) {
    const excludes = steps.map((_, i) => low?.[i] != null && (low[i] > 0 || high[i] < 0));
    const middle = (i, j) => (steps[i] + (steps[j] ?? steps[i])) / 2;
    const parts = steps.map((_, i) => ({ from: middle(i, i - 1), to: middle(i, i + 1) }));
    return parts.filter((_, i) => excludes[i]).reduce((joined, part) => {
      const last = joined.at(-1);
      if (last?.to === part.from) last.to = part.to;
      else joined.push({ ...part });
      return joined;
    }, []);
  }

  /** Marks below the lines of a difference: shades where its interval excludes 0, and the line of 0. */
  function excludingMarks(fill) {
    const [top, height] = [{ value: 0 }, { signal: "height" }];
    const across = { x: { scale: "x", field: "from" }, x2: { scale: "x", field: "to" }, y: top, y2: height };
    const filled = { fill: { value: fill }, fillOpacity: { value: 0.12 } };
    const along = { x: { value: 0 }, x2: { signal: "width" }, y: { scale: "y", value: 0 } };
    const look = { stroke: { value: "var(--rg-muted)" }, strokeWidth: { value: 1 } };
    return [markOf("rect", "excluding", { ...across, ...filled }, "excluding"), markOf("rule", "zero", { ...along, ...look })];
  }

  Object.assign(live, { smoothed, rawMarks, subtract, listExcluding, excludingMarks });
})(window.reportgenLive);

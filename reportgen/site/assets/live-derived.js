/* Data made of a figure's own: lines that the reader smooths, and the difference of two series with its interval. */
(function (live) {
  "use strict";

  const [STRIP, HIGH] = [96, 60]; // pixels below a plot that a difference takes, and of these the strip, as in plot.py
  const ROOM = 0.08; // of a difference's values, above and below them
  const MUTED = "var(--rg-muted)";

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

  /** The first of two series minus the second, at the steps of both; shares are in points if their axis is in percent. */
  function subtract(data, pair, { format }) {
    const [first, second] = pair;
    const steps = first.steps.filter((step) => second.at.has(step));
    const percent = format?.endsWith("%");
    const rows = steps.map((step) => data.difference(pair, step) ?? { value: null, low: null, high: null });
    const part = (name) => rows.map((row) => row[name] && row[name] * (percent ? 100 : 1));
    const [y, low, high] = ["value", "low", "high"].map(part);
    const known = [...y, ...low, ...high].filter((value) => value !== null);
    const [least, most] = [Math.min, Math.max].map((pick) => known.reduce((a, b) => pick(a, b), 0));
    const room = ROOM * (most - least) || 1;
    const whole = { scale: "linear", domain: [least - room, most + room] };
    const { ticks } = live.freshTicks(whole, 2);
    const decimals = Math.max(0, Math.ceil(-Math.log10(ticks[1] - ticks[0]) - 1e-9));
    const axis = { ...whole, ticks, format: decimals > 4 ? null : `,.${decimals}f` };
    const excludes = steps.map((_, i) => low[i] > 0 || (high[i] !== null && high[i] < 0));
    const name = `${first.name} \u2212 ${second.name}`;
    return { name, title: `${name}${percent ? " (points)" : ""}`, steps, y, low, high, excludes, axis };
  }

  /** The paths of a strip: its band, darker where it excludes 0 if there are no points, and its line. */
  function stripPaths({ steps, y, low, high, excludes, axis }, x, { width }, symbols) {
    const room = { width, height: HIGH };
    const band = (ends) => live.traceBand(steps, ...ends, x, axis, room);
    const sure = [low, high].map((ends) => ends.map((end, i) => (excludes[i] ? end : null)));
    const bands = [[low, high], ...(symbols ? [] : [sure])].map((ends) => ({ path: band(ends), fill: MUTED }));
    return [...bands, { path: live.tracePath(steps, y, x, axis, room), stroke: MUTED }];
  }

  /** The points of a strip, filled where the interval excludes 0. */
  function stripPoints({ steps, y, excludes }, x, symbols) {
    const rows = steps.map((step, i) => ({ step, value: y[i], fill: excludes[i] ? MUTED : "var(--rg-bg)" }));
    return symbols ? rows.filter(({ step, value }) => value !== null && live.within(x, step)) : [];
  }

  /** Draw a strip below a view's plot, with axes like those of its y, and the x axis below it. */
  function addStrip(spec, { title, axis: { domain, ticks, format } }) {
    const [y, scale] = [{ signal: `height + ${STRIP - HIGH}` }, "strip"];
    const axes = spec.axes.filter((one) => one.scale === "y");
    const own = (one) => ({ ...one, scale, values: ticks, encode: {}, ...(one.title && { title, format }) });
    const path = { path: { field: "path" }, fill: { field: "fill" }, fillOpacity: { value: 0.16 } };
    const lines = { ...path, stroke: { field: "stroke" }, strokeWidth: { value: 2 } };
    const at = { x: { scale: "x", field: "step" }, y: { scale, field: "value" }, size: { value: 28 } };
    const points = { ...at, fill: { field: "fill" }, stroke: { value: MUTED } };
    const along = { x2: { signal: "width" }, y: { scale, value: 0 }, stroke: { value: MUTED }, strokeDash: { value: [2, 3] } };
    const marks = [
      markOf("rule", "zero", along),
      markOf("path", "strip", lines, "strip_paths"),
      { ...markOf("symbol", "strip_points", points, "strip_points"), clip: false },
    ];
    spec.axes.find((one) => one.scale === "x" && !one.grid).offset = STRIP;
    spec.data.push({ name: "strip_paths" }, { name: "strip_points" });
    spec.marks.push({
      type: "group",
      name: "strip_group",
      encode: { update: { y, width: { signal: "width" }, height: { value: HIGH } } },
      scales: [{ name: scale, domain, range: [HIGH, 0] }],
      axes: axes.map(own),
      marks,
    });
  }

  Object.assign(live, { STRIP, smoothed, rawMarks, subtract, stripPaths, stripPoints, addStrip });
})(window.reportgenLive);

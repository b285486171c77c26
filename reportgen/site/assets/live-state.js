/* A state of a figure that the address names: FIGURE~series=A,B~x=100..140~mark=120@A, as
   write_link_state in reportgen/figures/live.py writes it, and what the toolbar switches: ~y=log (or linear), ~band=0,
   ~runs=0, ~fit=0 (y is not fitted to the lines), ~box=0.7..0.9 (the y axis shown) ~linked=0 (other figures are not
   zoomed with it), ~smooth=0.9, ~over=tokens (what x is), ~difference=1, ~pin=120 and ~run=0@MEL (run 0 of MEL
   alone). The series are shown alone, the steps with some room, the point with a ring and its value in words.
   What the figure does not have is passed over. */
(function (live) {
  "use strict";

  const { decoded, make } = live;
  const ROOM = 0.1; // of the range named, shown on either side of it
  const AROUND = 0.05; // of the whole axis, shown on either side of a single step
  const SCALES = ["linear", "log"];
  const PARTS = ["band", "runs", "fit"]; // what a link can hide
  const states = new Map(); // by figure

  // ---- reading -------------------------------------------------------------------------------------

  function number(text) {
    return /^-?\d/.test(text) ? Number(text) : NaN;
  }

  /** What the parts behind a figure's id say: names of series, a range of steps, a point; null for none. */
  function readState(parts) {
    const said = new Map(parts.map((part) => part.split("=", 2)));
    const ends = (said.get("x") ?? "").split("..").map(number);
    const sides = (said.get("box") ?? "").split("..").map(number);
    const weight = number(said.get("smooth") ?? "");
    const [run, series] = (said.get("run") ?? "").split("@", 2);
    const [step, name] = (said.get("mark") ?? "").split("@", 2);
    return {
      series: (said.get("series") ?? "").split(",").filter(Boolean).map(decoded),
      x: ends.length === 2 && ends[0] <= ends[1] ? ends : null,
      span: sides.length === 2 && sides[0] < sides[1] ? sides : null,
      linked: said.get("linked") !== "0",
      run: series === undefined ? null : [decoded(run), decoded(series)],
      pin: number(said.get("pin") ?? ""),
      mark: name !== undefined && Number.isFinite(number(step)) ? [number(step), decoded(name)] : null,
      shown: {
        ...(SCALES.includes(said.get("y")) && { log: said.get("y") === "log" }),
        ...(weight >= 0 && weight < 1 && { smooth: weight }),
        ...(said.has("over") && { over: decoded(said.get("over")) }),
        ...(said.has("difference") && { difference: said.get("difference") === "1" }),
        ...Object.fromEntries(PARTS.filter((part) => said.get(part) === "0").map((part) => [part, false])),
      },
    };
  }

  // ---- ranges --------------------------------------------------------------------------------------

  /** The part of an axis that shows a range with room around it; null where that is all of it, or none. */
  function withRoom(axis, range) {
    const [from, to] = range.map((step) => live.fraction(axis, step));
    if (!(to >= 0 && from <= 1)) return null;
    const room = from === to ? AROUND : ROOM * (to - from);
    const ends = [Math.max(0, from - room), Math.min(1, to + room)];
    return ends[0] === 0 && ends[1] === 1 ? null : ends.map((end) => live.valueOf(axis, end));
  }

  /** The range that is shown as this part of an axis: between steps of the data, as far as it has several. */
  function withoutRoom(axis, domain, steps) {
    const [from, to] = domain.map((step) => live.fraction(axis, step));
    const sides = (from > 0) + (to < 1);
    const room = (ROOM * (to - from)) / (1 + sides * ROOM);
    const ends = [from > 0 ? from + room : 0, to < 1 ? to - room : 1];
    const given = ends.map((end) => live.valueOf(axis, end));
    const near = ends.map((end) => steps[live.nearest(axis, steps, end)]);
    if (near[0] === near[1]) return short(given);
    const [first, last] = short(given);
    return [from > 0 ? near[0] : first, to < 1 ? near[1] : last];
  }

  /** Steps with no more digits than can be told apart. */
  function short([from, to]) {
    const unit = 10 ** (Math.floor(Math.log10(to - from)) - 3);
    return [from, to].map((step) => Number((Math.round(step / unit) * unit).toPrecision(15)));
  }

  // ---- words ---------------------------------------------------------------------------------------

  /** A name in a sentence, whichever way it is read. */
  function isolated(name) {
    return /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\ufb1d-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name;
  }

  function listing(names) {
    const shown = names.map(isolated);
    return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
  }

  // ---- curves --------------------------------------------------------------------------------------

  /** The state of one plot; it ends as soon as the reader shows something else. */
  class State {
    constructor(plot) {
      this.plot = plot;
      this.now = null;
      this.ring = make("div", "rg-state-ring");
      this.ring.hidden = true;
      plot.surface.append(this.ring);
      this.words = make("span", "");
      const all = live.makeButton("", "Show everything", () => {
        this.clear();
        plot.surface.focus({ preventScroll: true });
      });
      this.line = make("p", "rg-state");
      this.line.dir = "auto";
      this.line.append(this.words, " ", all);
      const redrawn = plot.onRefresh;
      plot.onRefresh = () => {
        redrawn();
        this.redrawn();
      };
    }

    /** Show what a link names, as far as this figure has it. */
    show({ series, x, span, linked, mark, run, pin: step, shown: wanted }) {
      const { group, axes } = this.plot;
      const over = axes.slice(1).find(({ payload }) => payload.x.title === wanted.over) ? wanted.over : null;
      if (over !== group.shown.over) group.showOver(over);
      const { payload } = this.plot;
      const alone = run && this.runNamed(...run);
      const known = group.names.filter((name) => (alone ? name === alone.series : series.includes(name)));
      const pin = live.within(payload.x, step) ? step : null;
      const chosen = known.length && known.length < group.names.length ? new Set(known) : null;
      const part = x && withRoom(payload.x, x);
      const domain = part ?? (span && payload.x.domain);
      const point = mark && this.reading(...mark);
      const changes = this.changes(wanted, domain, known);
      if (!known.length && !domain && !point && pin === null && !changes.length) return this.clear();
      const shown = { ...live.SHOWN, ...Object.fromEntries(changes) };
      if (domain && linked !== group.linked) group.link(linked);
      this.now = { chosen, domain, shown, point, pin, run: alone };
      group.pinned = pin === null ? null : this.plot;
      group.restore({ chosen, domain, shown, pin, run: alone, plot: this.plot, span }, "means", "runs");
      this.plot.pointer.pointAll(point?.step ?? null);
      this.plot.pointer.linked = Boolean(point);
      this.words.textContent = this.sentence(known, part && x, span);
      live.putLine(this.plot, this.line);
      this.plot.say(this.words.textContent);
    }

    /** What of these switches changes one of the plots. */
    changes(wanted, domain, known) {
      const { group } = this.plot;
      const has = {
        log: ({ given: data, payload }) => data.positive && (payload.y.scale === "log") !== wanted.log,
        band: ({ given }) => given.hasBand,
        runs: ({ given }) => given.hasRuns,
        difference: ({ given, payload }) =>
          given.comparable && (known.length || given.series.length) === 2 && wanted.difference !== Boolean(payload.strip),
        fit: ({ payload }) => domain || payload.y.auto,
        smooth: ({ payload }) => wanted.smooth !== (payload.smooth ?? 0),
        over: () => group.shown.over !== null,
      };
      return Object.entries(wanted).filter(([name]) => group.plots.some(has[name]));
    }

    /** A run that this figure has a thin line for; otherwise null. */
    runNamed(name, series) {
      const has = ({ given }) => given.series.some((one) => one.name === series && one.runs.some((run) => run.name === name));
      return this.plot.group.plots.some(has) ? { series, name } : null;
    }

    /** A point of a series, read out; null where the series has none. */
    reading(step, name) {
      const { given: data, payload } = this.plot;
      const one = data.series.find((other) => other.name === name);
      if (!one || step > one.steps.findLast((_, i) => one.y[i] !== null)) return null;
      const value = data.valueAt(one, step, payload.x);
      return value === null ? null : { one, step, value };
    }

    sentence(names, range, span) {
      const { plot } = this;
      const { point, run } = this.now;
      const place = (words) => live.placeInSentence(plot.payload.x, words);
      const { log, band, runs, fit, over, difference } = this.now.shown;
      const shown = [
        run ? `run ${isolated(run.name)} of ${isolated(run.series)}` : names.length && listing(names),
        range && place(range.map(plot.readX).join(" to ")),
        over !== null && `the lines by ${over}`,
        difference !== null && (plot.strip ? `the difference ${plot.strip.name}` : "no difference"),
        plot.weight !== null && (plot.weight ? `lines smoothed with ${plot.weight}` : "lines without smoothing"),
        log !== null && `${log ? "a logarithmic" : "a linear"} y axis`,
        span && `y from ${span.map(plot.readY).join(" to ")}`,
        !fit && "the whole y axis",
        !band && "no bands",
        !runs && "no single runs",
      ];
      const what = shown.filter(Boolean).join(", ");
      const said = point && `${isolated(point.one.name)} ${plot.said(point.value, point.one)}`;
      const marked = point && `Marked: ${said} at ${place(plot.readX(point.step))}.`;
      return [what && `Showing ${what}.`, marked].filter(Boolean).join(" ");
    }

    redrawn() {
      const { now, plot } = this;
      if (!now) return;
      const { group, room, x } = plot;
      if (["chosen", "domain", "shown", "pin", "run"].some((part) => group[part] !== now[part])) return this.leave();
      const { point } = now;
      const y = point && plot.axisOf(point.one);
      this.ring.hidden = !point || !live.within(x, point.step) || !live.within(y, point.value);
      if (this.ring.hidden) return;
      this.ring.className = `rg-state-ring rg-slot-${point.one.slot}`;
      const [across, up] = [live.fraction(x, point.step), live.fraction(y, point.value)];
      this.ring.style.transform = `translate(${across * room.width}px, ${(1 - up) * room.height}px)`;
    }

    /** The figure shows the state no longer, nor does the address name it. */
    leave() {
      this.now = null;
      this.ring.hidden = true;
      this.line.remove();
      [this.plot.figure, this.plot.group.root].forEach(live.forgetState);
    }

    /** Show everything again. */
    clear() {
      if (!this.now) return;
      this.leave();
      this.plot.group.reset(this.plot);
      this.plot.pointer.pointAll(null);
      this.plot.say("Showing everything");
    }
  }

  function addState(plot) {
    states.set(plot.figure, new State(plot));
  }

  /** What a plot shows now, for a link. */
  function stateOf({ figure, group, payload, data, visible, span }) {
    const { log, runs, band, fit } = group.shown;
    const zoomed = group.domain && !group.isWhole(group.domain);
    const some = (has) => group.plots.some(has);
    const shown = [
      log !== null && some((plot) => plot.given.positive && log !== (plot.payload.y.scale === "log")) && ["y", log ? "log" : "linear"],
      some((plot) => plot.given.hasBand) && !band && ["band", 0],
      some((plot) => plot.given.hasRuns) && !runs && ["runs", 0],
      some((plot) => group.domain || plot.payload.y.auto) && !fit && ["fit", 0],
      group.domain && span && ["box", short(span).join("..")],
      some((plot) => plot.weight !== null) && ["smooth", group.shown.smooth],
      group.shown.over !== null && ["over", live.encoded(group.shown.over)],
      some(({ pair }) => pair) && group.shown.difference !== null && ["difference", Number(group.shown.difference)],
      group.pin !== null && ["pin", group.pin],
      zoomed && !group.linked && ["linked", 0],
    ];
    return {
      run: group.run,
      series: group.chosen && !group.run ? group.names.filter((name) => group.shows(name)) : [],
      x: zoomed && withoutRoom(payload.x, group.domain, data.stepsOf(visible)),
      mark: states.get(figure)?.now?.point ?? null,
      shown: shown.filter(Boolean),
    };
  }

  // ---- the address ---------------------------------------------------------------------------------

  function clearStates(except) {
    for (const [figure, state] of states) if (figure !== except) state.clear();
  }

  /** Show the state of a figure, which is alive, that the parts of the address behind its id name. */
  function showState(figure, parts) {
    clearStates(figure);
    const state = readState(parts);
    if (states.has(figure)) states.get(figure).show(state);
    else live.readers?.get(figure)?.showOnly(state.series);
  }

  document.addEventListener("keydown", ({ key }) => key === "Escape" && clearStates());

  Object.assign(live, { addState, readState, stateOf, showState, clearStates });
})(window.reportgenLive);

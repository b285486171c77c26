/* Reading a plot: rule, dots and tooltip at the nearest step, by pointer, finger and keyboard. */
(function (live) {
  "use strict";

  const { make, put } = live;
  const APART = 14; // pixels between rule and tooltip
  const LINE = 16; // pixels between values at the rule
  const TOP = -Infinity; // above everything
  const NEAR = 8; // pixels between pointer and thin line that still mean this run
  const MOST = 10; // runs that a tooltip lists
  const [LONG, TAIL] = [20, 10]; // letters of names that may be cut, and of what is left of their end
  const STRIDES = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

  /** A name; where it is long, its end, which tells series apart, is kept and its middle is cut. */
  function nameOf(series) {
    const cut = series.length > LONG && /^[\x20-\x7e\xa0-\u024f]+$/.test(series) ? series.length - TAIL : 0;
    const name = make("span", cut ? "rg-name rg-cut" : "rg-name", cut ? undefined : series);
    if (cut) name.append(make("span", "rg-head", series.slice(0, cut)), make("span", "", series.slice(cut)));
    name.dir = "auto";
    return name;
  }

  /** Stand a tooltip at a place of its box. Not by a transform: the document would stay as wide as the layout
      made it in which the tooltip was measured. */
  function stand(element, x, y) {
    element.style.left = `${x}px`;
    element.style.top = `${y}px`;
  }

  function swatchOf({ slot, line }) {
    return make("span", `rg-swatch rg-slot-${slot}${line === undefined ? "" : ` rg-line-${line}`}`);
  }

  /** The digits of a reading: those of its interval, if it has one. */
  function digitsOf({ low, high }) {
    return low === null ? {} : { half: (high - low) / 2 };
  }

  const ROOMY = 500; // pixels of a plot below which a hint has room
  let hinted = false; // whether the page has said what a mouse does in a plot

  class Pointer {
    constructor(plot) {
      this.plot = plot;
      this.step = null; // the step that is read out
      this.spoken = null; // the series the keyboard chose
      this.rule = make("div", "rg-rule");
      this.tooltip = make("div", "rg-tooltip");
      this.said = make("div", "rg-unseen");
      this.said.setAttribute("role", "status");
      this.dots = plot.given.series.map(({ slot }) => make("div", `rg-dot rg-slot-${slot}`));
      this.values = plot.given.series.map(({ slot }) => make("div", `rg-at-rule rg-slot-${slot}`));
      this.place = make("div", "rg-at-rule rg-slot-muted");
      const parts = [this.rule, ...this.dots, ...this.values, this.place, this.tooltip];
      parts.forEach((part) => (part.hidden = true));
      plot.surface.append(...parts);
      plot.box.append(this.said);
      this.pin = new live.Pin(plot);
      this.line = new live.RunLine(plot);
      this.zoomer = new live.Zoomer(plot, this);
      this.listen();
    }

    listen() {
      const { surface } = this.plot;
      const on = (type, act) => surface.addEventListener(type, act);
      on("pointermove", (event) => this.moved(event));
      on("pointerdown", (event) => {
        this.before = this.step;
        this.touched = event.pointerType === "touch";
        if (this.touched) this.moved(event);
      });
      // A plot that a link makes less high leaves a pointer that rests: what the link reads out stays.
      on("pointerleave", ({ pointerType }) => pointerType === "touch" || this.linked || this.pointAll(null));
      on("dblclick", () => {
        if (!this.touched) this.plot.group.pinAt(null); // by the two clicks
        this.plot.group.zoom(null);
      });
      on("keydown", (event) => this.key(event));
      on("blur", () => this.pointAll(null));
      document.addEventListener("pointerdown", (event) => {
        if (!surface.contains(event.target)) this.pointAll(null);
      });
    }

    /** Steps that can be read: of visible series, inside the domain shown. */
    steps() {
      const { group, data, visible, x } = this.plot;
      const { chosen, domain } = group;
      if (this.known?.data !== data || this.known.chosen !== chosen || this.known.domain !== domain) {
        const [low, high] = x.domain;
        const steps = data.stepsOf(visible).filter((step) => step >= low && step <= high);
        this.known = { data, chosen, domain, steps };
      }
      return this.known.steps;
    }

    moved(event) {
      this.linked = false;
      if (!hinted && event.pointerType === "mouse" && this.plot.room.width > ROOMY) this.showHint();
      const { x, y } = live.locate(this.plot, event);
      if (this.zoomer.moved(event)) return;
      this.across = x;
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.pointAt(x / this.plot.room.width, y, event.pointerType));
    }

    /** Say once, below the first plot that a mouse comes to, what it does there; keys are described to screen readers. */
    showHint() {
      hinted = true;
      const hint = make("div", "rg-hint", "Drag to zoom, click to pin, arrow keys to read");
      hint.setAttribute("aria-hidden", "true");
      this.plot.box.append(hint);
      this.plot.surface.addEventListener("pointerleave", () => hint.remove(), { once: true });
    }

    /** A click isolates the run whose thin line is there, or pins the step; both once more is undone. On a touch screen
        the first tap reads. */
    clicked(event) {
      const { plot } = this;
      const steps = this.steps();
      if (!steps.length) return;
      const { x, y } = live.locate(plot, event);
      const step = steps[live.nearest(plot.x, steps, x / plot.room.width)];
      this.across = x;
      if (event.pointerType === "touch" && step !== this.before) return;
      const [near] = this.runsNear(step, y);
      if (near) plot.group.isolate(plot.group.run ? null : { series: near.one.name, name: near.name });
      else plot.group.pinAt(step === plot.group.pin ? null : step, plot);
    }

    pointAt(part, y, kind) {
      const steps = this.steps();
      if (!steps.length) return this.pointAll(null);
      // A finger would cover what is next to it.
      this.pointAll(steps[live.nearest(this.plot.x, steps, part)], kind === "touch" ? TOP : y);
    }

    /** Show the same step in every figure of the group. */
    pointAll(step, y = null) {
      for (const { pointer } of this.plot.group.plots) {
        pointer.reads = pointer === this;
        pointer.point(step, pointer === this ? y : null);
      }
      this.plot.group.pointOthers(step);
    }

    /** Show a step, or what this figure has nearest to it; null shows none. */
    point(step, y = null) {
      const { plot } = this;
      const steps = this.steps();
      const none = step === null || !steps.length;
      this.step = none ? null : steps[live.nearest(plot.x, steps, live.fraction(plot.x, step))];
      this.rule.hidden = none;
      [...this.dots, ...this.values, this.place].forEach((part) => (part.hidden = true));
      this.tooltip.hidden = none || !this.reads;
      const [near] = none || y === null ? [] : this.runsNear(this.step, y);
      this.line.show(near && { series: near.one.name, name: near.name });
      if (none) return;
      const readings = plot.data.readings(plot.visible, this.step);
      const x = live.fraction(plot.x, this.step) * plot.room.width;
      put(this.rule, x, 0);
      const known = readings.filter(({ value }) => value !== null);
      const heights = known.map(({ one, value }) => this.putDot(one, x, value));
      if (!this.reads) return this.putValues(x, known, heights, this.step === step);
      this.fill(readings, y);
      this.putTooltip(x, y, heights);
    }

    /** In the panels beside the one that is read: values at the rule, and the step where it is another one. */
    putValues(x, known, heights, same) {
      const { plot } = this;
      const { width, height } = plot.room;
      const beside = (element, words, y) => {
        element.textContent = words;
        element.hidden = false;
        element.classList.toggle("rg-before", x > width / 2);
        put(element, x, y);
      };
      const places = live.spread(heights, LINE, height);
      known.forEach((reading, i) => {
        const { one, value } = reading;
        beside(this.values[Number(one.key)], plot.said(value, one, digitsOf(reading)), places[i]);
      });
      if (!same) beside(this.place, live.placeWords(plot.x, plot.readX(this.step)), height - LINE / 2);
    }

    putDot(one, x, value) {
      const dot = this.dots[Number(one.key)];
      const up = live.fraction(this.plot.axisOf(one), value);
      const y = (1 - up) * this.plot.room.height;
      dot.hidden = !(up >= 0 && up <= 1);
      dot.classList.toggle("rg-spoken", one === this.spoken);
      put(dot, x + (one.shift ?? 0) * this.plot.room.width, y);
      return y;
    }

    fill(readings, y) {
      const { plot } = this;
      const counts = new Set(readings.filter(({ value }) => value !== null).map(({ n }) => n));
      const shared = counts.size === 1 ? [...counts][0] : null;
      const band = plot.band && readings.some(({ low }) => low != null) ? plot.payload.band : "";
      const from = this.compared ? `change from ${plot.readX(plot.group.pin)}` : "";
      const how = [band, shared > 1 ? `n = ${shared}` : "", from].filter(Boolean).join(", ");
      const head = make("div", "rg-tooltip-head");
      const title = make("span", "rg-name", live.placeWords(plot.x, plot.readX(this.step)));
      title.dir = "auto";
      head.append(title, make("span", "", how));
      const runs = this.runsRead(y);
      const rows = readings.flatMap((reading) => [
        this.row(reading, shared === null),
        ...runs.filter(({ one }) => one === reading.one).map((run) => this.runRow(run)),
      ]);
      const difference = plot.data.difference(plot.visible, this.step);
      this.tooltip.replaceChildren(head, ...rows, ...(difference ? [this.differenceRow(difference)] : []));
    }

    /** Whether changes from the step that is pinned are shown. */
    get compared() {
      const { pin } = this.plot.group;
      return pin !== null && pin !== this.step;
    }

    /** Runs at this step: all of a series that is alone, otherwise the one whose thin line is under the pointer. */
    runsRead(y) {
      const runs = this.runsAt(this.step);
      if (this.plot.visible.length === 1 && runs.length <= MOST) return runs;
      return y === null ? [] : this.runsNear(this.step, y);
    }

    runsAt(step) {
      const { plot } = this;
      return plot.visible.flatMap((one) => {
        const shown = plot.runsOf(one).map(({ name }) => name);
        return plot.data.runsAt(one, step).filter(({ name }) => shown.includes(name));
      });
    }

    /** The run whose thin line is under the pointer at a height of the plot, or none. */
    runsNear(step, y) {
      const { plot } = this;
      const at = live.valueOf(plot.x, this.across / plot.room.width);
      const away = ({ one, name }) => {
        const { steps, values } = one.runs.find((run) => run.name === name);
        const value = plot.data.valueAt({ steps, y: values }, at, plot.x) ?? NaN;
        return Math.abs((1 - live.fraction(plot.axisOf(one), value)) * plot.room.height - y);
      };
      const near = this.runsAt(step).filter((run) => away(run) <= NEAR);
      return near.sort((a, b) => away(a) - away(b)).slice(0, 1);
    }

    runRow({ one, name, seed, value }) {
      const row = make("div", "rg-tooltip-row rg-of-run");
      row.append(nameOf(`run ${name}`));
      if (seed !== undefined) row.append(make("span", "", `seed ${seed}`));
      row.append(make("span", "rg-value", this.plot.said(value, one)));
      return row;
    }

    differenceRow({ series, value, low, high }) {
      const { plot } = this;
      const row = make("div", "rg-tooltip-row rg-difference");
      const [first, second] = series.map(swatchOf);
      const minus = make("span", "", "\u2212");
      minus.setAttribute("aria-hidden", "true");
      row.append(first, minus, second, make("span", "rg-name", "difference"));
      row.append(make("span", "rg-value", plot.saidDifference(value, series[0], digitsOf({ low, high }))));
      if (plot.band && low !== null)
        row.append(make("span", "rg-interval", `[${plot.readEnds({ value, low, high }, series[0]).join(", ")}]`));
      return row;
    }

    row({ one, value, low, high, raw, n }, withCount) {
      const { plot } = this;
      const row = make("div", "rg-tooltip-row");
      row.classList.toggle("rg-spoken", one === this.spoken);
      row.classList.toggle("rg-missing", value === null);
      row.append(swatchOf(one), nameOf(one.name));
      if (one.right) row.append(make("span", "rg-interval", "(right)")); // not cut, as a long name may be
      if (value === null) row.append(make("span", "rg-value", "no value"));
      else {
        row.append(make("span", "rg-value", plot.said(value, one, digitsOf({ low, high }))));
        const aside = (words) => row.append(make("span", "rg-interval", words));
        if (plot.band && low !== null) aside(`[${plot.readEnds({ value, low, high }, one).join(", ")}]`);
        if (raw !== null) aside(`unsmoothed ${plot.read(raw, one)}`);
        if (withCount && n > 1) aside(`n = ${n}`);
        const change = this.compared ? plot.data.change(one, this.step, plot.group.pin) : null;
        if (change !== null) aside(plot.saidDifference(change, one));
      }
      return row;
    }

    /** Beside the rule, on the side with room; where neither has any, clear of the dots. */
    putTooltip(x, y, heights) {
      const { tooltip, plot } = this;
      const { left, right } = this.edges();
      const { offsetWidth: width, offsetHeight: height } = tooltip;
      const { margins } = plot.payload;
      const after = x + APART + width <= right;
      const before = x - APART - width >= left;
      const [high, low] = [Math.min(...heights), Math.max(...heights)];
      // From the keyboard: where it is farther from the dots.
      const end = high > plot.room.height - low ? 4 : plot.room.height - 4 - height;
      let top = y === null ? end : y - height / 2;
      if (!after && !before) {
        top = high > plot.room.height - low ? high - APART - height : low + APART;
      }
      const start = after ? x + APART : before ? x - APART - width : x - width / 2;
      const inside = (place, from, to) => Math.round(Math.max(from, Math.min(place, to)));
      const lowest = plot.room.height + margins.bottom - height;
      stand(tooltip, inside(start, left, right - width), inside(top, -margins.top, lowest));
    }

    edges() {
      const box = this.plot.box.getBoundingClientRect();
      const { left } = this.plot.surface.getBoundingClientRect();
      return { left: box.left - left, right: box.right - left };
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { group } = this.plot;
      if (this.zoomer.key(event)) return event.preventDefault();
      if (event.key in STRIDES) this.walk(STRIDES[event.key]);
      else if (event.key === "ArrowUp") this.change(-1);
      else if (event.key === "ArrowDown") this.change(1);
      else if (event.key === "Enter" || event.key === " ") this.pinStep();
      else if (event.key === "r" || event.key === "R") this.changeRun();
      else if (event.key === "d" || event.key === "D") this.plot.group.toggleDifference();
      else if (event.key === "Escape" || event.key === "0") {
        this.zoomer.stopDrag();
        this.spoken = null;
        this.pointAll(null);
        group.reset(this.plot);
      } else return;
      event.preventDefault();
    }

    walk(stride) {
      const steps = this.steps();
      if (!steps.length) return;
      const now = steps.indexOf(this.step);
      const start = now < 0 ? (stride > 0 ? -1 : steps.length) : now;
      this.pointAll(steps[Math.min(steps.length - 1, Math.max(0, start + stride))]);
      this.readOut();
    }

    /** Choose the next series to read out; after the last one, all again. */
    change(stride) {
      const choices = [null, ...this.plot.visible];
      const now = Math.max(0, choices.indexOf(this.spoken));
      this.spoken = choices[(now + stride + choices.length) % choices.length];
      this.pointAll(this.step ?? this.steps()[0] ?? null);
      this.readOut();
    }

    /** Pin the step that is read, or take the pin away from it. */
    pinStep() {
      const { group } = this.plot;
      if (this.step !== null) group.pinAt(this.step === group.pin ? null : this.step, this.plot);
    }

    /** Show the next run alone, of the series that the keyboard chose or of all; after the last one, all again. */
    changeRun() {
      const { group, data } = this.plot;
      const series = this.spoken ? [this.spoken] : data.series;
      const runs = series.flatMap((one) => one.runs.map(({ name }) => ({ series: one.name, name })));
      const now = runs.findIndex(({ series: of, name }) => of === group.run?.series && name === group.run.name);
      if (runs.length) group.isolate(runs[now + 1] ?? null);
    }

    readOut() {
      if (this.step === null) return;
      const { plot } = this;
      const readings = plot.data.readings(plot.visible, this.step);
      const shown = this.spoken ? readings.filter(({ one }) => one === this.spoken) : readings;
      const words = shown.map(({ one, value, low, high }) => {
        if (value === null) return this.spoken ? `${one.label} has no value` : "";
        const ends = low === null ? [] : plot.readEnds({ value, low, high }, one);
        const interval = this.spoken && low !== null ? ` from ${ends.join(" to ")}` : "";
        const change = this.compared ? plot.data.change(one, this.step, plot.group.pin) : null;
        const moved = change === null ? "" : `, ${plot.saidDifference(change, one)} from ${plot.readX(plot.group.pin)}`;
        return `${one.label} ${plot.said(value, one, digitsOf({ low, high }))}${interval}${moved}`;
      });
      const place = live.placeWords(plot.x, plot.readX(this.step));
      const difference = !this.spoken && plot.data.difference(plot.visible, this.step);
      if (difference) words.push(`difference ${plot.saidDifference(difference.value, plot.visible[0], digitsOf(difference))}`);
      this.say(`${place}: ${words.filter(Boolean).join(", ")}`);
    }

    say(words) {
      this.said.textContent = words;
    }
  }

  function addPointer(plot) {
    plot.pointer = new Pointer(plot);
    plot.say = (words) => plot.pointer.say(words);
    plot.onDraw = () => {
      plot.pointer.point(plot.pointer.step);
      plot.pointer.pin.redrawn();
      plot.onRefresh?.();
    };
  }

  /** Vega's tooltips on an author's chart: fields and values as text. */
  function authorTooltip(box) {
    const tooltip = make("div", "rg-tooltip");
    tooltip.hidden = true;
    box.append(tooltip);
    return (handler, event, item, value) => {
      tooltip.hidden = value === null || value === undefined || value === "";
      if (tooltip.hidden) return;
      const pairs = typeof value === "object" ? Object.entries(value) : [["", value]];
      tooltip.replaceChildren(
        ...pairs.map(([label, text]) => {
          const row = make("div", "rg-tooltip-row");
          if (label) row.append(nameOf(label));
          const words = typeof text === "object" ? JSON.stringify(text) : String(text);
          row.append(make("span", "rg-value", words));
          return row;
        }),
      );
      const { left, top, right } = box.getBoundingClientRect();
      const room = right - left - tooltip.offsetWidth;
      stand(tooltip, Math.max(0, Math.min(event.clientX - left + APART, room)), event.clientY - top + APART);
    };
  }

  Object.assign(live, { addPointer, authorTooltip });
})(window.reportgenLive);

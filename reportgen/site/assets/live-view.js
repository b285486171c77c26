/* The Vega view that takes the place of a still picture. */
(function (live) {
  "use strict";

  const FADED = "25%";
  const LINE = 16; // pixels between names at the line ends
  const LEVEL = 5; // pixels that such a name may be above or below the end of its line
  const NEAR = 10; // pixels from the plot to such names, unless lines lead to some
  const LETTER = 7; // pixels of a digit at a tick, on average
  const ROOM = 0.06; // of the values that y is fitted to, above and below them
  const FLAT = 1e-6; // of the y axis, under which values are one
  const inPoints = (words) => words.replace(/%$/, " points"); // a difference of percentages
  const POINTS = ["means", "runs"]; // data sets that stay as they are when axes change

  /** Nothing is ever loaded; links of an author's chart may lead elsewhere. */
  function refusingLoader() {
    const loader = vega.loader();
    const sanitize = loader.sanitize.bind(loader);
    const refuse = (address) => Promise.reject(new Error(`A figure may not load ${address}`));
    loader.load = loader.http = loader.file = refuse;
    loader.sanitize = (address, options) =>
      options?.context === "href" ? sanitize(address, options) : refuse(address);
    return loader;
  }

  /** A view of a compiled specification, which draws in the page once it is initialized with an element there. */
  function makeView(specification, renderer, tooltip) {
    return viewOf(vega.parse(specification, null, { ast: true }), renderer, tooltip);
  }

  function viewOf(runtime, renderer, tooltip = () => {}) {
    const expr = vega.expressionInterpreter;
    return new vega.View(runtime, { expr, loader: refusingLoader(), logLevel: vega.Error, renderer, tooltip });
  }

  function compiled(payload) {
    return JSON.parse(document.querySelector(`script.rg-view[data-view="${payload.view}"]`).textContent);
  }

  /** The data sets of a specification that hold rows of their own. */
  function ownSets({ data }) {
    return data.filter(({ source }) => !source).map(({ name }) => name);
  }

  function addHost(plot) {
    const host = document.createElement("div");
    host.className = "rg-live";
    host.setAttribute("aria-hidden", "true");
    plot.append(host);
    return host;
  }

  /** A plot of reportgen's own: curve and panel figures. */
  class Plot {
    constructor(figure, group) {
      this.figure = figure;
      this.group = group;
      this.box = figure.querySelector(".rg-plot");
      this.still = this.box.querySelector("svg");
      this.surface = this.box.querySelector(".rg-surface");
      const own = JSON.parse(figure.querySelector(".rg-payload").textContent);
      const names = own.series.map(({ name }) => name);
      this.axes = [own, ...(own.others ?? [])].map((payload) => new live.Axes(payload, names)); // the author's first
      this.y = own.y;
      this.span = null; // the part of the y axis in the box that the reader drew, null for none
    }

    /** The x that the reader chose, and the data over it; otherwise the author's. */
    get chosen() {
      const { over } = this.group.shown;
      return (over !== null && this.axes.find(({ payload }) => payload.x.title === over)) || this.axes[0];
    }

    get payload() {
      return this.chosen.payload;
    }

    get given() {
      return this.chosen.given;
    }

    get readX() {
      return this.chosen.readX;
    }

    /** The y axis of a series or mark, as it is now. */
    axisOf({ right }) {
      return right ? this.payload.right : this.y;
    }

    /** A value of a series in words, and with the unit of its axis; ``digits`` as ``reader`` takes them. */
    read(value, { right }, digits) {
      return right ? this.chosen.readRight(value, digits) : this.readY(value, digits);
    }

    get readY() {
      return this.chosen.readY;
    }

    said(value, one, digits) {
      return `${this.read(value, one, digits)}${this.axisOf(one).unit ?? ""}`;
    }

    /** A difference of two values of a series, with its sign. */
    saidDifference(value, one, digits) {
      return live.signed(value, inPoints(this.said(value, one, { significant: 1, ...digits })));
    }

    /** The ends of a value's interval, with its digits and no unit. */
    readEnds({ value, low, high }, one) {
      const digits = { like: value, half: (high - low) / 2 };
      return [low, high].map((end) => this.read(end, one, digits).replace("%", ""));
    }

    /** The two series whose difference can be shown: those that are shown now; otherwise null. */
    get pair() {
      const pair = this.given.series.filter((one) => this.group.shows(one.name));
      return pair.length === 2 && this.given.comparable ? this.given.order(pair) : null;
    }

    /** The difference of the two series shown, which is drawn below them; null where it is not. */
    get strip() {
      const { pair, data, payload } = this;
      if (!pair || !(this.group.shown.difference ?? payload.strip)) return null;
      const keys = pair.map(({ key }) => key).join();
      if (this.derived?.keys !== keys || this.derived.data !== data) {
        const shown = pair.map(({ name }) => data.series.find((one) => one.name === name));
        this.derived = { keys, data, strip: live.subtract(data, shown, payload.y) };
      }
      return this.derived.strip;
    }

    /** The weight of the reader's smoothing; null where it is as the author has it. */
    get weight() {
      const { smooth } = this.group.shown;
      return smooth === (this.payload.smooth ?? 0) ? null : smooth;
    }

    /** The figure's own data, or as the reader smooths them. */
    get data() {
      const { weight, given } = this;
      if (weight === null) return given;
      if (this.redone?.weight !== weight || this.redone.given !== given) {
        this.redone = { weight, given, data: live.smoothed(given, weight) };
      }
      return this.redone.data;
    }

    get runs() {
      return this.group.shown.runs;
    }

    /** The runs of a series that are shown: all, or the one that is isolated. */
    runsOf(one) {
      const { run } = this.group;
      if (!this.runs) return [];
      return run ? one.runs.filter(({ name }) => run.series === one.name && run.name === name) : one.runs;
    }

    get band() {
      return this.group.shown.band;
    }

    /** Whether the y axis is a log axis: the author's choice, or the reader's where the values allow it. */
    get log() {
      const given = this.payload.y.scale === "log";
      return this.data.positive ? (this.group.shown.log ?? given) : given;
    }

    get visible() {
      return this.data.series.filter((one) => this.group.shows(one.name));
    }

    /** The x axis as it is now. */
    get x() {
      return { ...this.payload.x, domain: this.group.domain ?? this.payload.x.domain };
    }

    /** The y axis to show now: of all values, or while x is zoomed the part in the reader's box or that of the lines
        shown. */
    chooseY() {
      const whole = this.wholeY();
      if (this.group.domain && this.span) return { ...whole, domain: this.span };
      return this.group.domain && this.group.shown.fit ? this.fitted(whole) : whole;
    }

    /** The part of an axis that has every line, band and thin line shown in it, with some room. */
    fitted(whole) {
      const left = this.visible.filter((one) => !one.right); // the right axis stays whole
      const values = left.flatMap((one) => this.data.valuesInside(one, this.x, this.band, this.runsOf(one)));
      const parts = values.map((value) => live.fraction(whole, value)).filter(Number.isFinite);
      if (!parts.length) return whole;
      const low = Math.max(0, parts.reduce((a, b) => Math.min(a, b)));
      const high = Math.min(1, parts.reduce((a, b) => Math.max(a, b)));
      if (high < low) return whole;
      const room = high - low > FLAT ? ROOM * (high - low) : 2 * ROOM;
      const ends = [Math.max(0, low - room), Math.min(1, high + room)];
      if (ends[0] === 0 && ends[1] === 1) return whole;
      return { ...whole, domain: ends.map((end) => live.valueOf(whole, end)) };
    }

    /** The whole y axis: the reader may have asked for a log axis, or for all values. */
    wholeY() {
      const { y } = this.payload;
      if (this.log === (y.scale === "log") && !(y.auto && !this.group.shown.fit)) return y;
      const values = this.data.values;
      const low = values.reduce((a, b) => Math.min(a, b));
      const high = values.reduce((a, b) => Math.max(a, b));
      if (this.log) {
        const room = high > low ? (high / low) ** 0.04 : 2;
        return { ...y, scale: "log", domain: [low / room, high * room] };
      }
      const room = (high - low) / 25 || Math.abs(low) / 10 || 1;
      return { ...y, scale: "linear", domain: [low - room, high + room] };
    }

    /** Choose the y axis, and measure what is there for it. */
    settle() {
      this.y = this.chooseY();
      const high = this.payload.height + (this.strip ? live.STRIP : 0);
      if (!document.fullscreenElement) this.still.style.height = `${high}px`;
      this.room = this.measure();
    }

    /** The room there is: fractions of a pixel count, or the live view would stand beside the still one. */
    measure() {
      const { width, height: whole } = this.surface.getBoundingClientRect();
      const strip = this.strip ? live.STRIP : 0;
      const narrow = getComputedStyle(this.still).getPropertyValue("--rg-narrow").trim() === "1";
      return { width, height: Math.max(0, whole - strip), strip, narrow };
    }

    /** Names at the line ends: where the still picture has them, or where the lines now end. */
    ends({ height, narrow }) {
      if (narrow) return [];
      const { x, y, payload } = this;
      if (!this.group.domain && this.weight === null && y === payload.y && height === payload.height) return payload.ends;
      const found = payload.ends.flatMap(({ text }) => {
        const line = this.data.series.find((one) => one.name === text);
        const value = this.data.valueAt(line, x.domain[1], x);
        return value === null ? [] : [{ text, at: (1 - live.fraction(this.axisOf(line), value)) * height }];
      });
      const wanted = found.map(({ at }) => Math.min(height, Math.max(0, at)));
      const places = live.spread(wanted, LINE, height);
      const { dx = NEAR } = payload.ends[0] ?? {};
      const atEnd = (i) => (Math.abs(places[i] - wanted[i]) > LEVEL ? { at: wanted[i] } : {});
      return found.map(({ text }, i) => ({ text, y: places[i], dx, ...atEnd(i) }));
    }

    /** The view's signals for a room; ``ink`` makes a colour of a series' own and of whether it is faded. */
    signals({ width, height, strip, narrow }, ink) {
      const { payload: given, x, y } = this;
      const series = this.data.series;
      const xAxis = this.group.domain ? live.freshTicks(x, Math.max(3, width / 90)) : x;
      const yAxis = y === given.y ? y : this.yTicks(height);
      const { right } = given;
      const atRight = right && {
        right_domain: right.domain,
        right_ticks: right.ticks,
        right_format: right.format,
        right_title: right.title,
        right_title_x: given.margins.right,
      };
      return {
        ...atRight,
        x_domain: x.domain,
        x_ticks: narrow && xAxis === x ? x.ticks.filter((_, i) => i % 2 === 0) : xAxis.ticks,
        x_format: xAxis.format,
        x_title: x.title,
        y_domain: y.domain,
        y_ticks: yAxis.ticks,
        y_format: yAxis.format,
        y_title: y.title,
        y_title_x: -given.margins.left,
        keys: series.map((one) => one.key),
        colours: series.map((one) => ink(one.colour, !this.visible.includes(one))),
        dashes: series.map((one) => one.dash),
        shapes: series.map((one) => one.shape),
        margins: { ...given.margins, bottom: given.margins.bottom + strip, ...(narrow && !right && { right: 16 }) },
        clip: given.clip || Boolean(this.group.domain) || y !== given.y,
      };
    }

    /** Ticks of a y axis that the reader chose: fewer where their words would not fit beside the plot, or 20k. */
    yTicks(height) {
      const { y, payload } = this;
      const fits = ({ ticks, format }) => {
        const write = vega.scale("linear")().domain(y.domain).tickFormat(ticks.length, format);
        return ticks.every((tick) => write(tick).length * LETTER <= payload.margins.left);
      };
      for (let count = Math.max(3, Math.round(height / 60)); count > 2; count--) {
        const axis = live.freshTicks(y, count);
        if (fits(axis)) return axis;
      }
      return y.domain[1] < 1000 ? live.freshTicks(y, 2) : { ...live.freshTicks(y, 3), format: "~s" };
    }

    /** The rows of these of the view's data sets. */
    listRows(names, room) {
      const { data, payload } = this;
      const key = (name) => data.series.find((one) => one.name === name).key;
      const made = {
        strip_paths: () => live.stripPaths(this.strip, this.x, room, payload.symbols),
        strip_points: () => live.stripPoints(this.strip, this.x, payload.symbols),
        means: () => data.means(this.band, this.log ? this.y.domain[0] : -Infinity),
        runs: () => data.runPoints((one) => this.runsOf(one)),
        ends: () => this.ends(room).map((end) => ({ series: key(end.text), dx: NEAR, ...end })),
      };
      const marks = this.marks(room);
      return names.map((name) => [name, marks[name] ?? made[name]?.() ?? this.listPaths(name, room)]);
    }

    /** Rows of a data set of paths: those of one kind of mark, of the series on one y axis. */
    listPaths(name, room) {
      const [, right, kind] = /^(right_)?(.*)_paths$/.exec(name);
      const own = this.data.backToFront.filter((one) => Boolean(one.right) === Boolean(right));
      return own.flatMap((one) => this.pathsOf(one, kind, room).map((path) => ({ series: one.key, path })));
    }

    pathsOf(one, kind, room) {
      const { x } = this;
      const y = this.axisOf(one);
      if (kind === "runs") {
        return this.runsOf(one).map(({ steps, values }) => live.tracePath(steps, values, x, y, room));
      }
      if (kind === "bands") {
        if (!this.band || !one.low || one.bars) return []; // bars are rows of means
        // A band that extends below the domain of a log axis starts at the bottom of the plot.
        const low = y.scale === "log" ? one.low.map((end) => (end === null ? null : Math.max(end, y.domain[0]))) : one.low;
        return [live.traceBand(one.steps, low, one.high, x, y, room)];
      }
      const values = kind === "lines" ? one.y : one.raw;
      return values ? [live.tracePath(one.steps, values, x, y, { ...room, shift: one.shift })] : [];
    }

    /** Reference lines and annotations that the axes now show, with their words where they have room. */
    marks(room) {
      const { x, y, payload } = this;
      const shown = (axis, value) => value === null || live.within(axis, value);
      const rows = (given) =>
        given
          .filter((mark) => shown(x, mark.x) && shown(this.axisOf(mark), mark.y))
          .map(({ x: step, y: value, short, series, ...mark }) => {
            const text = (room.narrow && short) || mark.text;
            const faded = series !== undefined && !this.group.shows(series);
            return { ...mark, step, value, text, faded };
          });
      // What annotations say is about values that are not smoothed.
      const notes = this.weight === null ? payload.annotations : [];
      const [references, annotations] = [rows(payload.references), rows(notes)];
      if (y === payload.y && room.height === payload.height) return { references, annotations };
      const kept = live.withoutOverlap([...references, ...annotations], x, (row) => this.axisOf(row), room);
      return { references: kept.slice(0, references.length), annotations: kept.slice(references.length) };
    }

    /** The compiled specification with a room's signals in it, and its rows. */
    filledSpecification(room, ink) {
      const spec = this.specification(room, ink);
      const rows = new Map(this.listRows(ownSets(spec), room));
      for (const set of spec.data) if (rows.has(set.name)) set.values = rows.get(set.name);
      return spec;
    }

    /** The compiled specification with a room's signals in it. */
    specification(room, ink) {
      const { payload } = this;
      const spec = compiled(payload);
      const signals = this.signals(room, ink);
      if (this.strip) live.addStrip(spec, this.strip);
      if (this.weight && !payload.right && !this.given.series.some(({ raw }) => raw)) {
        spec.data.push({ name: "reader_raw_paths" });
        spec.marks.unshift(live.rawMarks());
      }
      for (const signal of spec.signals) signal.value = signals[signal.name];
      const y = spec.scales.find((scale) => scale.name === "y");
      y.type = this.y.scale;
      return { ...spec, width: room.width, height: room.height };
    }

    /** What a view is built for: another kind of y axis or of lines needs another one. */
    get mode() {
      const { payload, log, weight } = this;
      return `${payload.x.title} ${log} ${this.strip?.name} ${this.strip ? weight : Boolean(weight)}`;
    }

    /** Build the view; a change of its mode builds it again. The first time, in parts that block nothing for long. */
    async draw() {
      const rest = this.view ? () => {} : pause;
      this.stale = false;
      this.settle();
      this.drawn = this.mode;
      const spec = this.filledSpecification(this.room, Plot.ink);
      const paths = spec.data.filter(({ name }) => name.endsWith("_paths")).map((set) => [set, set.values]);
      for (const [set] of paths) set.values = []; // each kind of path is drawn in a task of its own
      await rest();
      const runtime = vega.parse(spec, null, { ast: true });
      await rest();
      const view = viewOf(runtime, "svg");
      await rest();
      await view.runAsync();
      await rest();
      for (const [{ name }, rows] of paths) {
        await view.data(name, rows).runAsync();
        await rest();
      }
      const host = addHost(this.box);
      await view.initialize(host).runAsync();
      this.view?.finalize();
      this.host?.remove();
      Object.assign(this, { view, host });
      this.sets = ownSets(spec);
      if (!this.stale) return this.drawnNow();
      this.stale = false;
      this.refresh("means", "runs");
    }

    static ink(colour, faded) {
      return faded ? `color-mix(in srgb, ${colour} ${FADED}, transparent)` : colour;
    }

    /** Show the state as it is now; ``names`` are the data sets that changed. */
    refresh(...names) {
      if (!this.view) return void (this.stale = true); // it waits or is being drawn, and can be read already
      if (this.drawn !== this.mode) return void this.draw();
      this.settle();
      const signals = this.signals(this.room, Plot.ink);
      for (const [name, value] of Object.entries(signals)) this.view.signal(name, value);
      const changed = this.sets.filter((name) => !POINTS.includes(name) || names.includes(name));
      for (const [name, rows] of this.listRows(changed, this.room)) this.view.data(name, rows);
      this.view.width(this.room.width).height(this.room.height).run();
      this.drawnNow();
    }

    drawnNow() {
      this.figure.classList.toggle("rg-is-zoomed", Boolean(this.group.domain));
      this.onDraw?.();
    }

    resized() {
      const now = this.measure();
      if (["width", "height", "narrow"].some((name) => now[name] !== this.room[name])) this.refresh();
    }
  }

  /** An author's own chart: the view at its compiled size, scaled with its box like the still picture. */
  async function enlivenAuthors(figure) {
    const box = figure.querySelector(".rg-plot");
    const payload = JSON.parse(figure.querySelector(".rg-payload").textContent);
    const host = addHost(box);
    const chart = compiled(payload);
    const phone = box.querySelector("svg.rg-narrow");
    if (phone && getComputedStyle(phone).display !== "none") fitPhone(chart, phone);
    const view = makeView(chart, "svg", live.authorTooltip(box));
    await view.initialize(host).runAsync();
    for (const type of SENT_AGAIN) host.addEventListener(type, correct, { capture: true });
    figure.classList.add("rg-is-live");
  }

  /** As wide as the still picture for phones, with legends below unless they have a place. */
  function fitPhone(chart, picture) {
    const autosize = { type: "fit-x", contains: "padding" };
    Object.assign(chart, { width: picture.viewBox.baseVal.width, autosize });
    for (const legend of chart.legends ?? []) {
      if (!legend.orient) Object.assign(legend, { orient: "bottom", direction: "horizontal", columns: 2 });
    }
  }

  const SENT_AGAIN = "pointerdown pointermove pointerup mousedown mousemove mouseup click".split(" ");
  const KEYS = ["shiftKey", "ctrlKey", "altKey", "metaKey"];
  const KEPT = ["bubbles", "cancelable", "button", "buttons", "pointerId", "pointerType", ...KEYS];

  /** Vega reads pointers in its own pixels: where a chart is shown smaller they are sent again, corrected. */
  function correct(event) {
    const drawn = event.currentTarget.querySelector("svg");
    const { left, top, width } = drawn.getBoundingClientRect();
    const scale = width / drawn.viewBox.baseVal.width;
    if (!event.isTrusted || Math.abs(scale - 1) < 0.01) return;
    event.stopImmediatePropagation();
    const again = Object.fromEntries(KEPT.map((name) => [name, event[name]]));
    again.clientX = left + (event.clientX - left) / scale;
    again.clientY = top + (event.clientY - top) / scale;
    event.target.dispatchEvent(new event.constructor(event.type, again));
  }

  /** Let the browser do what waits: no task of ours should be long. */
  function pause() {
    return new Promise((resolve) => setTimeout(resolve));
  }

  /** Let the browser show what has changed: a second frame begins when the first one is shown. */
  function nextFrame() {
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))));
  }

  /** Make a figure, or panels together, alive; the still pictures stay until each view is drawn. */
  async function enliven(unit) {
    await document.fonts.ready;
    const figures = unit.matches(".rg-figure") ? [unit] : [...unit.querySelectorAll(".rg-figure")];
    if (unit.querySelector(".rg-fixed")) {
      await enlivenAuthors(unit);
      live.addAuthorTools(unit);
      return;
    }
    const group = new live.Group(unit);
    group.plots = figures.map((figure) => new Plot(figure, group));
    group.join();
    group.plots.forEach((plot) => plot.settle());
    group.plots.forEach(live.addPointer);
    const over = group.plots.find(({ surface }) => surface.contains(live.lastMove?.target));
    over?.pointer.moved(live.lastMove);
    for (const plot of group.plots) new ResizeObserver(() => plot.resized()).observe(plot.box);
    await nextFrame(); // values are read from the still picture first: drawing takes several times as long
    for (const plot of group.plots) {
      await plot.draw();
      await pause();
    }
    for (const { figure } of group.plots) figure.classList.add("rg-is-live");
    live.addTools(group);
    group.plots.forEach(live.addState);
    live.addLegend(group);
  }

  Object.assign(live, { enliven, makeView, compiled, Plot });
})(window.reportgenLive);

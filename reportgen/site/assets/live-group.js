/* What figures show together: those of a group, such as panels, and groups of a page that share an x axis. */
(function (live) {
  "use strict";

  /** What the toolbar switches: a log y axis (null: as the author says), what is drawn beside the lines, whether y
      fits the lines while x is zoomed, whether the difference of two series is shown below them, and the weight of smoothing
      and the title of x that the reader chose (null: as the author says). */
  const SHOWN = { log: null, runs: true, band: true, fit: true, difference: null, smooth: null, over: null };
  const FEWEST = 2; // steps of a group inside a range that it is zoomed to with others

  /** Groups that are alive, and by x axis the range that those of it show. */
  const page = { groups: new Set(), domains: new Map(), linked: true };

  function isInWindow({ surface }) {
    const { top, bottom } = surface.getBoundingClientRect();
    return bottom > 0 && top < window.innerHeight;
  }

  /** Figures that share what is shown: panels, or one figure alone. */
  class Group {
    constructor(root) {
      this.root = root;
      this.domain = null; // the x that are shown, null for all
      this.chosen = null; // names of the series that stand out, null for all
      this.run = null; // the series and name of the run that is shown alone, null for all
      this.pin = null; // the step that others are compared with
      this.pinned = null; // the plot that it was pinned in
      this.shown = SHOWN;
      this.plots = [];
    }

    /** Take part in what the page shows, before anything is drawn. */
    join() {
      page.groups.add(this);
      this.domain = this.fitting(page.domains.get(this.axis) ?? null);
    }

    /** What groups have in common whose x axes are one. */
    get axis() {
      const { title, scale } = this.plots[0].payload.x;
      return JSON.stringify([title.toLowerCase(), scale === "time"]);
    }

    /** Other groups that are alive on the same x axis. */
    get others() {
      return [...page.groups].filter((group) => group !== this && group.axis === this.axis);
    }

    get linked() {
      return page.linked;
    }

    get names() {
      return [...new Set(this.plots.flatMap((plot) => plot.given.series.map((one) => one.name)))];
    }

    shows(name) {
      return this.chosen === null || this.chosen.has(name);
    }

    /** Show one series only, or all again; ``more`` adds a series to those shown or takes it away. */
    choose(name, more) {
      const alone = this.chosen?.size === 1 && this.chosen.has(name);
      const next = more ? new Set(this.chosen ?? this.names) : new Set();
      if (!next.delete(name) && !(alone && !more)) next.add(name);
      this.chosen = next.size && next.size < this.names.length ? next : null;
      this.run = null;
      this.refresh("runs");
      const shown = this.names.filter((one) => this.shows(one));
      this.plots[0].say(this.chosen ? `Showing ${shown.join(", ")}` : "Showing all series");
    }

    /** Show one run alone, with the line of its series; null shows all. */
    isolate(run) {
      this.run = run;
      this.chosen = run && this.names.length > 1 ? new Set([run.series]) : null;
      this.refresh("runs");
      this.plots[0].say(run ? `Showing run ${run.name} of ${run.series}` : "Showing all series");
    }

    /** Compare other steps with this one; null compares none. */
    pinAt(step, plot = null) {
      Object.assign(this, { pin: step, pinned: plot });
      this.plots.forEach((one) => one.onDraw());
      const [{ payload, readX, say }] = this.plots;
      say(step === null ? "No step is pinned" : `${live.placeWords(payload.x, readX(step))} is pinned`);
    }

    /** Show a part of the x axis here and in linked groups, null for all of it; in one plot also a part of y. */
    zoom(domain, plot = null, span = null) {
      if (!domain && !this.domain) return;
      this.restore({ domain, plot, span });
      const [first] = this.plots;
      const place = () => live.placeInSentence(first.payload.x, domain.map(first.readX).join(" to "));
      const box = () => (span ? `, y from ${span.map(plot.readY).join(" to ")}` : "");
      first.say(domain ? `Zoomed: ${place()}${box()}` : "Showing the whole range");
    }

    /** Show this state; what it does not name stays. */
    restore({ domain, plot = null, span = null, ...state }, ...names) {
      Object.assign(this, { domain, ...state });
      for (const one of this.plots) one.span = one === plot ? span : null;
      this.refresh(...names);
      if (!page.linked) return;
      const shared = this.isWhole(domain) ? null : domain; // of a figure that is zoomed in y alone
      page.domains.set(this.axis, shared);
      this.others.forEach((group) => group.follow(shared));
    }

    /** Show everything as it was at first. */
    reset(plot) {
      const { chosen, domain, shown, pin, run } = this;
      if (![chosen, domain, pin, run].some((part) => part !== null) && shown === SHOWN) return;
      this.restore({ chosen: null, domain: null, shown: SHOWN, pin: null, pinned: null, run: null }, "means", "runs");
      plot.say("Showing everything");
    }

    isWhole(domain) {
      return this.plots.some(({ payload }) => payload.x.domain === domain);
    }

    /** A range of another group, where this one has enough in it; otherwise its whole axis. */
    fitting(domain) {
      if (!domain) return null;
      const inside = ({ given }) => given.stepsOf(given.series).filter((x) => x >= domain[0] && x <= domain[1]);
      return this.plots.some((plot) => inside(plot).length >= FEWEST) ? domain : null;
    }

    follow(domain) {
      const next = this.fitting(domain);
      if (next === this.domain) return;
      this.domain = next;
      this.plots.forEach((plot) => (plot.span = null));
      this.refresh();
    }

    /** Whether figures of one x axis are zoomed and read together. */
    link(linked) {
      page.linked = linked;
      this.others.forEach((group) => group.follow(linked ? this.domain : null));
      if (linked) page.domains.set(this.axis, this.domain);
      else page.domains.clear();
      this.refresh();
    }

    /** Show a step in linked groups that can be seen, null for none. */
    pointOthers(step) {
      if (!page.linked) return;
      for (const { pointer } of this.others.flatMap(({ plots }) => plots)) {
        if (!pointer) continue;
        pointer.reads = false;
        const here = step !== null && live.within(pointer.plot.x, step) && isInWindow(pointer.plot);
        if (here || pointer.step !== null) pointer.point(here ? step : null);
      }
    }

    /** Switch something that the toolbar switches. */
    show(changes) {
      this.shown = { ...this.shown, ...changes };
      this.refresh("means", "runs");
    }

    /** Show the lines over another x, by its title; null is the author's. */
    showOver(title) {
      this.plots[0].pointer.pointAll(null);
      Object.assign(this, { pin: null, shown: { ...this.shown, over: title } });
      this.plots.forEach((plot) => (plot.span = null));
      this.domain = this.fitting(page.domains.get(this.axis) ?? null);
      this.refresh("means", "runs");
    }

    /** Show the difference of the two series shown below their lines, or no longer. */
    toggleDifference() {
      const plot = this.plots.find(({ pair }) => pair);
      if (!plot) return this.plots[0].say("A difference needs two series: choose them in the legend");
      const difference = !plot.strip;
      this.show({ difference });
      const [a, b] = plot.pair.map(({ name }) => name);
      this.plots[0].say(difference ? `Showing ${a} minus ${b}` : `Showing ${a} and ${b}`);
    }

    refresh(...names) {
      this.plots.forEach((plot) => plot.refresh(...names));
    }
  }

  Object.assign(live, { Group, SHOWN });
})(window.reportgenLive);

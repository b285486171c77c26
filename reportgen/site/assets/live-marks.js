/* Figures made of marks come alive: rows of dots and intervals, and heat maps. Their picture stays as it
   is; what is added reads it out, by pointer and by keyboard, and isolates a series in the whole block.
   No Vega. A mark is a group with data-rg-tip (its words, a line each) and data-rg-series; the cells of a
   heat map are found by their place, and their words made of the figure's data. */
(function (live) {
  "use strict";

  const { make } = live;
  const APART = 10; // pixels between a mark and its tooltip
  const CLOSE = 8; // pixels around a mark that are as good as on it
  const ROW = 16; // pixels above and below a mark that still belong to its row
  const RING = 4; // pixels between a mark and the ring around it

  /** The marks of a picture, in reading order: where each stands, what it says, and its series. */
  class Marks {
    ring = RING;

    constructor(picture) {
      this.parts = [...picture.querySelectorAll("[data-rg-series]")];
      this.marks = [...picture.querySelectorAll(".rg-mark")];
      this.series = [...new Set(this.parts.map((part) => part.dataset.rgSeries))];
    }

    get all() {
      return this.marks.filter((mark) => mark.getClientRects().length);
    }

    place(mark) {
      return mark.getBoundingClientRect();
    }

    seriesOf(mark) {
      return mark.dataset.rgSeries;
    }

    lines(mark) {
      return (mark.dataset.rgTip ?? "").split("\n");
    }

    /** The mark that is nearest to a point of the window, if the point is in its row: close to marks their
        distance counts, farther away the height decides, so that pointing at a name finds its row. */
    at(x, y) {
      const far = ({ left, right, top, bottom }) => {
        const [across, down] = [Math.max(0, left - x, x - right), Math.max(0, top - y, y - bottom)];
        if (down > ROW) return Infinity;
        const away = Math.hypot(across, down);
        return away > CLOSE ? CLOSE + 1e4 * down + across : away;
      };
      const seen = this.all.map((mark) => ({ mark, away: far(this.place(mark)) }));
      const near = seen.filter(({ away }) => away < Infinity).sort((a, b) => a.away - b.away);
      return near[0]?.mark ?? null;
    }

    /** The series whose row a point of the window is in. */
    seriesAt(x, y) {
      const mark = this.at(x, y);
      return mark && this.seriesOf(mark);
    }

    /** The mark that an arrow key leads to: the next one, or the first of the next series. */
    step(mark, across, down) {
      const marks = this.all;
      const end = (stride) => (stride > 0 ? marks[0] : marks.at(-1));
      const now = marks.indexOf(mark);
      if (now < 0) return end(across || down);
      if (across) return marks[now + across] ?? mark;
      const other = (one) => this.seriesOf(one) !== this.seriesOf(mark);
      const ahead = down > 0 ? marks.slice(now + 1).find(other) : marks.slice(0, now).findLast(other);
      if (!ahead) return mark;
      return down > 0 ? ahead : marks.find((one) => this.seriesOf(one) === this.seriesOf(ahead));
    }

    edge(stride) {
      return stride < 0 ? this.all[0] : this.all.at(-1);
    }

    /** Fade every part that belongs to none of these series; null shows all. */
    show(chosen) {
      for (const part of this.parts) {
        part.classList.toggle("rg-faded", chosen !== null && !chosen.has(part.dataset.rgSeries));
      }
    }
  }

  /** A heat map: its picture is as large as its cells, a row for each series and a column for each problem.
      A cell is [series, problem], both by their place in the data. */
  class Cells extends Marks {
    ring = 1;

    constructor(picture, data) {
      super(picture);
      this.data = data;
      this.opens = live.hasFiles && Boolean(data.texts); // whether a cell opens its samples
      this.series = data.series;
      this.picture = picture;
    }

    /** Where a cell stands in the window. */
    place([series, problem]) {
      const { left, top, width, height } = this.picture.getBoundingClientRect();
      const wide = width / this.data.problems.length;
      const high = height / this.series.length;
      return new DOMRect(left + problem * wide, top + series * high, wide, high);
    }

    seriesOf([series]) {
      return this.series[series];
    }

    lines([series, problem]) {
      const { score, samples, right, problems, tags } = this.data;
      const place = score[series][problem];
      const many = plural(samples[series][problem], "sample");
      const count = right ? `, ${right[series][problem]} of ${many} right` : ` of ${many}`;
      const words = place === null ? "no answer" : `${this.data.words[place]}${count}`;
      const more = this.opens && place !== null ? ["Click or Enter opens its samples"] : [];
      return [problems[problem], tags[problem], `${this.series[series]}: ${words}`, ...more];
    }

    at(x, y) {
      const { left, top, width, height } = this.picture.getBoundingClientRect();
      const across = Math.floor(((x - left) / width) * this.data.problems.length);
      const down = Math.floor(((y - top) / height) * this.series.length);
      return this.score(down, across) === undefined ? null : [down, across];
    }

    seriesAt(x, y) {
      const { top, height } = this.picture.getBoundingClientRect();
      return this.series[Math.floor(((y - top) / height) * this.series.length)];
    }

    score(series, problem) {
      return this.data.score[series]?.[problem];
    }

    step(cell, across, down) {
      if (!cell) return [0, 0];
      const next = [cell[0] + down, cell[1] + across];
      return this.score(...next) === undefined ? cell : next;
    }

    edge(stride, cell) {
      return [cell?.[0] ?? 0, stride < 0 ? 0 : this.data.problems.length - 1];
    }
  }

  function plural(count, word) {
    return `${count} ${word}${count === 1 ? "" : "s"}`;
  }

  /** A file of a picture as PNG. */
  async function drawFile(address) {
    const picture = new Image();
    picture.src = address;
    await picture.decode();
    const canvas = make("canvas", "");
    [canvas.width, canvas.height] = [2 * picture.naturalWidth, 2 * picture.naturalHeight];
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return live.readPixels(canvas);
  }

  const STRIDES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  /** One figure that can be read: a surface over its picture takes the pointer and the keyboard. */
  class Reader {
    constructor(figure, block) {
      this.figure = figure;
      this.block = block;
      this.plot = figure.querySelector(".rg-plot");
      const picture = this.plot.querySelector("svg");
      const data = figure.querySelector(":scope > .rg-heat-data");
      this.marks = data ? new Cells(picture, JSON.parse(data.textContent)) : new Marks(picture);
      this.now = null; // the mark that is read out
      this.surface = this.makeSurface();
      this.ring = make("div", "rg-ring");
      this.tooltip = make("div", "rg-tooltip");
      this.said = make("div", "rg-unseen");
      this.said.setAttribute("role", "status");
      this.ring.hidden = this.tooltip.hidden = true;
      this.surface.append(this.ring);
      this.plot.append(this.surface, this.said, this.makeTools(), this.tooltip);
      this.listen();
    }

    makeSurface() {
      const { id } = this.figure;
      const surface = make("div", "rg-surface");
      surface.tabIndex = 0;
      surface.setAttribute("role", "application");
      surface.setAttribute("aria-roledescription", "chart");
      surface.setAttribute("aria-labelledby", `${id}-title`);
      surface.setAttribute("aria-describedby", `${id}-summary rg-mark-keys`);
      surface.classList.toggle("rg-opens", Boolean(this.marks.opens));
      return surface;
    }

    makeTools() {
      const { figure } = this;
      const say = (words) => this.say(words);
      this.all = live.toolButton("Show all series", "", () => {
        this.block.choose(null, this);
        this.surface.focus({ preventScroll: true });
      });
      this.all.hidden = true;
      const files = { svg: "SVG picture", pdf: "PDF picture", csv: "CSV, the numbers", spec: "Vega-Lite JSON" };
      const choices = live.fileLinks(figure, files);
      const [svg] = choices;
      if (live.canRead(svg)) choices.unshift(live.pictureChoice(figure, "PNG", () => drawFile(svg.href), say));
      const view = live.viewMenu(live.fullScreenChoice(figure, () => this.point(null)));
      const state = () => this.block.state;
      live.placeCite(figure, live.citeMenu(figure, say, state));
      return live.makeBar(this.all, ...view, live.saveMenu(choices), live.linkButton(figure, say, state));
    }

    listen() {
      const { surface } = this;
      const on = (type, act) => surface.addEventListener(type, act);
      on("pointermove", (event) => event.pointerType === "touch" || this.follow(event));
      on("pointerdown", (event) => {
        this.before = this.now && this.tooltip.textContent;
        this.follow(event);
      });
      on("pointerleave", (event) => event.pointerType === "touch" || this.point(null));
      on("click", (event) => this.clicked(event));
      on("keydown", (event) => this.key(event));
      on("blur", () => this.point(null));
      document.addEventListener("pointerdown", (event) => {
        if (!surface.contains(event.target)) this.point(null);
      });
      new ResizeObserver(() => this.point(this.now)).observe(this.plot);
    }

    follow(event) {
      this.point(this.marks.at(event.clientX, event.clientY));
    }

    /** Open the samples of a cell, if it has some; whether it has. */
    open(cell) {
      if (!this.marks.opens || !cell || this.marks.score(...cell) === null) return false;
      live
        .load(["live-samples.js"])
        .then(() => live.openSamples(this, cell))
        .catch((problem) => console.error(problem.message));
      return true;
    }

    /** A click opens a cell or isolates; on a touch screen the first tap reads and the second one does so. */
    clicked(event) {
      if (event.pointerType === "touch" && this.now && this.before !== this.tooltip.textContent) return;
      const { clientX: x, clientY: y } = event;
      if (!this.open(this.marks.at(x, y))) this.block.choose(this.marks.seriesAt(x, y), this);
    }

    /** Show a mark's words beside it; null shows none. */
    point(mark) {
      this.now = mark;
      this.ring.hidden = this.tooltip.hidden = mark === null;
      if (mark === null) return;
      const [head, ...rest] = this.marks.lines(mark);
      const line = (className, words) => {
        const row = make("div", className, words);
        row.dir = "auto";
        return row;
      };
      this.tooltip.replaceChildren(line("rg-tip-head", head), ...rest.map((words) => line("rg-tip", words)));
      const place = this.marks.place(mark);
      this.putRing(place);
      this.putTooltip(place);
    }

    putRing({ x, y, width, height }) {
      const { left, top } = this.surface.getBoundingClientRect();
      const room = this.marks.ring;
      this.ring.style.width = `${width + 2 * room}px`;
      this.ring.style.height = `${height + 2 * room}px`;
      this.ring.style.transform = `translate(${x - left - room}px, ${y - top - room}px)`;
    }

    /** Above the mark, or below it where the window has no room above; never out of the figure's sides. */
    putTooltip(place) {
      const { tooltip } = this;
      const box = this.plot.getBoundingClientRect();
      const { offsetWidth: width, offsetHeight: height } = tooltip;
      const above = place.top - APART - height;
      const x = place.left + place.width / 2 - width / 2 - box.left;
      const y = (above > 0 ? above : place.bottom + APART) - box.top;
      const inside = Math.max(0, Math.min(x, box.width - width));
      tooltip.style.left = `${Math.round(inside)}px`;
      tooltip.style.top = `${Math.round(y)}px`;
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.surface) return;
      const { marks, now } = this;
      if (event.key in STRIDES) this.read(marks.step(now, ...STRIDES[event.key]));
      else if (event.key === "Home") this.read(marks.edge(-1, now));
      else if (event.key === "End") this.read(marks.edge(1, now));
      else if (event.key === "Enter" || event.key === " ") {
        if (event.key === " " || !this.open(now)) now && this.block.choose(marks.seriesOf(now), this);
      } else if (event.key === "Escape") {
        this.point(null);
        this.block.choose(null, this);
      } else return;
      event.preventDefault();
    }

    read(mark) {
      if (!mark) return;
      this.point(mark);
      this.say(this.marks.lines(mark).filter(Boolean).join(", "));
    }

    show(chosen) {
      this.marks.show(chosen);
      this.all.hidden = chosen === null;
      this.figure.classList.toggle("rg-is-zoomed", chosen !== null);
    }

    /** Show only those of these series that are there; all of them, or none, are no choice. */
    showOnly(names) {
      const known = this.marks.series.filter((name) => names.includes(name));
      if (known.length) this.block.show(known.length < this.marks.series.length ? new Set(known) : null, this);
    }

    say(words) {
      this.said.textContent = words;
    }
  }

  /** The figures and tables of a block, which share the series that is isolated. */
  class Block {
    constructor(root) {
      this.root = root;
      this.chosen = null;
      this.readers = [];
    }

    /** What a link to it names. */
    get state() {
      return { series: [...(this.chosen ?? [])] };
    }

    /** Isolate a series, or show all again: for null, and for the one that is isolated already. */
    choose(name, reader) {
      const alone = this.chosen?.size === 1 && this.chosen.has(name);
      const next = alone ? null : (name ?? null);
      if (next === null && this.chosen === null) return;
      this.show(next === null ? null : new Set([next]), reader);
      this.readers.forEach((one) => live.forgetState(one.figure));
    }

    /** Isolate these series; null shows all. */
    show(chosen, reader) {
      this.chosen = chosen;
      for (const one of this.readers) {
        one.show(chosen && one.marks.series.some((name) => chosen.has(name)) ? chosen : null);
      }
      for (const row of this.root.querySelectorAll(".rg-result tbody tr")) {
        row.classList.toggle("rg-chosen", Boolean(chosen?.has(row.cells[0].textContent)));
      }
      reader.say(chosen ? `Showing ${[...chosen].join(", ")}` : "Showing all series");
    }
  }

  const blocks = new Map();
  live.readers = new Map(); // by figure

  /** Make a figure of marks alive, together with the rest of its block. */
  live.enlivenMarks = (figure) => {
    const root = figure.closest(".rg-stack") ?? figure;
    if (!blocks.has(root)) blocks.set(root, new Block(root));
    const block = blocks.get(root);
    const reader = new Reader(figure, block);
    block.readers.push(reader);
    live.readers.set(figure, reader);
    figure.classList.add("rg-is-read");
  };
})(window.reportgenLive);

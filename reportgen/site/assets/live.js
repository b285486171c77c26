/* Figures come alive. This script decides when, loads Vega and the other live-*.js once a figure needs
   them (figures of marks need two small ones only), makes result tables sortable, and lets them be cited.
   Without it a page is complete, only still.
   Classic scripts: a page opened from disk may load no modules. Data only ever becomes text. */
(function () {
  "use strict";

  // Read past elements of the page that have this name; none where the page holds its scripts itself.
  const { src } = Reflect.get(Document.prototype, "currentScript", document);
  const base = src && new URL(".", src).href;
  const PARTS = [
    "vega.js",
    "live-data.js",
    "live-derived.js",
    "live-view.js",
    "live-group.js",
    "live-toolbar.js",
    "live-zoom.js",
    "live-pin.js",
    "live-runs.js",
    "live-pointer.js",
    "live-tools.js",
    "live-state.js",
  ];
  const MARK_PARTS = ["live-toolbar.js", "live-marks.js"];
  const HINT =
    "Left and right arrow keys read the values at each step, up and down choose a series, " +
    "plus and minus zoom, with Shift up and down zoom the y axis, Enter pins a step, R shows a run alone, " +
    "D the difference of two series, Escape shows everything again.";
  const MARK_HINT =
    "Arrow keys read the marks one by one, Enter shows a series alone, or opens the samples of a cell that has " +
    "some, Space always shows a series alone, Escape shows everything again.";
  const SHOWN_FOR = 2400; // milliseconds
  const STILL = 200; // milliseconds without scrolling after which figures wake
  const FILTERED = 8; // rows of a table that can be filtered
  const filters = new Map(); // by result
  const sorts = new Map(); // by result
  const ORDERS = ["ascending", "descending"];
  const CITED = ["live-toolbar.js", "live-cite.js"];
  const live = (window.reportgenLive = {});
  const awake = new WeakMap(); // what each unit that was woken promised
  const loading = new Map();

  /** Load scripts, each of them once; they run in this order. */
  function load(parts) {
    const loaded = (name) =>
      new Promise((resolve, reject) => {
        const script = document.createElement("script");
        if (!base) {
          script.textContent = document.querySelector(`script[data-file="${name}"]`).textContent;
          document.head.append(script);
          resolve();
          return;
        }
        script.src = new URL(name, base).href;
        script.async = false;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${name} could not be loaded; figures stay still.`));
        document.head.append(script);
      });
    for (const name of parts) if (!loading.has(name)) loading.set(name, loaded(name));
    return Promise.all(parts.map((name) => loading.get(name)));
  }

  /** One Tab stop for a row of buttons: arrow keys, Home and End lead from one to the next. */
  function rove(row, selector) {
    const list = () => [...row.querySelectorAll(selector)];
    const enter = (chosen) => list().forEach((one) => (one.tabIndex = one === chosen ? 0 : -1));
    const settle = () => {
      const shown = list().filter((one) => !one.hidden);
      const stops = shown.filter((one) => one.tabIndex === 0);
      if (stops.length !== 1) enter(stops[0] ?? shown[0]);
    };
    row.addEventListener("focusin", ({ target }) => target.matches(selector) && enter(target));
    row.addEventListener("keydown", (event) => {
      const shown = list().filter((one) => !one.hidden);
      const at = shown.indexOf(event.target);
      const place = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key];
      if (at < 0 || !shown[place]) return;
      event.preventDefault();
      shown[place].focus();
    });
    new MutationObserver(settle).observe(row, { attributeFilter: ["hidden"], childList: true, subtree: true });
    settle();
  }

  Object.assign(live, { load, rove, placeCite, hasFiles: Boolean(base), isServed: Boolean(base) && location.protocol !== "file:" });

  /** Make a figure, or panels as one, alive; only the first call does something. */
  function wake(unit) {
    if (awake.has(unit)) return awake.get(unit);
    const alive = load(PARTS)
      .then(() => live.enliven(unit))
      .catch((problem) => console.error(problem.message));
    awake.set(unit, alive);
    return alive;
  }

  /** Wake the figure that the address names, and show the state of it that stands behind a tilde. */
  async function followAddress() {
    const address = location.hash.slice(1);
    const [id, ...parts] = address.split("~");
    if (!parts.length) live.clearStates?.();
    const named = document.getElementById(id);
    const whole = named?.matches(".rg-panels, .rg-stack");
    if (parts.length && sorts.has(named)) {
      await load(["live-toolbar.js"]);
      const said = new Map(parts.map((part) => part.split("=", 2)));
      const [order, head] = (said.get("sort") ?? "").split("@", 2);
      filters.get(named)?.set(live.decoded(said.get("rows") ?? ""));
      sorts.get(named).set(order, live.decoded(head ?? ""));
      named.querySelector("details")?.setAttribute("open", "");
      if (!document.getElementById(address)) named.scrollIntoView();
      return;
    }
    const figure = whole ? named.querySelector(".rg-figure") : named;
    if (!figure?.matches(".rg-figure")) return;
    if (parts.length && !document.getElementById(address)) named.scrollIntoView();
    if (figure.matches(".rg-of-marks")) await load(parts.length ? [...MARK_PARTS, "live-state.js"] : []);
    else await wake(figure.closest(".rg-panels") ?? figure);
    if (!parts.length || location.hash.slice(1) !== address) return;
    live.showState?.(figure, parts);
    pointOut(whole ? named : figure);
  }

  /** Frame what a link shows for a moment: where it names all series, nothing else would be seen to happen. */
  function pointOut(figure) {
    figure.classList.add("rg-pointed-out");
    setTimeout(() => figure.classList.remove("rg-pointed-out"), SHOWN_FOR);
  }

  /** What lies over the plot: it takes the pointer and the keyboard, and names the figure. */
  function addSurface(figure, hint) {
    const surface = document.createElement("div");
    surface.className = "rg-surface";
    surface.tabIndex = 0;
    surface.setAttribute("role", "application");
    surface.setAttribute("aria-roledescription", "chart");
    surface.setAttribute("aria-labelledby", `${figure.id}-title`);
    surface.setAttribute("aria-describedby", `${figure.id}-summary ${hint.id}`);
    figure.querySelector(".rg-plot").append(surface);
  }

  function addHint(id, words) {
    const hint = document.createElement("p");
    hint.id = id;
    hint.hidden = true;
    hint.textContent = words;
    document.body.append(hint);
    return hint;
  }

  /** Figures near the window wake when nobody scrolls and the browser has nothing else to do, one at a time. */
  function wakeWhenIdle(units) {
    if (navigator.connection?.saveData) return;
    const has = typeof window.requestIdleCallback === "function"; // where a browser lacks it, an id may be so
    const idle = has ? window.requestIdleCallback : (job) => setTimeout(job, 200);
    const waiting = new Set(); // those near the window now: a reader who scrolls on needs no others
    let [busy, scrolled] = [false, -Infinity];
    document.addEventListener("scroll", ({ timeStamp }) => (scrolled = timeStamp), { passive: true });
    const wakeNext = async () => {
      const rest = scrolled + STILL - performance.now();
      if (rest > 0) return void setTimeout(idle, rest, wakeNext);
      const [unit] = waiting;
      waiting.delete(unit);
      if (unit) await wake(unit);
      busy = waiting.size > 0;
      if (busy) idle(wakeNext);
    };
    const near = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (isIntersecting && !awake.has(target)) waiting.add(target);
          else waiting.delete(target);
        }
        if (!busy && waiting.size) idle(wakeNext);
        busy ||= waiting.size > 0;
      },
      { rootMargin: "200px" },
    );
    units.forEach((unit) => near.observe(unit));
  }

  function startFigures() {
    const figures = [...document.querySelectorAll(".rg-figure:has(> .rg-payload)")];
    if (!figures.length) return;
    const hint = addHint("rg-keys", HINT);
    for (const figure of figures) {
      if (!figure.querySelector(".rg-fixed")) addSurface(figure, hint);
    }
    // What is read when a figure wakes under the pointer.
    document.addEventListener("pointermove", (event) => (live.lastMove = event), { capture: true, passive: true });
    const units = new Set(figures.map((figure) => figure.closest(".rg-panels") ?? figure));
    for (const unit of units) {
      // Not pointerover: it also comes where the page scrolls under a pointer that rests.
      for (const event of ["pointermove", "pointerdown", "focusin"]) {
        unit.addEventListener(event, () => wake(unit), { once: true });
      }
    }
    if (document.readyState === "complete") wakeWhenIdle(units);
    else window.addEventListener("load", () => wakeWhenIdle(units));
  }

  /** Figures of marks keep their picture and need no Vega: they are alive at once. */
  function startMarks() {
    const figures = document.querySelectorAll(".rg-figure.rg-of-marks");
    if (!figures.length) return;
    addHint("rg-mark-keys", MARK_HINT);
    load(MARK_PARTS)
      .then(() => figures.forEach((figure) => live.enlivenMarks(figure)))
      .catch((problem) => console.error(problem.message));
  }

  /** Words that were compared with the data show the result. */
  function startStatements() {
    if (!document.querySelector(".rg-bound")) return;
    load(["statements.js"]).catch((problem) => console.error(problem.message));
  }

  /** What a link to a result table keeps of how it is shown. */
  function stateOf(table) {
    return { rows: filters.get(table)?.get(), sort: sorts.get(table)?.get() };
  }

  /** Put what cites a figure or table into the row under it, or behind its downloads where it has no such row. */
  function placeCite(part, cite) {
    const first = part.querySelector(".rg-foot > details");
    cite.classList.add("rg-cite");
    if (first) first.before(cite);
    else part.querySelector(".rg-files").append(" ", cite);
  }

  /** A button below a result table; what it opens is loaded when it is used. */
  function offerCiting(table) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "rg-tool";
    button.textContent = "Cite";
    button.setAttribute("aria-label", "Cite or copy this table");
    button.addEventListener("click", () =>
      load(CITED)
        .then(() => live.citeTable(table, button, () => stateOf(table)))
        .catch((problem) => console.error(problem.message)),
    );
    live.placeCite(table, button);
  }

  /** A table whose rows lead to runs of a figure wakes it when it is pointed at. */
  function linkRuns(table) {
    const ids = new Set([...table.querySelectorAll('a[href*="~run="]')].map(({ hash }) => hash.slice(1).split("~")[0]));
    const figures = [...ids].map((id) => document.getElementById(id)).filter(Boolean);
    for (const type of ["pointerover", "focusin"]) {
      const wakeAll = () => figures.forEach((figure) => wake(figure.closest(".rg-panels") ?? figure));
      table.addEventListener(type, wakeAll, { once: true });
    }
  }

  /** A field below a long table: the rows shown have every word typed there. */
  function offerFilter(result) {
    const rows = [...result.querySelector("table").tBodies[0].rows];
    if (rows.length < FILTERED) return;
    const field = document.createElement("input");
    Object.assign(field, { type: "search", className: "rg-filter", placeholder: "Filter rows" });
    field.setAttribute("aria-label", "Filter the rows of this table");
    const said = document.createElement("span");
    said.setAttribute("role", "status");
    const show = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      const shown = rows.filter((row) => !row.hidden).length;
      said.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
    };
    field.addEventListener("input", show);
    filters.set(result, { get: () => field.value.trim(), set: (words) => ((field.value = words), show()) });
    result.querySelector(".rg-files").append(" ", field, " ", said);
  }

  /** A cell's place in its column: a number where it has one, otherwise its words; nothing comes last. */
  function sortKey(row, column) {
    const cell = row.cells[column];
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    return cell.textContent.trim() || null;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  }

  function sortRows(table, column, sign) {
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [sortKey(row, column), row]);
    keyed.sort(([a], [b]) => (a === null) - (b === null) || (a === null ? 0 : sign * compare(a, b)));
    body.append(...keyed.map(([, row]) => row));
  }

  /** Heads become buttons: numbers start with the largest, words with the first, the head that orders the rows from
      the start with its own order; after both orders the first one of the table comes back. */
  function makeSortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    const names = heads.map((head) => head.textContent.trim());
    const rows = [...table.tBodies[0].rows];
    const first = heads.map((head) => head.ariaSort);
    let chosen = null;
    const sort = (column, order) => {
      chosen = heads[column] && ORDERS.includes(order) ? { head: names[column], order } : null;
      heads.forEach((head, at) => (head.ariaSort = !chosen ? first[at] : at === column ? order : null));
      table.tBodies[0].append(...rows);
      if (chosen) sortRows(table, column, order === "ascending" ? 1 : -1);
    };
    const set = (order, head) => sort(names.indexOf(head), order);
    sorts.set(table.closest(".rg-result"), { get: () => chosen, set });
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "rg-sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const numeric = rows.some((row) => row.cells[column].dataset.value !== undefined);
        const start = first[column] ?? ORDERS[Number(numeric)];
        const orders = [start, ORDERS.find((order) => order !== start)];
        sort(column, orders[orders.indexOf(head.ariaSort) + 1]);
      });
    });
    rove(table.tHead, ".rg-sort");
  }

  function start() {
    startFigures();
    startMarks();
    startStatements();
    document.querySelectorAll("table.rg-sortable").forEach(makeSortable);
    document.querySelectorAll('table:has(a[href*="~run="])').forEach(linkRuns);
    document.querySelectorAll(".rg-result:has(.rg-files)").forEach(offerCiting);
    document.querySelectorAll(".rg-result:has(.rg-sortable):has(.rg-files)").forEach(offerFilter);
    followAddress();
    window.addEventListener("hashchange", followAddress);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();

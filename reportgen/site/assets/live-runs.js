/* Single runs: the line of one drawn clear over its plot, and the rows of tables that list the same runs. */
(function (live) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";

  /** Rows of tables that link to runs of a figure, by the address that each leads to. */
  function rowsOf(figure) {
    const links = [...document.querySelectorAll('.rg-table a[href*="~run="]')];
    const ids = [figure.id, figure.closest(".rg-panels")?.id]; // small multiples are linked as one
    return links.filter(({ hash }) => ids.includes(live.decoded(hash.slice(1).split("~")[0])));
  }

  class RunLine {
    constructor(plot) {
      this.plot = plot;
      this.drawing = document.createElementNS(SVG, "svg");
      this.paths = ["rg-run-halo", "rg-run-ink"].map((name) => {
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("class", name);
        return path;
      });
      this.drawing.append(...this.paths);
      plot.surface.prepend(this.drawing);
      this.rows = rowsOf(plot.figure).map((link) => {
        const { run } = live.readState(link.hash.slice(1).split("~").slice(1));
        return { row: link.closest("tr"), key: JSON.stringify(run) };
      });
      for (const { row, key } of this.rows) this.listen(row, key);
      this.show(null);
    }

    /** A row that is pointed at, or whose link has the focus, shows its run. */
    listen(row, key) {
      const [name, series] = JSON.parse(key) ?? [];
      const run = { series, name };
      for (const type of ["pointerenter", "focusin"]) row.addEventListener(type, () => this.show(run));
      for (const type of ["pointerleave", "focusout"]) row.addEventListener(type, () => this.show(null));
    }

    /** Draw a run clear of the others: this one, or that which is isolated; and mark its row. */
    show(run) {
      const { plot, drawing } = this;
      const { series, name } = run ?? plot.group.run ?? {};
      const one = plot.data.series.find((other) => other.name === series);
      const found = one?.runs.find((other) => other.name === name);
      drawing.setAttribute("class", `rg-run-line${one ? ` rg-slot-${one.slot}` : ""}`);
      drawing.style.display = found ? "" : "none";
      const d = found ? live.tracePath(found.steps, found.values, plot.x, plot.axisOf(one), plot.room) : "";
      for (const path of this.paths) path.setAttribute("d", d);
      const key = found ? JSON.stringify([name, series]) : null;
      for (const { row, key: own } of this.rows) row.classList.toggle("rg-chosen", own === key);
    }
  }

  Object.assign(live, { RunLine });
})(window.reportgenLive);

/* A step that is pinned: a second rule, changes from it in the tooltip, and its values to copy as bound values. */
(function (live) {
  "use strict";

  const { make, put } = live;
  const KEYWORDS = new Set(["and", "or", "not"]);
  const PLAIN = /^[A-Za-z_][\w.]*(?:-[\w.]+)*$/; // a name that needs no quotes
  const UNSAFE = /["{}<>&\\\n]/; // what an attribute in Markdown cannot hold

  function quoteName(name) {
    return PLAIN.test(name) && !KEYWORDS.has(name) ? name : `'${name.replaceAll("'", "''")}'`;
  }

  /** A step as expressions write it; null for a moment within a day. */
  function writeStep({ scale }, step) {
    if (scale !== "time") return String(step);
    const [day, hour] = new Date(step).toISOString().split("T");
    return hour === "00:00:00.000Z" ? `'${day}'` : null;
  }

  /** What can be copied of a step: words, and the Markdown of a number with the expression that it comes from. Facts
      are about lines that are not smoothed, whatever is drawn. */
  function listBound({ pair, visible, payload, given, readY }, step) {
    const [{ of }, written] = [payload, writeStep(payload.x, step)];
    if (!of || written === null) return [];
    const readings = given.readings(pair ?? visible, step).filter(({ value }) => value !== null);
    const values = new Map(readings.map(({ one, value, raw }) => [one, raw ?? value]));
    const rows = [...values].map(([one, value]) => [one.name, value, `at(${quoteName(one.name)}, ${written})`]);
    if (pair && values.size === 2) {
      const [a, b] = pair;
      const names = pair.map(({ name }) => quoteName(name));
      const apart = values.get(a) - values.get(b);
      rows.push([`${a.name} \u2212 ${b.name}`, apart, `gap(${names.join(", ")}, ${written})`, { significant: 1 }]);
    }
    return rows
      .filter(([, , expression]) => !UNSAFE.test(expression))
      .map(([words, value, expression, digits]) => {
        const number = readY(value, digits);
        return [`${words} ${number}`, `[${number}]{value="${expression}" of="${of}"}`];
      });
  }

  class Pin {
    constructor(plot) {
      this.plot = plot;
      this.rule = make("div", "rg-pin");
      this.rule.hidden = true;
      this.line = make("p", "rg-pinned");
      this.line.dir = "auto";
      plot.surface.append(this.rule);
    }

    redrawn() {
      const { plot, rule } = this;
      const { group, x, room } = plot;
      const step = group.pin;
      rule.hidden = step === null || !live.within(x, step);
      if (!rule.hidden) put(rule, live.fraction(x, step) * room.width, 0);
      if (step === null || group.pinned !== plot) return this.line.remove();
      const now = JSON.stringify([step, plot.visible.map(({ name }) => name)]);
      if (this.line.isConnected && this.now === now) return;
      this.now = now;
      this.fill(step);
      live.putLine(plot, this.line);
    }

    fill(step) {
      const { plot } = this;
      const { payload, readX } = plot;
      const words = `${live.placeWords(payload.x, readX(step))} is pinned: other steps show the change from it.`;
      const unpin = live.makeButton("", "Unpin", () => {
        plot.group.pinAt(null);
        plot.surface.focus({ preventScroll: true });
      });
      this.line.replaceChildren(make("span", "", words), " ", unpin);
      const bound = listBound(plot, step);
      if (bound.length) this.line.append(" ", this.copyMenu(bound));
    }

    copyMenu(bound) {
      const copy = async (text) => this.plot.say((await live.copy(text)) ? `Copied ${text}` : text);
      const choices = bound.map(([words, text]) => live.makeButton("", words, () => copy(text)));
      return live.menu("Copy as bound value", "Copy a number of this step with the expression it comes from", () => choices);
    }
  }

  Object.assign(live, { Pin });
})(window.reportgenLive);

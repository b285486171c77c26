/* Buttons of a figure: its legend, its toolbar, and what can be taken away from it. */
(function (live) {
  "use strict";

  const { make, toolButton } = live;
  const EDGE = 16; // pixels around a saved picture
  const FOOT = 14; // pixels from its plot down to a line about its origin
  const FINE = 11; // size of the letters there

  const HAS = { log: "positive", runs: "hasRuns", band: "hasBand" }; // what a plot has that can show it

  /** A button that switches something of a group on and off, with the plots that have it; none where none has. */
  function toggle(group, name, words, make) {
    const plots = group.plots.filter(({ given }) => given[HAS[name]]);
    if (!plots.length) return [];
    const on = () => plots.every((plot) => plot[name]);
    const button = make(words, () => group.show({ [name]: !on() }));
    return [{ button, plots, show: () => button.setAttribute("aria-pressed", on()) }];
  }

  /** Switches between a y axis that fits the lines shown and the whole one, and says which it is; from the reader's box
      it leads to the fitted one. */
  function fitButton(group) {
    const boxed = () => group.plots.some((plot) => plot.span);
    const button = toolButton("", "", () => {
      const fit = boxed() || !group.shown.fit;
      group.plots.forEach((plot) => (plot.span = null));
      group.show({ fit });
      group.plots[0].say(fit ? "The y axis fits the lines shown" : "The y axis is whole");
    });
    const show = () => {
      const fits = group.shown.fit && !boxed();
      const [fit, whole] = group.domain ? ["fit", "whole"] : ["auto", "all"]; // without zoom: y_domain: auto
      button.textContent = `y: ${boxed() ? "box" : fits ? fit : whole}`;
      button.setAttribute("aria-label", `${button.textContent}, change to ${fits ? whole : fit}`);
      button.dataset.words = fits ? "Show the whole y axis" : "Fit the y axis to the lines shown";
      button.hidden = !group.domain && !group.plots.some(({ payload }) => payload.y.auto);
    };
    return { button, show };
  }

  /** Switches whether other figures with the same x axis are zoomed and read with this one. */
  function linkedButton(group) {
    const words = "Zoom and read the figures with this x axis together";
    const button = toolButton("linked", words, () => {
      group.link(!group.linked);
      group.plots[0].say(group.linked ? "Figures with this x axis are linked" : "This figure is on its own");
    });
    live.showWord(button, "linked", "linked");
    const show = () => {
      button.setAttribute("aria-pressed", group.linked);
      button.hidden = !group.domain || !group.others.length;
    };
    return { button, show };
  }

  /** Shows the difference of two series below them; there where two are shown. */
  function differenceButton(group) {
    const button = toolButton("a\u2212b", "Difference of the two series shown", () => group.toggleDifference());
    const show = () => {
      button.setAttribute("aria-pressed", group.plots.some(({ strip }) => strip));
      button.hidden = !group.plots.some(({ pair }) => pair);
    };
    return { button, show };
  }

  const WEIGHTS = [0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.99];
  const FEWEST = 50; // steps of a line that somebody smooths

  function capital(words) {
    return words[0].toUpperCase() + words.slice(1);
  }

  function nameWeight(weight) {
    return weight ? `weight ${weight}` : "no smoothing";
  }

  /** A menu that puts something in place of what the author chose, and a line below the plot that names both.

      ``short`` is the icon that takes the place of ``word`` on a phone, ``choices`` are what can be chosen besides the
      author's, which is null; ``name`` says one in words, ``now`` is that of the plot, ``choose`` takes one and
      returns what to say, and ``explain`` writes the line. */
  function chooser(group, { word, short, words, choices, name, now, choose, explain }) {
    const [plot] = group.plots;
    const take = (one) => plot.say(choose(one));
    const label = (one) => (one === null ? `As on the page: ${name(null)}` : name(one));
    const choice = (one) => live.makeButton("", label(one), () => take(one));
    const button = live.menu(word, words, () => [null, ...choices].map(choice));
    if (short) live.showWord(button.firstChild, word, short);
    const sentence = make("span", "");
    const back = live.makeButton("", "As on the page", () => {
      take(null);
      plot.surface.focus({ preventScroll: true });
    });
    const line = make("p", "rg-pinned");
    line.append(sentence, " ", back);
    const show = () => {
      const one = now();
      if (one === null) return line.remove();
      sentence.textContent = explain(one);
      if (!line.isConnected) live.putLine(plot, line);
    };
    return { button, show };
  }

  function smoothing(group) {
    const [plot] = group.plots;
    const own = plot.payload.smooth ?? 0;
    const choose = (weight) => {
      group.show({ smooth: weight });
      return weight === null ? "Smoothed as on the page" : `Lines with ${nameWeight(weight)}`;
    };
    const name = (weight) => (weight === null ? nameWeight(own) : capital(nameWeight(weight)));
    const none = `Lines without smoothing; the page has ${nameWeight(own)}.`;
    return chooser(group, {
      word: "smooth",
      short: "smooth",
      words: "Smooth the lines",
      choices: WEIGHTS.filter((weight) => weight !== own),
      name,
      now: () => plot.weight,
      choose,
      explain: (weight) =>
        weight
          ? `Lines with ${nameWeight(weight)}; the page has ${nameWeight(own)}. No band, as it would need every run.`
          : none,
    });
  }

  function otherAxes(group) {
    const [own, ...others] = group.plots[0].axes.map(({ payload }) => payload.x.title);
    const choose = (title) => {
      group.showOver(title);
      return `Lines by ${title ?? own}`;
    };
    return chooser(group, {
      word: "x",
      words: "Choose the x axis",
      choices: others,
      name: (title) => title ?? own,
      now: () => group.shown.over,
      choose,
      explain: (title) => `By ${title}; the page has ${own}.`,
    });
  }

  /** What shows a group in another way: buttons, and a function that brings them up to date. */
  function groupTools(group) {
    const [first] = group.plots;
    const reset = toolButton("", "Reset zoom", () => {
      live.clearStates();
      group.zoom(null);
      first.surface.focus({ preventScroll: true });
    });
    live.showWord(reset, "Reset zoom", "reset");
    delete reset.dataset.words; // the word stands on it
    const logTool = (words, act) => toolButton("log", words, act);
    const logs = toggle(group, "log", first.payload.right ? "Logarithmic left axis" : "Logarithmic y axis", logTool);
    // A link may have chosen a log axis where it shows no more.
    const isWide = ({ given, payload }) => given.wide || payload.y.scale === "log" || group.shown.log !== null;
    const isLong = ({ given, payload }) => payload.smooth || given.series.some(({ steps }) => steps.length >= FEWEST);
    const switches = [
      fitButton(group),
      linkedButton(group),
      differenceButton(group),
      ...(isLong(first) ? [smoothing(group)] : []),
      ...(first.axes.length > 1 ? [otherAxes(group)] : []),
      ...logs,
    ];
    const choice = (words, act) => live.makeButton("", words, act);
    const band = group.plots.find(({ given }) => given.hasBand)?.payload.band || "Band";
    const views = [...toggle(group, "runs", "A thin line for each run", choice), ...toggle(group, "band", band, choice)];
    const show = () => {
      reset.hidden = !group.domain;
      [...switches, ...views].forEach((one) => one.show());
      logs.forEach(({ button, plots }) => (button.hidden = !plots.some(isWide)));
    };
    return { buttons: [reset, ...switches.map(({ button }) => button)], views: views.map(({ button }) => button), show };
  }

  /** Toolbars of a group: one over panels, and at each panel what takes it away. */
  function addTools(group) {
    const { root, plots } = group;
    const tools = groupTools(group);
    const alone = root === plots[0].figure;
    if (!alone) {
      const state = () => ({ ...live.stateOf(plots[0]), mark: null });
      const link = live.linkButton(root, plots[0].say, state, "Share a link to these panels");
      const bar = live.makeBar(...tools.buttons, ...live.viewMenu(tools.views), link);
      bar.setAttribute("aria-label", "Tools of these panels");
      root.prepend(bar);
    }
    for (const plot of plots) {
      const { figure, say } = plot;
      const state = () => live.stateOf(plot);
      const view = () => exportView(plot);
      const views = [...(alone ? tools.views : []), ...live.fullScreenChoice(figure, (full) => fit(plot, full))];
      const own = [...live.viewMenu(views), saveTool(figure, view, say), live.linkButton(figure, say, state)];
      const bar = live.makeBar(...(alone ? tools.buttons : []), ...own);
      live.placeCite(figure, live.citeMenu(figure, say, state, async () => (await view()).toSVG()));
      if (alone) plot.box.append(bar);
      else figure.append(bar);
      plot.onRefresh = () => {
        tools.show();
        placeLegend(plot);
      };
      plot.onRefresh();
    }
  }

  /** Give a plot the height that the screen leaves it below the title, or its own height again. */
  function fit({ figure, still, payload }, full) {
    still.style.height = "";
    if (!full) return;
    const caption = figure.querySelector(".rg-caption").getBoundingClientRect();
    const around = caption.bottom - still.getBoundingClientRect().height;
    still.style.height = `${Math.max(payload.height, figure.clientHeight - EDGE * 2 - around)}px`;
  }

  function addAuthorTools(figure) {
    const said = make("div", "rg-unseen");
    said.setAttribute("role", "status");
    const say = (words) => {
      said.textContent = words;
    };
    const payload = JSON.parse(figure.querySelector(".rg-payload").textContent);
    const view = () => live.makeView(resolved(live.compiled(payload), figure), "none");
    const bar = live.makeBar(saveTool(figure, view, say), live.linkButton(figure, say));
    live.placeCite(figure, live.citeMenu(figure, say, undefined, () => view().toSVG()));
    figure.querySelector(".rg-plot").append(bar, said);
  }

  /** A menu of downloads: pictures of a view, drawn when they are asked for, and the site's files. */
  function saveTool(figure, view, say) {
    const picture = (kind, draw) => live.pictureChoice(figure, kind, async () => draw(await view()), say);
    const pictures = [picture("PNG", pngOf), picture("SVG", svgOf)];
    const files = { pdf: "PDF, the whole figure", csv: "CSV, the points drawn", spec: "Vega-Lite JSON" };
    return live.saveMenu([...pictures, ...live.fileLinks(figure, files)]);
  }

  // ---- pictures ----------------------------------------------------------------------------------

  async function pngOf(view) {
    return live.readPixels(await view.toCanvas(2));
  }

  async function svgOf(view) {
    return new Blob([await view.toSVG()], { type: "image/svg+xml" });
  }

  /** The value of a token in the theme shown: colours as rgb(), the font as it is. */
  function tokenValue(figure, name) {
    const style = getComputedStyle(figure);
    if (name === "--rg-font") return style.getPropertyValue(name).trim();
    const probe = make("span", "rg-unseen");
    probe.style.color = `var(${name})`;
    figure.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }

  /** A specification without variables, as files know no style sheet; words and data stay as they are. */
  function resolved(spec, figure) {
    const known = new Map();
    const value = (_, name) => {
      if (!known.has(name)) known.set(name, tokenValue(figure, name));
      return known.get(name);
    };
    const inked = (row) => (row instanceof Object ? { ...row, ...walk(inksOf(row)) } : row);
    const walk = (part, key) => {
      const whole = part instanceof Object && !Array.isArray(part);
      if (key === "signals" || (WORDS.has(key) && !whole)) return part;
      if (key === "values") return part.map?.(inked) ?? part;
      if (typeof part === "string") return part.replace(/var\((--rg-[a-z0-9-]+)\)/g, value);
      if (Array.isArray(part)) return part.map((one) => walk(one, key));
      if (!whole) return part;
      const said = (name) => (name === "value" && CHANNELS.has(key) ? key : name);
      return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, walk(one, said(name))]));
    };
    return walk({ ...spec, background: "var(--rg-bg)" });
  }

  const CHANNELS = new Set(["text", "tooltip", "description"]);
  const WORDS = new Set([...CHANNELS, "title", "subtitle", "domain", "name", "field", "labels"]);

  function inksOf({ fill, stroke }) {
    return { ...(fill && { fill }), ...(stroke && { stroke }) };
  }

  /** The plot as it is shown, with its title and a legend above. */
  function exportView(plot) {
    const { figure } = plot;
    const { width, height, strip } = plot.room;
    const room = { strip, width: Math.max(640, Math.round(width)), height: Math.round(height), narrow: false };
    const rgb = (colour, faded) => {
      const ink = tokenValue(figure, colour.slice(4, -1));
      return faded ? ink.replace(/^rgb\((.*)\)$/, "rgba($1, 0.25)") : ink;
    };
    const spec = plot.filledSpecification(room, rgb);
    const { left, right, top, bottom } = spec.signals.find(({ name }) => name === "margins").value;
    const { words, swatches, high } = heading(plot, room.width + left + right);
    const limit = room.width + left + right;
    const foot = { x: 0, limit, fontSize: FINE, fontWeight: 400, fill: "var(--rg-muted)" };
    const origin = originOf(plot, limit);
    origin.forEach((text, at) => words.push({ ...foot, y: high + top + room.height + bottom + FOOT * (at + 1), text }));
    for (const row of [...words, ...swatches]) {
      row.x -= left;
      row.y -= high + top;
    }
    // As data: Vega takes some constant texts, such as "constructor", for names of its own.
    spec.data.push({ name: "words", values: words }, { name: "swatches", values: swatches });
    const font = { value: "var(--rg-font)" };
    const text = fields("x", "y", "text", "limit", "fontSize", "fontWeight", "fill");
    spec.marks.push({ type: "text", from: { data: "words" }, encode: { enter: { ...text, font } } });
    const line = { ...fields("x", "y", "stroke", "strokeDash"), x2: { field: "x", offset: 22 } };
    line.strokeWidth = { value: 2 };
    spec.marks.push({ type: "rule", from: { data: "swatches" }, encode: { enter: line } });
    if (plot.payload.symbols) {
      const symbol = { ...fields("y", "shape"), x: { field: "x", offset: 11 }, fill: { field: "stroke" } };
      symbol.size = { value: 4 };
      spec.marks.push({ type: "symbol", from: { data: "swatches" }, encode: { enter: symbol } });
    }
    spec.padding = { left: left + EDGE, right: right + EDGE, top: top + high + EDGE, bottom: bottom + FOOT * origin.length + EDGE };
    return live.makeView(resolved(spec, figure), "none");
  }

  /** Where a picture comes from: the data, the page, and the commit that it was built from. On two lines where one is too
      short, the commit before what may be cut. */
  function originOf({ figure, payload }, width) {
    const named = document.querySelector(".rg-commit")?.textContent;
    const commit = named && `commit ${named}`;
    const source = payload.source && `Source: ${payload.source}`;
    const join = (...parts) => parts.filter(Boolean).join(" \u00b7 ");
    const whole = join(source, document.title, commit);
    return rulerOf(figure, FINE).measureText(whole).width > width ? [source, join(commit, document.title)].filter(Boolean) : [whole];
  }

  function rulerOf(figure, size) {
    const ruler = document.createElement("canvas").getContext("2d");
    ruler.font = `${size}px ${tokenValue(figure, "--rg-font")}`;
    return ruler;
  }

  function fields(...names) {
    return Object.fromEntries(names.map((name) => [name, { field: name }]));
  }

  /** Rows of words and swatches above a plot, in pixels from the top left, and how high they are. */
  function heading(plot, width) {
    const said = (selector) => plot.figure.querySelector(selector)?.textContent ?? "";
    const plain = { limit: width, fontSize: 13, fontWeight: 400, fill: "var(--rg-text)" };
    const word = (text, x, y, more) => ({ text, x, y, ...plain, ...more });
    const words = [word(live.readTitle(plot.figure), 0, 14, { fontSize: 17, fontWeight: 600 })];
    const swatches = [];
    let y = 14;
    const subtitle = said(".rg-subtitle");
    if (subtitle) words.push(word(subtitle, 0, (y += 20), { fill: "var(--rg-muted)" }));
    if (!plot.payload.ends.length) {
      const ruler = rulerOf(plot.figure, 13);
      let x = width;
      for (const { label, colour, dash, shape } of plot.visible) {
        const wide = Math.min(width, ruler.measureText(label).width + 48);
        if (x + wide > width) [x, y] = [0, y + 22];
        swatches.push({ x, y: y - 4, stroke: colour, strokeDash: dash, shape });
        words.push(word(label, x + 30, y, { limit: wide - 30 }));
        x += wide;
      }
    }
    return { words, swatches, high: y + 12 };
  }

  // ---- legend ------------------------------------------------------------------------------------

  /** Names become buttons; the group's own legend, or the figure's. */
  function addLegend(group) {
    const legend = group.root.querySelector(":scope > .rg-legend");
    if (!legend) return;
    const [plot] = group.plots;
    const keys = group.names.map((name, i) => {
      const item = legend.children[i];
      const label = item.querySelector(".rg-series");
      const choose = (event) => group.choose(name, event.shiftKey);
      const button = live.makeButton(label.className, undefined, choose);
      button.title = "Show this series alone; with Shift, add it or take it away";
      button.append(...label.childNodes);
      label.replaceWith(button);
      return { item, button, name };
    });
    plot.legend = { legend, keys };
    placeLegend(plot);
  }

  /** Over the names at the line ends where those are drawn, otherwise a row above the plot. */
  function placeLegend(plot) {
    if (!plot.legend) return;
    const { legend, keys } = plot.legend;
    const ends = plot.group.plots.length === 1 ? plot.ends(plot.room) : [];
    const places = new Map(ends.map(({ text, y }) => [text, y]));
    legend.classList.toggle("rg-at-ends", places.size > 0);
    if (places.size && legend.parentNode !== plot.box) plot.box.append(legend);
    else if (!places.size && legend.parentNode === plot.box) plot.box.before(legend);
    for (const { item, button, name } of keys) {
      item.hidden = places.size > 0 && !places.has(name);
      item.style.top = places.has(name) ? `${places.get(name)}px` : "";
      item.classList.toggle("rg-faded", !plot.group.shows(name));
      button.setAttribute("aria-pressed", plot.group.chosen !== null && plot.group.shows(name));
    }
  }

  Object.assign(live, { addTools, addAuthorTools, addLegend });
})(window.reportgenLive);

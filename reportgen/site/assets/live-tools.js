/* Buttons of a figure: its legend, its toolbar, and what can be taken away from it. */
(function (live) {
  "use strict";

  const { make } = live;
  const SVG = "http://www.w3.org/2000/svg";
  const TOLD = 1600; // milliseconds that a button shows what it did
  const EDGE = 16; // pixels around a saved picture
  const ICONS = {
    runs: "M1.5 11c2-5 3-1 5-4s3 1 8-5M1.5 14c2-4 4-1 6-4s3 1 7-4",
    band: "M1.5 9.5c3-1 4-5 6.5-5s4-2 6.5-3v7c-3 1-4 3-6.5 3.5s-4 1.5-6.5 2.5z",
    full: "M6 1.5H1.5V6M10 1.5h4.5V6M6 14.5H1.5V10M10 14.5h4.5V10",
    save: "M8 1.5v8.5M4.5 6.5L8 10l3.5-3.5M1.5 11v3.5h13V11",
    link: "M6.5 9.5l3-3M7 4.5l2-2a3.2 3.2 0 0 1 4.5 4.5l-2 2M9 11.5l-2 2A3.2 3.2 0 0 1 2.5 9l2-2",
  };

  function icon(path) {
    const drawing = document.createElementNS(SVG, "svg");
    drawing.setAttribute("viewBox", "0 0 16 16");
    drawing.setAttribute("aria-hidden", "true");
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("d", path);
    drawing.append(line);
    return drawing;
  }

  /** A button of the toolbar: an icon or a word on it; what it does is shown when it is pointed at. */
  function tool(face, words, act) {
    const button = make("button", "rg-tool");
    button.type = "button";
    button.append(ICONS[face] ? icon(ICONS[face]) : face);
    if (words) {
      button.setAttribute("aria-label", words);
      button.dataset.words = words;
    }
    button.addEventListener("click", () => act(button));
    return button;
  }

  /** A button that switches something of a plot on and off. */
  function toggle(plot, face, words, name, change) {
    const button = tool(face, words, () => {
      plot[name] = !plot[name];
      button.setAttribute("aria-pressed", plot[name]);
      change();
    });
    button.setAttribute("aria-pressed", plot[name]);
    return button;
  }

  /** Say what a button did, on it and to a screen reader. */
  function tell(button, words, say) {
    const before = button.getAttribute("aria-label");
    button.dataset.words = words;
    button.classList.add("rg-told");
    say(words);
    setTimeout(() => {
      button.dataset.words = before;
      button.classList.remove("rg-told");
    }, TOLD);
  }

  function makeBar() {
    const bar = make("div", "rg-toolbar");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Tools of this figure");
    return bar;
  }

  function addTools(plot) {
    const { figure, data, payload } = plot;
    const bar = makeBar();
    const reset = tool("Reset zoom", "", () => {
      plot.group.zoom(null);
      plot.surface.focus({ preventScroll: true });
    });
    const offer = (there, ...rest) => there && bar.append(toggle(plot, ...rest));
    bar.append(reset);
    offer(data.positive, "log", "Logarithmic y axis", "log", () => plot.draw());
    offer(data.hasRuns, "runs", "A thin line for each run", "runs", () => plot.refresh("runs"));
    offer(data.hasBand, "band", payload.band || "Band", "band", () => plot.refresh("means"));
    const resize = (height) => {
      plot.still.style.height = height ? `${Math.max(payload.height, height)}px` : "";
    };
    if (figure.requestFullscreen) bar.append(fullScreenTool(figure, resize));
    bar.append(saveTool(figure, () => exportView(plot), plot.say), linkTool(figure, plot.say));
    plot.box.append(bar);
    plot.onRefresh = () => {
      reset.hidden = !plot.group.domain;
      placeLegend(plot);
    };
    plot.onRefresh();
  }

  function addAuthorTools(figure) {
    const bar = makeBar();
    const said = make("div", "rg-unseen");
    said.setAttribute("role", "status");
    const say = (words) => {
      said.textContent = words;
    };
    const payload = JSON.parse(figure.querySelector(".rg-payload").textContent);
    const view = () => live.makeView(resolved(live.compiled(payload), figure), null);
    bar.append(saveTool(figure, view, say), linkTool(figure, say));
    figure.querySelector(".rg-plot").append(bar, said);
  }

  function linkTool(figure, say) {
    return tool("link", "Copy a link to this figure", async (button) => {
      const address = `${location.href.split("#")[0]}#${figure.id}`;
      tell(button, (await copy(address)) ? "Link copied" : address, say);
    });
  }

  function fullScreenTool(figure, resize) {
    const button = tool("full", "Full screen", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else figure.requestFullscreen();
    });
    figure.addEventListener("fullscreenchange", () => {
      const full = document.fullscreenElement === figure;
      button.dataset.words = full ? "Leave full screen" : "Full screen";
      button.setAttribute("aria-label", button.dataset.words);
      resize(null);
      if (!full) return;
      const caption = figure.querySelector(".rg-caption").getBoundingClientRect();
      const still = figure.querySelector(".rg-plot > svg").getBoundingClientRect();
      resize(figure.clientHeight - EDGE * 2 - (caption.bottom - still.height));
    });
    return button;
  }

  /** A button with a list of what can be downloaded. */
  function saveTool(figure, view, say) {
    const list = make("ul", "rg-menu");
    list.hidden = true;
    const button = tool("save", "Download", () => open(list.hidden));
    const open = (yes) => {
      list.hidden = !yes;
      button.setAttribute("aria-expanded", yes);
      if (yes) list.querySelector("a, button").focus();
    };
    const entry = (element) => {
      const item = make("li", "");
      item.append(element);
      list.append(item);
      element.addEventListener("click", () => {
        open(false);
        button.focus();
      });
    };
    const picture = (words, ending, draw) => {
      const choice = make("button", "", words);
      choice.type = "button";
      choice.addEventListener("click", async () => {
        const drawn = await draw(await view());
        save(drawn, `${figure.id}.${ending}`);
        say(`${words} saved`);
      });
      entry(choice);
    };
    picture("PNG picture", "png", pngOf);
    picture("SVG picture", "svg", svgOf);
    const files = { csv: "CSV, the points drawn", spec: "Vega-Lite JSON" };
    for (const [kind, words] of Object.entries(files)) {
      const source = figure.querySelector(`.rg-files [data-file="${kind}"]`);
      if (!source) continue;
      const link = make("a", "", words);
      link.href = source.href;
      link.download = "";
      // A browser shows a JSON file of the disk instead of saving it: not in place of the report.
      if (location.protocol === "file:") link.target = "_blank";
      entry(link);
    }
    const wrap = make("div", "rg-save");
    wrap.append(button, list);
    open(false);
    document.addEventListener("pointerdown", (event) => wrap.contains(event.target) || open(false));
    wrap.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !wrap.contains(relatedTarget)) open(false);
    });
    wrap.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || list.hidden) return;
      open(false);
      button.focus();
      event.stopPropagation();
    });
    return wrap;
  }

  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const field = make("textarea", "rg-unseen", text);
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      return done;
    }
  }

  // ---- pictures ----------------------------------------------------------------------------------

  async function pngOf(view) {
    const canvas = await view.toCanvas(2);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
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

  /** A specification without variables: files know no style sheet. */
  function resolved(spec, figure) {
    const known = new Map();
    const value = (_, name) => {
      if (!known.has(name)) known.set(name, JSON.stringify(tokenValue(figure, name)).slice(1, -1));
      return known.get(name);
    };
    const text = JSON.stringify({ ...spec, background: "var(--rg-bg)" });
    return JSON.parse(text.replace(/var\((--rg-[a-z0-9-]+)\)/g, value));
  }

  /** The plot as it is shown, with its title and a legend above. */
  function exportView(plot) {
    const { figure } = plot;
    const { width, height } = plot.room;
    const room = { width: Math.max(640, Math.round(width)), height: Math.round(height), narrow: false };
    const rgb = (colour, faded) => {
      const ink = tokenValue(figure, colour.slice(4, -1));
      return faded ? ink.replace(/^rgb\((.*)\)$/, "rgba($1, 0.25)") : ink;
    };
    const spec = plot.specification(room, rgb);
    const { left, right, top, bottom } = plot.payload.margins;
    const { words, swatches, high } = heading(plot, room.width + left + right);
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
    spec.padding = { left: left + EDGE, right: right + EDGE, top: top + high + EDGE, bottom: bottom + EDGE };
    return live.makeView(resolved(spec, figure), null);
  }

  function fields(...names) {
    return Object.fromEntries(names.map((name) => [name, { field: name }]));
  }

  /** Rows of words and swatches above a plot, in pixels from the top left, and how high they are. */
  function heading(plot, width) {
    const said = (selector) => plot.figure.querySelector(selector)?.textContent ?? "";
    const plain = { limit: width, fontSize: 13, fontWeight: 400, fill: "var(--rg-text)" };
    const word = (text, x, y, more) => ({ text, x, y, ...plain, ...more });
    const words = [word(said(".rg-title"), 0, 14, { fontSize: 17, fontWeight: 600 })];
    const swatches = [];
    let y = 14;
    const subtitle = said(".rg-subtitle");
    if (subtitle) words.push(word(subtitle, 0, (y += 20), { fill: "var(--rg-muted)" }));
    if (!plot.payload.ends.length) {
      const ruler = document.createElement("canvas").getContext("2d");
      ruler.font = `13px ${tokenValue(plot.figure, "--rg-font")}`;
      let x = width;
      for (const { name, colour, dash, shape } of plot.visible) {
        const wide = Math.min(width, ruler.measureText(name).width + 48);
        if (x + wide > width) [x, y] = [0, y + 22];
        swatches.push({ x, y: y - 4, stroke: colour, strokeDash: dash, shape });
        words.push(word(name, x + 30, y, { limit: wide - 30 }));
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
      const button = make("button", label.className);
      button.type = "button";
      button.title = "Show this series alone; with Shift, add it or take it away";
      button.append(...label.childNodes);
      label.replaceWith(button);
      button.addEventListener("click", (event) => group.choose(name, event.shiftKey));
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

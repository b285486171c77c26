/* The toolbar of a figure: buttons that say what they did, menus to download and to cite, full screen, a link.
   Needs no Vega. */
(function (live) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const TOLD = 1600; // milliseconds that a button shows what it did
  const ICONS = {
    reset: "M7 1.5a5 5 0 1 1 0 10.5a5 5 0 1 1 0-10.5M11 11l3.5 3.5M4.5 6.8h5",
    smooth: "M1.5 12c3.5 0 4-8 7-8s3 5 6 5",
    linked: "M2 1.5h12V6H2zM2 10h12v4.5H2zM8 6v4",
  };

  /** An element with a class and a text; data only ever becomes text. */
  function make(tag, className, text) {
    const element = document.createElement(tag);
    element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function makeButton(className, words, act) {
    const button = make("button", className, words);
    button.type = "button";
    button.addEventListener("click", act);
    return button;
  }

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
  function toolButton(face, words, act) {
    const button = makeButton("rg-tool", undefined, () => act(button));
    button.append(ICONS[face] ? icon(ICONS[face]) : face);
    if (words) {
      button.setAttribute("aria-label", words);
      button.dataset.words = words;
    }
    return button;
  }

  /** A word on a button where there is room for it, otherwise an icon. */
  function showWord(button, word, name) {
    const small = icon(ICONS[name]);
    small.classList.add("rg-narrow");
    button.replaceChildren(make("span", "rg-wide", word), small);
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

  function makeBar(...buttons) {
    const bar = make("div", "rg-toolbar");
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", "Tools of this figure");
    bar.append(...buttons);
    live.rove(bar, ".rg-tool");
    return bar;
  }

  /** A part of an address: nothing in it parts the parts of a state. */
  function encoded(text) {
    return encodeURIComponent(text.toWellFormed?.() ?? text).replaceAll("~", "%7E");
  }

  /** The fragment of a link to a state of a figure, as reportgen/figures/live.py writes it, with what the toolbar
      switches: ``shown`` are names with "log", "linear" or "0". */
  function writeState(figure, { series = [], x = null, mark = null, run = null, rows = "", sort = null, shown = [] }) {
    const parts = [encoded(figure.id)];
    if (series.length) parts.push(`series=${series.map(encoded).join(",")}`);
    if (x) parts.push(`x=${x.join("..")}`);
    if (mark) parts.push(`mark=${mark.step}@${encoded(mark.one.name)}`);
    if (run) parts.push(`run=${encoded(run.name)}@${encoded(run.series)}`);
    if (rows) parts.push(`rows=${encoded(rows)}`);
    if (sort) parts.push(`sort=${sort.order}@${encoded(sort.head)}`);
    parts.push(...shown.map((pair) => pair.join("=")));
    return parts.join("~");
  }

  /** Take the state of a figure, which is no longer shown, out of the address. */
  function forgetState(figure) {
    const plain = `#${encoded(figure.id)}`;
    if (!location.hash.startsWith(`${plain}~`)) return;
    history.replaceState(history.state, "", location.href.split("#")[0] + plain);
  }

  /** Copies a link to the figure as it is shown; ``state`` says how. */
  function linkButton(figure, say, state = () => ({}), words = "Share a link to this figure") {
    return toolButton("Share", words, async (button) => {
      const address = `${location.href.split("#")[0]}#${writeState(figure, state())}`;
      tell(button, (await copy(address)) ? "Link copied" : address, say);
    });
  }

  /** A choice that shows a figure alone, if the browser can; ``changed`` is told whether it now fills the screen. */
  function fullScreenChoice(figure, changed) {
    if (!figure.requestFullscreen) return [];
    const full = makeButton("", "Full screen", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else figure.requestFullscreen();
    });
    figure.addEventListener("fullscreenchange", () => {
      const alone = document.fullscreenElement === figure;
      full.textContent = alone ? "Leave full screen" : "Full screen";
      changed(alone);
    });
    return [full];
  }

  /** The name of a file that is saved: that of the page and of the figure or file. */
  function fileName(name) {
    const parts = location.pathname.split("/").map((part) => part.replace(/(index)?\.html$/, "")).filter(Boolean);
    const page = decoded(parts.at(-1) ?? "").replace(/[^\p{L}\p{N}_.-]+/gu, "-");
    return page ? `${page}-${name}` : name;
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  /** Whether a script can read a file: not one of the disk. */
  function canRead({ protocol }) {
    return live.isServed || protocol === "data:";
  }

  /** Links in a menu to the site's files of a figure, of those of these kinds that there are. */
  function fileLinks(figure, kinds) {
    return Object.entries(kinds).flatMap(([kind, words]) => {
      const source = figure.querySelector(`.rg-files [data-file="${kind}"]`);
      if (!source) return [];
      const link = make("a", "", words);
      link.href = source.href;
      link.download = fileName(source.download || decoded(link.pathname.split("/").at(-1)));
      // A browser shows a file of the disk instead of saving it: not in place of the report.
      if (link.protocol === "file:") link.target = "_blank";
      return [link];
    });
  }

  /** A choice in a menu that draws a picture of a figure and saves it. */
  function pictureChoice(figure, kind, draw, say) {
    return makeButton("", `${kind} picture`, async () => {
      const link = make("a", "");
      link.href = URL.createObjectURL(await draw());
      link.download = fileName(`${figure.id}.${kind.toLowerCase()}`);
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      say(`${kind} picture saved`);
    });
  }

  function readPixels(canvas) {
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  /** A button that opens a list of links and buttons; ``choices`` makes them when it first opens. */
  function menu(face, words, choices) {
    const list = make("ul", "rg-menu");
    let filled = null;
    const button = toolButton(face, words, () => {
      filled ??= fill();
      filled.then(() => open(list.hidden)).catch((problem) => console.error(problem.message));
    });
    const open = (yes) => {
      list.hidden = !yes;
      button.setAttribute("aria-expanded", yes);
      list.classList.toggle("rg-from-left", wrap.getBoundingClientRect().right < list.offsetWidth);
      if (yes) list.querySelector("a, button").focus();
    };
    const fill = async () => {
      for (const choice of await choices(button)) {
        const item = make("li", "");
        item.append(choice);
        list.append(item);
        // Before what the choice itself does, which may take the focus.
        const close = () => {
          open(false);
          button.focus();
        };
        choice.addEventListener("click", close, { capture: true });
      }
      wrap.append(list);
    };
    const wrap = make("div", "rg-save");
    wrap.append(button);
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

  /** A line of words about what a plot shows, below it. */
  function putLine({ box, figure, group }, line) {
    // The rows of panels line up: none is left for it between plot and caption.
    if (group.root === figure) box.after(line);
    else figure.querySelector(".rg-caption").prepend(line);
  }

  /** A menu of other ways to see a figure, if there are any. */
  function viewMenu(choices) {
    return choices.length ? [menu("View", "", () => choices)] : [];
  }

  /** A menu of downloads. */
  function saveMenu(choices) {
    return menu("Save", "", () => choices);
  }

  /** A menu of what a figure or table is cited and copied as; ``draw`` makes the SVG of a live view. */
  function citeMenu(part, say, state, draw) {
    const kind = part.matches(".rg-figure") ? "figure" : "table";
    return menu("Cite", `Cite or copy this ${kind}`, async (button) => {
      await live.load(["live-cite.js"]);
      return live.citeChoices(part, kind, (words) => tell(button, words, say), state, draw);
    });
  }

  /** Open the menu of a result table in place of the button that stands for it. */
  function citeTable(table, button, state) {
    const said = make("span", "rg-unseen");
    said.setAttribute("role", "status");
    const say = (words) => {
      said.textContent = words;
    };
    const cite = citeMenu(table, say, state);
    cite.classList.add("rg-cite");
    button.replaceWith(cite, said);
    cite.firstChild.click();
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const field = make("textarea", "rg-unseen", text);
      const before = document.activeElement;
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      before?.focus({ preventScroll: true });
      return done;
    }
  }

  /** The title of a figure or table without its number, which is the page's. */
  function readTitle(part) {
    const words = [...(part.querySelector(".rg-title")?.childNodes ?? [])];
    return words.map((node) => (node.className === "rg-number" ? "" : node.textContent)).join("").trim();
  }

  Object.assign(live, { make, makeButton, toolButton, showWord, makeBar, linkButton, viewMenu, fullScreenChoice, fileLinks, saveMenu });
  Object.assign(live, { canRead, pictureChoice, readPixels });
  Object.assign(live, { citeMenu, citeTable, menu, putLine, fileName, encoded, decoded, copy, forgetState, readTitle, writeState });
})(window.reportgenLive);

/* What a reader sees of a page and of parts of it, in words: the values of an object, without what is absent. */
async ([ids]) => {
  const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
  await frame();
  await frame();
  const found = {};
  const put = (key, value) => {
    if (Array.isArray(value) ? value.length : value !== undefined && value !== null && value !== "") found[key] = value;
  };
  const isShown = (node) => {
    if (!node?.checkVisibility({ visibilityProperty: true })) return false;
    const { width, height } = node.getBoundingClientRect();
    return width > 0 && height > 0;
  };
  const clean = (text) => text.replace(/[ \n]+/g, " ").trim();
  const shown = (root, parts) => [...root.querySelectorAll(parts)].filter(isShown);
  const words = (node) => clean(node?.textContent ?? "");
  const cells = (row) => [...row.children].map(words).filter(Boolean).join(" · ");
  const number = (list) => list.length || "";
  const percent = (part) => `${Math.round(100 * part)}%`;
  const box = (node) => node.getBoundingClientRect();
  try {
    put("address", decodeURIComponent(location.hash));
  } catch {
    put("address", location.hash);
  }
  put("copied", window.copied?.split?.("\n"));
  const choice = (one) => (one.ariaPressed === "true" ? `${words(one)}, pressed` : words(one));
  put("menu", shown(document, ".rg-menu button, .rg-menu a").map(choice));
  put("dialog", shown(document, "[role=dialog], dialog").map((one) => one.getAttribute("aria-label")).join());
  put("popover", shown(document, ".rg-popover").map(words).join());
  put("scrolls sideways", document.scrollingElement.scrollWidth > innerWidth ? "yes" : "");

  /** Words at the ticks of an axis, in their order on the page. */
  function ticks(axes, side, sign) {
    const labels = axes.flatMap((axis) => [...axis.querySelectorAll(".role-axis-label text")]);
    const inked = labels.filter((one) => one.textContent && one.getAttribute("opacity") !== "0");
    return inked.sort((a, b) => sign * (box(a)[side] - box(b)[side])).map(words).join(" ");
  }

  function seePlot(figure, say) {
    const all = (parts) => [...figure.querySelectorAll(`.rg-live ${parts}`)];
    const drawn = (parts) => all(parts).filter((one) => (one.getAttribute("d") ?? "").trim());
    const [strip] = all(".strip_group"), below = strip ? 96 : 0;
    const axes = all(".role-axis").filter((one) => !strip?.contains(one)), across = (one) => one.querySelector(".role-axis-domain");
    const labelled = axes.filter((one) => one.querySelector(".role-axis-label"));
    say("x", ticks(axes.filter(across), "left", 1));
    say("y", ticks(labelled.slice(-1), "top", -1));
    const faint = (one) => (one.getAttribute("stroke") ?? "").includes("color-mix");
    say("lines", number([".lines_marks path", ".right_lines_marks path"].flatMap(all)));
    const half = (path) => path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM()).y;
    const frame = figure.querySelector(".rg-surface")?.getBoundingClientRect();
    const drawnLines = [".lines_marks path", ".right_lines_marks path"].flatMap(drawn);
    if (frame?.height) say("lines through", drawnLines.map((one) => percent((half(one) - frame.top) / (frame.height - below))).join(" "));
    say("faded", number([".lines_marks path", ".right_lines_marks path"].flatMap(all).filter(faint)));
    for (const kind of ["runs", "bands", "reader_raw"]) say(kind, number(drawn(`.${kind}_marks path`)));
    const points = all(".strip_points_marks path").map((one) => one.getAttribute("fill") === "var(--rg-bg)");
    const title = words(strip?.querySelector(".role-axis-title") ?? document.createElement("i"));
    if (strip) say("strip", `${title}, ${points.filter((open) => !open).length} of ${points.length} points filled`);
    const surface = figure.querySelector(".rg-surface");
    if (!isShown(surface)) return;
    const plot = box(surface), middle = (one, from, size) => (box(one)[from] + box(one)[size] / 2 - plot[from]) / plot[size];
    const place = (one) => (box(one).left + box(one).width / 2 - plot.left) / plot.width;
    const depth = (one) => (box(one).top + box(one).height / 2 - plot.top) / (plot.height - below);
    const [rule] = shown(figure, ".rg-rule"), [ring] = shown(figure, ".rg-state-ring");
    say("rule at", rule && percent(place(rule)));
    say("dots at", shown(figure, ".rg-dot").map((one) => percent(depth(one))).join(" "));
    say("ring at", ring && `${percent(place(ring))} ${percent(depth(ring))}`);
    say("values at the rule", shown(figure, ".rg-at-rule").map(words).sort().join(" "));
    say("pin at", shown(figure, ".rg-pin").map((one) => percent(place(one))).join());
    say("run", shown(figure, ".rg-run-line").map((one) => [...one.classList].slice(1).join(" ")).join());
  }

  for (const id of ids) {
    const part = document.getElementById(id);
    if (!part) continue;
    const say = (key, value) => put(ids.length > 1 ? `${id} ${key}` : key, value);
    const marked = ["live", "read", "zoomed"].filter((one) => part.matches(`.rg-is-${one}`));
    say("is", marked.join(" "));
    const rows = shown(part, ".rg-tooltip").flatMap((tip) => [...tip.children]);
    say("tooltip", rows.map((row) => (row.children.length ? cells(row) : words(row))));
    say("said", [...part.querySelectorAll("[role=status]")].map(words).filter(Boolean).join());
    say("showing", shown(part, ".rg-state > span").map(words).join());
    const chosen = shown(part, ".rg-pinned > span, .rg-pinned > * > button, .rg-pinned > button");
    say("pinned", chosen.filter((one) => !one.closest(".rg-menu")).map(words).join(" · "));
    if (part.querySelector(".rg-live")) seePlot(part, say);
    const back = [...part.querySelectorAll("svg .rg-faded")].map((one) => one.dataset.rgSeries);
    say("stand back", [...new Set(back)].sort());
    say("legend", shown(part, ".rg-legend [aria-pressed=true]").map(words).join(", "));
    for (const button of shown(part, ".rg-toolbar .rg-tool")) {
      const pressed = { true: "pressed", false: "free" }[button.getAttribute("aria-pressed")] ?? "there";
      const label = button.getAttribute("aria-label") ?? words(button);
      say(`[${label}]`, pressed);
    }
    if (part.querySelector("table.rg-sortable")) {
      const heads = shown(part, "tbody tr").map((row) => [...row.cells].slice(0, 2).map(words).join(" · "));
      say("rows", heads.length > 12 ? `${heads.length}` : heads);
      say("sorted", shown(part, "[aria-sort]").map((one) => `${words(one)}, ${one.ariaSort}`).join());
    }
    say("chosen", shown(part, "tr.rg-chosen").map((row) => words(row.cells[0])).join(", "));
  }
  return found;
}

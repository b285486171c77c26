/* Places of every word, line and neighbour of a figure's picture, in pixels, still or alive; the classes of the live
   view are Vega's. */
(figure, live) => {
  const shown = figure.querySelector(live ? ".rg-live svg" : ".rg-plot > svg");
  const box = (node) => node.getBoundingClientRect();
  const place = (node) => [box(node).left, box(node).top, box(node).right, box(node).bottom];
  const all = (root, still, alive) => [...root.querySelectorAll(live ? alive : still)];
  const words = all(shown, "text", "text")
    .filter((node) => box(node).width > 0)
    .map((node) => [node.textContent, ...place(node)])
    .sort((a, b) => a[0].localeCompare(b[0]) || a[1] - b[1] || a[2] - b[2]);
  const strip = ".strip_marks path[stroke]:not([stroke='none'])";
  const alive = `.lines_marks path, .right_lines_marks path, ${strip}, .role-axis-grid line`;
  const lines = all(shown, ".rg-line:not([d='']), .rg-grid line", alive);
  const leaders = all(shown, ".rg-ends path, .rg-ends line", ".leaders_marks line, .early_marks line")
    .filter((node) => node.getClientRects().length);
  const around = [...figure.querySelectorAll(".rg-title, .rg-subtitle, .rg-plot, .rg-summary, .rg-data")];
  const parts = figure.id === "passk" ? [".rg-band:not([stroke])", ".bands_marks path"] : [".none", ".none"];
  const symbols = figure.id === "passk" ? [".rg-symbols use", ".points_marks path"] : [".none", ".none"];
  const rows = [
    ...lines.map((node) => [node.localName === "line" ? "grid" : "", ...place(node)]),
    ...leaders.map((node) => ["leader", ...place(node)]).sort((a, b) => a[4] - b[4] || a[2] - b[2]),
    ...around.map((node) => ["", ...place(node)]),
    ...all(shown, ...parts).map((node) => ["band", ...place(node)]).sort((a, b) => a[2] - b[2] || a[1] - b[1]),
    ...all(shown, ...symbols).map((node) => ["symbol", ...place(node)]).sort((a, b) => a[2] - b[2] || a[1] - b[1]),
  ];
  return [...words, ...rows.sort((a, b) => a[0].localeCompare(b[0]))];
}

/* What a figure or a table is cited and copied as: BibTeX, a link, CSV, SVG, a LaTeX or a Markdown table. Loaded
   once somebody opens such a menu. Where a page cannot read the site's files, as from a disk, CSV is made of the
   table on the page and SVG of the live view, and both say so. */
(function (live) {
  "use strict";

  const { make } = live;

  /** The buttons of a menu; ``tell`` says what was copied, ``state`` what a link shows. */
  function citeChoices(part, kind, tell, state = () => ({}), draw = null) {
    const table = part.querySelector("table.rg-table");
    const bibtex = document.querySelector(".rg-citation code")?.textContent;
    const fragment = () => `#${live.writeState(part, state())}`;
    const svg = part.querySelector('.rg-files [data-file="svg"]');
    const offers = [
      bibtex && ["BibTeX", () => writeBibtex(bibtex, part, kind, findAddress(fragment()))],
      [`link to this ${kind}`, () => location.href.split("#")[0] + fragment()],
      ["CSV", async () => (await readFile(part, "csv")) ?? [writeCsv(table), "CSV of the table as shown"]],
      svg && (draw || live.canRead(svg)) && ["SVG", async () => (await readFile(part, "svg")) ?? drawn(draw)],
      ["LaTeX table", () => writeLatex(table, part)],
      ["Markdown table", () => writeMarkdown(table)],
    ];
    const take = async (words, write) => {
      const [text, what] = [await write()].flat();
      const said = what ?? `${words[0].toUpperCase()}${words.slice(1)}`;
      if (await live.copy(text)) tell(`${said} copied`);
      else showText(said, text);
    };
    return offers.filter(Boolean).map(([words, write]) => live.makeButton("", `Copy ${words}`, () => take(words, write)));
  }

  /** What could not be copied, selected in a box to be copied by hand. */
  function showText(words, text) {
    const box = make("dialog", "rg-copy");
    box.setAttribute("aria-label", words);
    const label = make("label", "", "This browser did not copy. Press Ctrl+C, or ⌘C on a Mac, to copy this:");
    const field = make("textarea", "");
    Object.assign(field, { readOnly: true, value: text, rows: 12 });
    const close = live.makeButton("rg-tool", "Close", () => box.close());
    box.addEventListener("close", () => box.remove());
    label.append(field);
    box.append(label, close);
    document.body.append(box);
    box.showModal();
    field.select();
    field.scrollTop = 0;
  }

  // ---- files of the site ---------------------------------------------------------------------------

  /** The text of a file of a figure or table; null where it cannot be read. */
  async function readFile(part, kind) {
    const link = part.querySelector(`.rg-files [data-file="${kind}"]`);
    if (!link || !live.canRead(link)) return null;
    if (link.protocol === "data:") {
      const bytes = Uint8Array.from(atob(link.href.split(",")[1]), (char) => char.charCodeAt(0));
      return new TextDecoder().decode(bytes);
    }
    const answer = await fetch(link.href).catch(() => null);
    return answer?.ok ? answer.text() : null;
  }

  async function drawn(draw) {
    return [await draw(), "SVG of the figure as shown"];
  }

  // ---- the table on the page -----------------------------------------------------------------------

  /** The words of a table, row by row, its head first. */
  function readRows(table) {
    return [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
  }

  /** As write_table_csv of reportgen/figures/text.py writes it: no cell is a formula to a spreadsheet. */
  function writeCsv(table) {
    const field = (text) => {
      const plain = text.replaceAll("\u2212", "-");
      if (/^-?[\d.]+$/.test(plain)) return plain;
      const safe = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
      return /[,"\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    };
    return readRows(table).map((row) => `${row.map(field).join(",")}\n`).join("");
  }

  // ---- LaTeX ---------------------------------------------------------------------------------------

  const INVISIBLE = /[\p{Cc}\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
  const APART = "\u0001"; // between characters that would become another one
  const LATEX = new Map([
    ...[..."&%$#_"].map((char) => [char, `\\${char}`]),
    // BibTeX counts braces, whatever stands before them.
    ["{", "\\textbraceleft{}"],
    ["}", "\\textbraceright{}"],
    ["\\", "\\textbackslash{}"],
    ["~", "\\textasciitilde{}"],
    ["^", "\\textasciicircum{}"],
    ["<", "\\textless{}"],
    [">", "\\textgreater{}"],
    ["|", "\\textbar{}"],
    ['"', "''"],
    ["`", "\\textasciigrave{}"],
    ["\u00a0", "~"],
    ["\u2009", "\\,"],
    ["\u202f", "\\,"],
    ["\u2013", "--"],
    ["\u2014", "---"],
    ["\u2026", "\\ldots{}"],
    ["\u00b0", "\\textdegree{}"],
    [APART, "{}"],
    ...Object.entries({
      "−": "-", "±": "\\pm", "×": "\\times", "·": "\\cdot", "≤": "\\leq", "≥": "\\geq", "≈": "\\approx", "→": "\\to",
      "∞": "\\infty", "√": "\\surd", "Σ": "\\Sigma", "Δ": "\\Delta", "α": "\\alpha", "β": "\\beta", "γ": "\\gamma",
      "δ": "\\delta", "ε": "\\varepsilon", "λ": "\\lambda", "μ": "\\mu", "µ": "\\mu", "σ": "\\sigma", "τ": "\\tau",
    }).map(([char, math]) => [char, `$${math}$`]),
    ...[..."⁰¹²³⁴⁵⁶⁷⁸⁹⁻"].map((char, i) => [char, `$^{${"0123456789-"[i]}}$`]),
  ]);

  /** Words as LaTeX shows them: every character for itself, white space as one. */
  function latex(text) {
    const words = text.replace(/\s+/g, " ").replace(INVISIBLE, "").trim();
    return Array.from(words.replace(/([-',])(?=\1)/g, `$1${APART}`), (char) => LATEX.get(char) ?? char)
      .join("")
      .replaceAll("}$$^{", "")
      .replace(/(?<=^|[\s([])-(?=[\d.])/g, "$-$");
  }

  /** A cell, whose lines stay lines; what a line break would take for its own options does not begin one. */
  function latexCell(text, side) {
    const lines = text.split("\n").map((line) => latex(line).replace(/^[[*]/, "{}$&"));
    if (lines.length === 1) return lines[0];
    return `\\begin{tabular}[t]{@{}${side}@{}}${lines.join("\\\\ ")}\\end{tabular}`;
  }

  const NUMBER = /^[-+\u2212\u00b1]?\d[\d.,]*(?:e[-+\u2212]?\d+)?(?![\p{L}\d])/u;

  /** The side of each column: right for numbers. */
  function findSides([head, ...rows]) {
    return head.map((_, column) => {
      const cells = rows.map((row) => row[column] ?? "").filter((text) => !/^[\u2013-]?$/.test(text));
      return cells.length && cells.every((text) => NUMBER.test(text)) ? "r" : "l";
    });
  }

  /** The table as it is shown, sorted and rounded, with the rules of booktabs. */
  function writeLatex(table, part) {
    const rows = readRows(table);
    const sides = findSides(rows);
    const [head, ...body] = rows.map((row) => `${row.map((text, i) => latexCell(text, sides[i])).join(" & ")} \\\\`);
    const note = part.querySelector(".rg-note")?.textContent;
    const text = [
      "\\begin{table}",
      "  \\centering",
      `  \\caption{${latex(live.readTitle(part))}${note ? ` (${latex(note)})` : ""}}`,
      `  \\label{tab:${plainId(part)}}`,
      `  \\begin{tabular}{${sides.join("")}}`,
      ...["\\toprule", head, "\\midrule", ...body, "\\bottomrule"].map((line) => `  ${line}`),
      "  \\end{tabular}",
      "\\end{table}\n",
    ].join("\n");
    const needs = /[^\u0000-\u017f\u2018-\u201d]/.test(text) ? ", and XeLaTeX or LuaLaTeX with a font for its characters" : "";
    return `% Needs \\usepackage{booktabs}${needs}.\n${text}`;
  }

  // ---- Markdown ------------------------------------------------------------------------------------

  /** The table as it is shown, sorted and rounded, as GitHub and others read it. */
  function writeMarkdown(table) {
    const rows = readRows(table);
    const rule = findSides(rows).map((side) => (side === "r" ? "---:" : "---"));
    const cell = (text) => text.replace(/\s+/g, " ").replace(INVISIBLE, "").trim().replace(/[\\|`*_[\]<>]/g, "\\$&");
    const [head, ...body] = rows.map((row) => row.map(cell));
    return [head, rule, ...body].map((row) => `| ${row.join(" | ")} |\n`).join("");
  }

  function plainId(part) {
    return part.id.replace(/[^A-Za-z0-9.:-]+/g, "-");
  }

  // ---- BibTeX --------------------------------------------------------------------------------------

  /** The published address of what a link shows; "" where the page does not know one. */
  function findAddress(fragment) {
    const canonical = document.querySelector('link[rel="canonical"]')?.href;
    if (!canonical) return "";
    // A version or a preview stands elsewhere on the same site.
    const isHere = new URL(canonical).origin === location.origin;
    return (isHere ? location.href.split("#")[0] : canonical) + fragment;
  }

  /** The report's entry with a key, a note and an address of this figure or table. */
  function writeBibtex(bibtex, part, kind, address) {
    const [first, ...rest] = bibtex.trim().split("\n");
    const fields = rest.slice(0, -1).filter((line) => !(address && line.startsWith("  url = ")));
    const name = `${kind[0].toUpperCase()}${kind.slice(1)}`;
    fields.push(`  note = {${name} \`\`${latex(live.readTitle(part))}''},`);
    if (address) fields.push(`  url = {${address}},`);
    return [`${first.replace(/,$/, "")}-${plainId(part)},`, ...fields, "}\n"].join("\n");
  }

  Object.assign(live, { citeChoices });
})(window.reportgenLive);

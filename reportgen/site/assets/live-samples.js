/* What stands behind a cell of a problem map: a dialog with the prompt and, for each sample, its answer, score
   and what the grader said. The texts are in scripts next to the figure's files; one is loaded when a cell of it
   is first opened. Models wrote them: they only ever become text. */
(function (live) {
  "use strict";

  const { make } = live;

  /** The samples of one of a column's problems, as [series, label, score, texts]. */
  async function readProblem(figure, [part, index]) {
    const { href } = figure.querySelector('.rg-files [data-file="csv"]');
    await live.load([href.replace(/csv$/, `samples-${part}.js`)]);
    const { texts, problems } = window.reportgenSamples[`${figure.id}.${part}`];
    const [name, rows] = problems[index];
    const fill = ([series, label, score, ...places]) => [series, label, score, places.map((place) => texts[place])];
    return { name, samples: rows.map(fill) };
  }

  function addText(box, term, text) {
    if (text === undefined) return;
    const words = make("div", "rg-sample-text", text);
    words.dir = "auto";
    box.append(make("p", "rg-sample-term", term), words);
  }

  function addHeading(box, tag, words) {
    const heading = make(tag, "", words);
    heading.dir = "auto";
    box.append(heading);
  }

  /** A problem with the samples of one series; what all of them share stands there once, before them. */
  function showProblem(box, samples, grader, tag) {
    const shared = [0, 1].map((place) => samples.every(({ 3: texts }) => texts[place] === samples[0][3][place]));
    const addShared = (texts, which) => {
      if (shared[0] === which) addText(box, "Prompt", texts[0]);
      if (shared[1] === which) addText(box, "Expected", texts[1]);
    };
    if (samples.length) addShared(samples[0][3], true);
    else box.append(make("p", "", "No sample has a score."));
    for (const [, label, score, texts] of samples) {
      addHeading(box, tag, `${label}: ${score}${grader && `, by ${grader}`}`);
      addShared(texts, false);
      addText(box, "Answer", texts[2]);
      if (texts[3] !== texts[2]) addText(box, texts[2] === undefined ? "Answer" : "Extracted answer", texts[3]);
      addText(box, "Grader", texts[4]);
    }
  }

  /** Open the cell of a map; the focus returns to it. */
  live.openSamples = async (reader, [row, column]) => {
    const { data } = reader.marks;
    const problems = await Promise.all(data.texts.places[column].map((place) => readProblem(reader.figure, place)));
    const box = make("dialog", "rg-samples");
    const bar = make("div", "rg-samples-bar");
    const close = live.makeButton("rg-tool", "Close", () => box.close());
    box.addEventListener("close", () => {
      box.remove();
      reader.surface.focus({ preventScroll: true });
      reader.read([row, column]);
    });
    addHeading(bar, "h2", `${data.problems[column]}, ${data.series[row]}`);
    box.setAttribute("aria-label", bar.textContent);
    bar.append(close);
    box.append(bar);
    const several = problems.length > 1;
    for (const { name, samples } of problems) {
      const part = make("section", "");
      if (several) addHeading(part, "h3", name);
      showProblem(part, samples.filter(([series]) => series === row), data.texts.grader, several ? "h4" : "h3");
      box.append(part);
    }
    if (document.querySelector(".rg-samples")) return; // of the first of two clicks
    document.body.append(box);
    box.showModal();
  };
})(window.reportgenLive);

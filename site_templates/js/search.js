// Search over the whole report. Titles, texts and lunr come as classic scripts, on first use, so that a page
// opened from a disk can search too. Titles are searched at once, texts as their parts arrive. All words are
// looked for by their beginnings; when nothing has them all: any of them, then with one letter wrong, then by
// a part of them ("training" finds "trained").
(function () {
  "use strict";
  var MOST_RESULTS = 20;
  var MOST_PER_PAGE = 4;
  var SNIPPET = 150;
  var PATIENCE = 500; // milliseconds
  var MOST_WHOLE = 12; // parts of the texts
  var root = new URL("../", document.currentScript.src);
  var dialog = window.reportgenSearchDialog(prepare, show);
  if (!dialog) return;
  var input = dialog.input;
  var list = dialog.list;
  var status = dialog.status;
  var indexes = []; // of titles, then of the parts that arrived
  var docs = [];
  var known = 0; // number of documents whose text arrived
  var reading = false;
  var isLate = false; // whether a reader should see what there is so far
  var failed = false;
  var titles = new Map();
  var searched = "";
  var shown = [];
  var separator = /[\s-]+/;
  var loading = false;

  // ---- index ----
  function load(path) {
    return new Promise(function (resolve, reject) {
      var script = document.createElement("script");
      script.src = new URL(path, root).href;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
  }

  function prepare() {
    if (loading) return;
    loading = true;
    // To lunr, a heading "Exports" would be that of a module.
    if (!Object.hasOwn(window, "exports")) window.exports = undefined;
    Promise.all([load("search/lunr.js"), load("search/titles.js")]).then(build, function () {
      status.textContent = "Search does not work here: its index could not be loaded.";
    });
  }

  // Texts come in parts, one after another, once somebody types.
  function readTexts() {
    if (reading || !indexes.length) return;
    reading = true;
    setTimeout(function () {
      isLate = true;
      show();
    }, PATIENCE);
    var given = window.reportgenSearch;
    given.starts.reduce(function (before, start, part) {
      return before.then(function () {
        return load("search/texts-" + part + ".js");
      }).then(function () {
        given.texts[part].forEach(function (text, at) { docs[start + at].text = text; });
        var stop = start + given.texts[part].length;
        // One index ranks best, but to make a large one at once would freeze the page.
        var isWhole = given.starts.length <= MOST_WHOLE;
        if (isWhole && stop < docs.length) return;
        indexes.push(makeIndex(isWhole ? 0 : start, stop));
        known = stop;
        show();
      });
    }, Promise.resolve()).catch(function () {
      failed = true;
      show();
    });
  }

  function bare(word) {
    return word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
  }

  function trim(token) {
    return token.update(bare);
  }

  function build() {
    var lunr = window.lunr;
    var config = window.reportgenSearch.config;
    var page = "";
    docs = window.reportgenSearch.docs.map(function (doc) {
      var location = doc[0].startsWith("#") ? page + doc[0] : doc[0];
      page = location.split("#")[0];
      if (location === page) titles.set(page, doc[1]);
      return { location: location, title: doc[1], text: "" };
    });
    if (config.separator) separator = new RegExp(config.separator);
    lunr.tokenizer.separator = separator;
    lunr.Pipeline.registerFunction(trim, "reportgen-trim");
    indexes = [makeIndex(0, docs.length)];
    show();
  }

  function makeIndex(start, stop) {
    return window.lunr(function () {
      var builder = this;
      builder.pipeline.reset();
      builder.pipeline.add(trim);
      builder.searchPipeline.reset();
      builder.ref("at");
      builder.field("title", { boost: 8 });
      builder.field("text");
      docs.slice(start, stop).forEach(function (doc, at) {
        builder.add({ at: start + at, title: doc.title, text: doc.text });
      });
    });
  }

  // ---- query ----
  function wordsOf(query) {
    return query.toLowerCase().split(separator).map(bare).filter(Boolean);
  }

  function ask(words, options) {
    var hits = indexes.map(function (index, at) {
      var found = index.query(function (query) {
        words.forEach(function (word) {
          query.term(word, { boost: 10 });
          query.term(word, Object.assign({}, options)); // lunr keeps and changes what it is given
        });
      });
      // The index of titles stands for the documents whose text is not here yet.
      return at ? found : found.filter(function (hit) { return Number(hit.ref) >= known; });
    });
    return hits.flat().sort(function (a, b) { return b.score - a.score; });
  }

  function find(words) {
    var all = window.lunr.Query.presence.REQUIRED;
    var beginning = window.lunr.Query.wildcard.TRAILING;
    var found = ask(words, { wildcard: beginning, presence: all });
    if (!found.length && isComplete()) {
      found = ask(words, { wildcard: beginning });
      if (!found.length) found = ask(words, { editDistance: 1 });
      if (!found.length) found = ask(words.map(stump), { wildcard: beginning });
    }
    return onePerPlace(found.map(function (hit) { return docs[Number(hit.ref)]; }));
  }

  function isComplete() {
    return failed || (indexes.length > 0 && known === docs.length);
  }

  function stump(word) {
    return word.slice(0, Math.max(4, Math.ceil(word.length * 0.6)));
  }

  // MkDocs indexes a page whole and by section; a page is left out where a section of it is found.
  function onePerPlace(hits) {
    var seen = new Map();
    var sections = new Set();
    hits.forEach(function (doc) {
      if (doc.location.includes("#")) sections.add(pageOf(doc));
    });
    return hits.filter(function (doc, at) {
      var page = pageOf(doc);
      var whole = !doc.location.includes("#");
      if (whole && sections.has(page) && at > 0) return false;
      seen.set(page, (seen.get(page) || 0) + 1);
      return seen.get(page) <= MOST_PER_PAGE;
    }).slice(0, MOST_RESULTS);
  }

  function pageOf(doc) {
    return doc.location.split("#")[0];
  }

  function addressOf(doc) {
    var address = new URL(doc.location || ".", root);
    if (address.protocol === "file:" && address.pathname.endsWith("/")) address.pathname += "index.html";
    return address.href;
  }

  // ---- results ----
  function marked(parent, text, words) {
    var pattern = new RegExp("(" + words.map(escaped).join("|") + ")", "giu");
    text.split(pattern).forEach(function (part, at) {
      var node = at % 2 ? document.createElement("mark") : null;
      if (node) node.textContent = part;
      parent.append(node || part);
    });
  }

  function escaped(word) {
    return word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  }

  function snippet(text, words) {
    var lower = text.toLowerCase();
    var first = words.map(function (word) { return lower.indexOf(word); })
      .filter(function (at) { return at >= 0; })
      .reduce(function (least, at) { return Math.min(least, at); }, Infinity);
    var start = first === Infinity || first < 60 ? 0 : text.indexOf(" ", first - 50) + 1;
    var end = text.lastIndexOf(" ", start + SNIPPET);
    if (end <= start || text.length <= start + SNIPPET) end = Math.min(text.length, start + SNIPPET);
    return (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
  }

  function option(doc, at, words) {
    var link = document.createElement("a");
    link.id = "search-result-" + at;
    link.href = addressOf(doc);
    link.tabIndex = -1;
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    var heading = document.createElement("strong");
    marked(heading, doc.title, words);
    var page = titles.get(pageOf(doc));
    if (page && page !== doc.title) {
      var where = document.createElement("small");
      where.textContent = page;
      heading.append(where);
    }
    var text = document.createElement("span");
    marked(text, snippet(doc.text, words), words);
    link.append(heading, text);
    return link;
  }

  function show() {
    var words = wordsOf(input.value);
    if (words.length) readTexts();
    var same = words.join(" ") === searched && shown.length > 0;
    var hits = words.length && (isComplete() || isLate) ? find(words) : [];
    // What a reader sees or chose stays in its place while texts arrive.
    if (same) hits = shown.concat(hits.filter(function (doc) { return !shown.includes(doc); })).slice(0, MOST_RESULTS);
    var chosen = same ? dialog.getSelected() : 0;
    searched = words.join(" ");
    shown = hits;
    list.replaceChildren.apply(list, hits.map(function (doc, at) { return option(doc, at, words); }));
    list.hidden = !hits.length;
    if (!same) list.scrollTop = 0;
    input.setAttribute("aria-expanded", String(hits.length > 0));
    dialog.select(hits.length ? chosen : -1);
    var count = hits.length === 1 ? "1 result" : hits.length + " results";
    if (!input.value.trim()) status.textContent = "";
    else if (hits.length && isComplete()) status.textContent = failed ? count + ", in titles only" : count;
    else if (hits.length) status.textContent = count + " so far …";
    else if (!words.length || isComplete()) status.textContent = "No results for “" + input.value.trim() + "”.";
    else status.textContent = "Loading …";
  }

  // ---- a link that searches, as of a hub of reports ----
  var given = new URLSearchParams(window.location.search).get("q");
  if (given) {
    input.value = given;
    dialog.open();
    show();
  }
})();

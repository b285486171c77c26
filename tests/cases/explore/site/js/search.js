// Search over the whole report. The index and lunr come as classic scripts, on first use, so that a page
// opened from a disk can search too. All words are looked for by their beginnings; when nothing has them
// all: any of them, then with one letter wrong, then by a part of them ("training" finds "trained").
(function () {
  "use strict";
  var MOST_RESULTS = 20;
  var MOST_PER_PAGE = 4;
  var SNIPPET = 150;
  var root = new URL("../", document.currentScript.src);
  var dialog = document.querySelector(".rg-search");
  var button = document.querySelector(".rg-search-button");
  if (!dialog || !button) return;
  var input = dialog.querySelector("input");
  var list = dialog.querySelector("[role=listbox]");
  var status = dialog.querySelector("[role=status]");
  var index = null;
  var docs = [];
  var titles = new Map();
  var separator = /[\s-]+/;
  var loading = false;
  var selected = -1;

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
    Promise.all([load("search/lunr.js"), load("search/search_index.js")]).then(build, function () {
      status.textContent = "Search does not work here: its index could not be loaded.";
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
    docs = window.reportgenSearch.docs;
    docs.forEach(function (doc) {
      if (!doc.location.includes("#")) titles.set(doc.location, doc.title);
    });
    if (config.separator) separator = new RegExp(config.separator);
    lunr.tokenizer.separator = separator;
    lunr.Pipeline.registerFunction(trim, "reportgen-trim");
    index = lunr(function () {
      var builder = this;
      builder.pipeline.reset();
      builder.pipeline.add(trim);
      builder.searchPipeline.reset();
      builder.ref("at");
      builder.field("title", { boost: 8 });
      builder.field("text");
      docs.forEach(function (doc, at) {
        builder.add({ at: at, title: doc.title, text: doc.text });
      });
    });
    show();
  }

  // ---- query ----
  function wordsOf(query) {
    return query.toLowerCase().split(separator).map(bare).filter(Boolean);
  }

  function ask(words, options) {
    return index.query(function (query) {
      words.forEach(function (word) {
        query.term(word, { boost: 10 });
        query.term(word, Object.assign({}, options)); // lunr keeps and changes what it is given
      });
    });
  }

  function find(words) {
    var all = window.lunr.Query.presence.REQUIRED;
    var beginning = window.lunr.Query.wildcard.TRAILING;
    var found = ask(words, { wildcard: beginning, presence: all });
    if (!found.length) found = ask(words, { wildcard: beginning });
    if (!found.length) found = ask(words, { editDistance: 1 });
    if (!found.length) found = ask(words.map(stump), { wildcard: beginning });
    return onePerPlace(found.map(function (hit) { return docs[Number(hit.ref)]; }));
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
    var hits = index && words.length ? find(words) : [];
    list.replaceChildren.apply(list, hits.map(function (doc, at) { return option(doc, at, words); }));
    list.hidden = !hits.length;
    list.scrollTop = 0;
    input.setAttribute("aria-expanded", String(hits.length > 0));
    select(hits.length ? 0 : -1);
    if (!input.value.trim()) status.textContent = "";
    else if (!index) status.textContent = "Loading …";
    else if (!hits.length) status.textContent = "No results for “" + input.value.trim() + "”.";
    else status.textContent = hits.length === 1 ? "1 result" : hits.length + " results";
  }

  function select(at) {
    var options = list.children;
    if (options[selected]) options[selected].setAttribute("aria-selected", "false");
    selected = at;
    if (!options[at]) return input.removeAttribute("aria-activedescendant");
    options[at].setAttribute("aria-selected", "true");
    options[at].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", options[at].id);
  }

  // ---- events ----
  function open() {
    prepare();
    if (!dialog.open) dialog.showModal();
    input.focus();
    input.select();
  }

  function typesText(target) {
    return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  }

  button.addEventListener("focus", prepare);
  button.addEventListener("pointerenter", prepare);
  button.addEventListener("click", open);
  dialog.querySelector("button").addEventListener("click", function () { dialog.close(); });
  dialog.addEventListener("click", function (event) {
    if (event.target === dialog) dialog.close();
    else if (event.target.closest("a")) dialog.close();
  });
  input.addEventListener("input", show);
  input.addEventListener("keydown", function (event) {
    var count = list.children.length;
    if (event.isComposing || !count) return;
    if (event.key === "ArrowDown") select((selected + 1) % count);
    else if (event.key === "ArrowUp") select((selected + count - 1) % count);
    else if (event.key === "Enter") list.children[selected].click();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", function (event) {
    var shortcut = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k";
    var slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!shortcut && !(slash && !typesText(event.target))) return;
    event.preventDefault();
    open();
  });
})();

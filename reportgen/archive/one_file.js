// A report in one file: its pages fold, those of a group from the start, and the search finds what they say.
(function () {
  "use strict";
  var MOST_RESULTS = 20;
  var SNIPPET = 150;
  var HEADINGS = "h1[id], h2[id], h3[id], h4[id]";
  var UNREAD = "script, style, svg, button, .headerlink, .rg-unseen, .rg-hidden";
  var pages = Array.from(document.querySelectorAll(".rg-report-page"));
  var folds = new Map(); // from a page to what folds it

  // ---- pages fold ----
  function readTitle(page) {
    var title = page.querySelector("h1");
    return title ? readText(title).trim() : page.id;
  }

  // The browser's own search finds what is folded, too, where it can.
  function fold(page, folded) {
    var button = folds.get(page);
    if (!button) return;
    button.setAttribute("aria-expanded", String(!folded));
    button.title = folded ? "" : "Fold this page";
    page.classList.toggle("rg-folded", folded);
    if (folded) button.nextElementSibling.setAttribute("hidden", "until-found");
    else button.nextElementSibling.removeAttribute("hidden");
  }

  function unfoldAround(element) {
    var page = element && element.closest(".rg-report-page.rg-folded");
    if (page) fold(page, false);
    return Boolean(page);
  }

  // A state of a figure stands behind the figure's own name.
  function findTarget(hash) {
    var name = hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch (error) {
      // As it is written.
    }
    return document.getElementById(name) || document.getElementById(name.split("~")[0]);
  }

  function followAddress() {
    var target = window.location.hash && findTarget(window.location.hash);
    if (unfoldAround(target)) target.scrollIntoView();
  }

  if (pages.length > 1) {
    pages.forEach(function (page) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "rg-unfold";
      var title = document.createElement("span");
      title.textContent = readTitle(page);
      button.append(title);
      button.addEventListener("click", function () {
        fold(page, !page.classList.contains("rg-folded"));
      });
      page.prepend(button);
      folds.set(page, button);
      fold(page, false);
    });
    document.querySelectorAll("#navigation details a[href^='#']").forEach(function (link) {
      var page = findTarget(link.hash);
      if (page) fold(page, true);
    });
    document.addEventListener("beforematch", function (event) { unfoldAround(event.target); });
    document.addEventListener("click", function (event) {
      var link = event.target.closest("a[href^='#']");
      if (link) unfoldAround(findTarget(link.hash));
    }, true);
    window.addEventListener("hashchange", followAddress);
    followAddress();
  }

  // ---- search ----
  var dialog = window.reportgenSearchDialog(prepare, show);
  var entries = []; // what stands below each heading

  function readText(element) {
    var walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, function (node) {
      if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
      return node.matches(UNREAD) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    });
    var texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode.data);
    return texts.join("");
  }

  function prepare() {
    if (entries.length) return;
    pages.forEach(function (page) {
      var title = readTitle(page);
      var entry = add(title, title, page.id);
      Array.from(page.querySelector("article").children).forEach(function (part) {
        if (!part.matches(HEADINGS)) entry.text += readText(part) + " ";
        else if (part.tagName !== "H1") entry = add(title, readText(part).trim(), part.id);
      });
    });
    entries.forEach(function (entry) {
      entry.text = entry.text.replace(/\s+/g, " ");
      entry.low = " " + (entry.heading + " " + entry.text).toLowerCase();
    });
  }

  function add(page, heading, id) {
    entries.push({ page: page, heading: heading, id: id, text: "" });
    return entries[entries.length - 1];
  }

  // Words are found by their beginnings.
  function find(words) {
    var tests = words.map(function (word) {
      return new RegExp("(?:^|[^\\p{L}\\p{N}])" + word.replace(/[^\p{L}\p{N}]/gu, "\\$&"), "u");
    });
    function has(text) {
      return function (test) { return test.test(text); };
    }
    var hits = [];
    entries.forEach(function (entry) {
      if (!tests.every(has(entry.low))) return;
      hits.push({ entry: entry, rank: tests.filter(has(entry.heading.toLowerCase())).length });
    });
    hits.sort(function (a, b) { return b.rank - a.rank; });
    return hits.map(function (hit) { return hit.entry; });
  }

  function option(entry, word) {
    var link = document.createElement("a");
    link.id = "search-result-" + dialog.list.children.length;
    link.href = "#" + encodeURIComponent(entry.id);
    link.tabIndex = -1;
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    var heading = document.createElement("strong");
    heading.textContent = entry.heading;
    var where = document.createElement("small");
    if (entry.heading !== entry.page) where.textContent = entry.page;
    heading.append(where);
    var text = document.createElement("span");
    var start = Math.max(0, entry.text.toLowerCase().indexOf(word) - SNIPPET / 3);
    start = start && entry.text.indexOf(" ", start) + 1;
    text.textContent = (start ? "… " : "") + entry.text.slice(start, start + SNIPPET).trim();
    link.append(heading, text);
    dialog.list.append(link);
  }

  function show() {
    var words = dialog.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    var found = words.length ? find(words) : [];
    dialog.list.replaceChildren();
    found.slice(0, MOST_RESULTS).forEach(function (entry) { option(entry, words[0]); });
    dialog.list.hidden = !found.length;
    dialog.input.setAttribute("aria-expanded", String(Boolean(found.length)));
    var more = found.length > MOST_RESULTS ? "The first " + MOST_RESULTS + " of " : "";
    if (!words.length) dialog.status.textContent = "";
    else if (!found.length) dialog.status.textContent = "Nothing has all these words.";
    else dialog.status.textContent = more + found.length + (found.length === 1 ? " place" : " places");
    dialog.select(found.length ? 0 : -1);
  }
})();

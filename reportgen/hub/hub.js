// Search of a hub, in two levels: titles of reports, pages, benchmarks and teams, which come as a classic script on
// first use, so that a page opened from a disk can search too; and from there the search of a report itself,
// which opens with the same words. A title is found by the beginnings of its words.
(function () {
  "use strict";
  var MOST_RESULTS = 20;
  var MOST_INSIDE = 5; // reports that are offered to search in
  var root = new URL("../../", document.currentScript.src);
  var dialog = window.reportgenSearchDialog(prepare, show);
  if (!dialog) return;
  var input = dialog.input;
  var list = dialog.list;
  var status = dialog.status;
  var entries = []; // what can be found, and in which report, if it is in one
  var reports = [];
  var loading = false;
  var isReady = false;

  // ---- titles ----
  function prepare() {
    if (loading) return;
    loading = true;
    var script = document.createElement("script");
    script.src = new URL("search/titles.js", root).href;
    script.onload = read;
    script.onerror = function () {
      status.textContent = "Search does not work here: its titles could not be loaded.";
    };
    document.head.append(script);
  }

  function read() {
    var given = window.reportgenHub;
    given.benchmarks.forEach(function (one) { add(one[0], "Benchmark", one[1], ""); });
    given.teams.forEach(function (one) { add(one[0], "Team", one[1], ""); });
    reports = given.reports.map(function (one) {
      return { title: one[1], address: "r/" + one[0] + "/", where: [one[2], one[3]].filter(Boolean).join(" · ") };
    });
    given.reports.forEach(function (one, at) {
      var report = reports[at];
      add(report.title, report.where || "Report", report.address, one[5].join(" ") + " " + one[2], report);
      one[4].forEach(function (page) {
        add(page[0], report.title, report.address + page[1], report.title, report);
      });
    });
    isReady = true;
    show();
  }

  function add(title, where, address, around, report) {
    entries.push({
      title: title,
      where: where,
      address: address,
      report: report,
      own: " " + wordsOf(title).join(" "),
      all: " " + wordsOf(title + " " + around).join(" "),
    });
  }

  // ---- query ----
  function wordsOf(text) {
    return text.toLowerCase().split(/[^\p{L}\p{N}.]+/u).filter(Boolean);
  }

  // Titles that have all words go before those that have some of them around, and shorter ones before longer.
  function find(words) {
    function has(text) {
      return function (word) { return text.includes(" " + word); };
    }
    var hits = [];
    entries.forEach(function (entry) {
      if (!words.every(has(entry.all))) return;
      hits.push({ entry: entry, rank: words.filter(has(entry.own)).length });
    });
    hits.sort(function (a, b) {
      return b.rank - a.rank || a.entry.title.length - b.entry.title.length;
    });
    return hits.map(function (hit) { return hit.entry; });
  }

  // ---- results ----
  function addressOf(path, query) {
    var address = new URL(path, root);
    if (address.protocol === "file:" && address.pathname.endsWith("/")) address.pathname += "index.html";
    if (query) address.searchParams.set("q", query);
    return address.href;
  }

  function option(title, where, address) {
    var link = document.createElement("a");
    link.id = "search-result-" + list.children.length;
    link.href = address;
    link.tabIndex = -1;
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    var heading = document.createElement("strong");
    heading.textContent = title;
    var text = document.createElement("span");
    text.textContent = where;
    link.append(heading, text);
    list.append(link);
  }

  function show() {
    var words = wordsOf(input.value);
    var query = input.value.trim();
    list.replaceChildren();
    var found = isReady && words.length ? find(words) : [];
    found.slice(0, MOST_RESULTS).forEach(function (one) {
      option(one.title, one.where, addressOf(one.address));
    });
    // The second level: reports that titles were found in, otherwise the newest.
    var near = new Set(found.map(function (one) { return one.report; }).filter(Boolean));
    var inside = isReady && words.length ? (near.size ? Array.from(near) : reports).slice(0, MOST_INSIDE) : [];
    inside.forEach(function (report) {
      option("Search in " + report.title, "its whole text, for “" + query + "”", addressOf(report.address, query));
    });
    list.hidden = !list.children.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (!isReady) status.textContent = words.length ? "Loading …" : "";
    else if (!words.length) status.textContent = "";
    else if (!found.length) status.textContent = "No title has these words. The newest reports can be searched.";
    else status.textContent = found.length === 1 ? "1 title" : found.length + " titles";
    dialog.select(list.children.length ? 0 : -1);
  }
})();

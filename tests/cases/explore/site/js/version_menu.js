// The versions that are published together: a menu in the bar, and a note on a page of an old one. The list is
// made outside of this site, so its names only ever become text, and addresses only of what is plainly one.
(function () {
  "use strict";
  var PLAIN = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/;
  var MAIN = { title: "main (unreleased)", short: "main", path: "" };
  var site = new URL("../", document.currentScript.src);
  var found = /\/(?:v\/([^/]+)|pr\/([0-9]+))\/$/.exec(site.pathname);
  var shared = found ? new URL("../../", site) : site;
  var bar = document.querySelector(".rg-bar");

  function read(entry) {
    if (!entry || typeof entry.version !== "string" || !PLAIN.test(entry.version)) return [];
    var title = typeof entry.title === "string" && entry.title.trim() ? entry.title : entry.version;
    var isLatest = Array.isArray(entry.aliases) && entry.aliases.includes("latest");
    var path = "v/" + entry.version + "/";
    return [{ version: entry.version, title: title, short: title, path: path, isLatest: isLatest }];
  }

  function make(tag, className, text) {
    var element = document.createElement(tag);
    if (className) element.className = className;
    if (text) element.textContent = text;
    return element;
  }

  function link(entry) {
    var address = new URL(entry.path, shared);
    if (address.protocol === "file:") address.pathname += "index.html";
    var element = make("a", "", entry.title);
    element.href = address.href;
    return element;
  }

  function makeMenu(entries, current) {
    var menu = make("details", "rg-versions");
    var summary = make("summary");
    summary.append(make("span", "rg-hidden", "Version: "), make("span", "", current.short));
    var list = make("ul");
    list.setAttribute("aria-label", "Versions of this report");
    entries.forEach(function (entry) {
      var choice = link(entry);
      if (entry.isLatest) choice.append(" (latest)");
      if (entry === current) choice.setAttribute("aria-current", "true");
      var item = make("li");
      item.append(choice);
      list.append(item);
    });
    menu.append(summary, list);
    return menu;
  }

  // On a screen it is seen on old versions only, on paper on all.
  function makeNote(current, newest) {
    var note = make("aside", "rg-version-note");
    note.setAttribute("aria-label", "Version");
    var words = make("p");
    words.setAttribute("role", "note");
    if (newest) {
      note.classList.add("rg-outdated");
      words.append("This is version " + current.title + ". The newest is ", link(newest), ".");
    } else words.append((current.version ? "Version " : "") + current.title);
    note.append(words);
    return note;
  }

  var given = window.reportgenVersions;
  var versions = Array.isArray(given) ? given.slice(0, 1000).flatMap(read) : [];
  var request = found && found[2];
  var preview = { title: "Preview of pull request " + request, short: "Preview " + request };
  preview.path = "pr/" + request + "/";
  var entries = (request ? [preview, MAIN] : [MAIN]).concat(versions);
  var here = site.href.replace(/%2b/gi, "+");
  var current = entries.find(function (one) { return !found || new URL(one.path, shared).href === here; });
  if (!bar || !current || entries.length < 2) return;
  var newest = versions.find(function (one) { return one.isLatest; }) || versions[0];
  var isOld = versions.indexOf(current) > versions.indexOf(newest);
  bar.insertBefore(makeMenu(entries, current), bar.querySelector(".rg-search-button, .rg-theme-button"));
  bar.after(makeNote(current, isOld ? newest : null));
})();

// The theme switch, the menu of narrow screens, the dialog of the search, boxes that unfold or scroll, pages
// opened from a disk, and the menu of versions, which is loaded where a site has several.
(function () {
  "use strict";
  window.reportgenFreeDocument?.();
  var root = document.documentElement;
  var here = document.currentScript.src; // none where the page holds this script itself

  // ---- theme ----
  var themes = { auto: "as the system", light: "light", dark: "dark" };
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var themeButton = document.querySelector(".rg-theme-button");

  // First the colours that are not shown, then those of the system, then as the system again.
  function nextTheme() {
    var shown = dark.matches ? "dark" : "light";
    var other = dark.matches ? "light" : "dark";
    return { auto: other, [other]: shown, [shown]: "auto" }[root.dataset.theme];
  }

  function nameTheme() {
    var text = "Colours: " + themes[root.dataset.theme] + ". Change to " + themes[nextTheme()];
    themeButton.title = text;
    themeButton.setAttribute("aria-label", text);
  }

  if (themeButton) {
    nameTheme();
    dark.addEventListener("change", nameTheme);
    themeButton.addEventListener("click", function () {
      root.dataset.theme = nextTheme();
      nameTheme();
      try {
        window.localStorage.setItem("reportgen-theme", root.dataset.theme);
      } catch (error) {
        // Storage is refused: the choice lasts for this page.
      }
    });
  }

  // ---- the dialog of the search: what it finds comes from the script of a report's search, or of a hub's ----
  // prepare is called before somebody types, and show when something is typed.
  window.reportgenSearchDialog = function (prepare, show) {
    var dialog = document.querySelector(".rg-search");
    var button = document.querySelector(".rg-search-button");
    if (!dialog || !button) return null;
    var input = dialog.querySelector("input");
    var list = dialog.querySelector("[role=listbox]");
    var selected = -1;

    function getSelected() {
      return selected;
    }

    // Select an option by its place; -1 for none.
    function select(at) {
      var options = list.children;
      if (options[selected]) options[selected].setAttribute("aria-selected", "false");
      selected = at;
      if (!options[at]) return input.removeAttribute("aria-activedescendant");
      options[at].setAttribute("aria-selected", "true");
      options[at].scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", options[at].id);
    }

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
      if (event.target === dialog || event.target.closest("a")) dialog.close();
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
    var status = dialog.querySelector("[role=status]");
    return { input: input, list: list, status: status, open: open, select: select, getSelected: getSelected };
  };

  // ---- a long overview: the rows shown have every word typed above it ----
  document.querySelectorAll(".rg-overview.rg-many").forEach(function (overview) {
    var field = document.createElement("input");
    var rows = Array.from(overview.querySelectorAll(".rg-strip > li"));
    field.type = "search";
    field.className = "rg-filter";
    field.placeholder = "Filter benchmarks";
    field.setAttribute("aria-label", "Filter the benchmarks");
    field.addEventListener("input", function () {
      var words = field.value.toLowerCase().split(/\s+/);
      rows.forEach(function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      });
      overview.querySelectorAll(".rg-group").forEach(function (group) {
        group.hidden = !group.nextElementSibling.querySelector("li:not([hidden])");
      });
    });
    overview.prepend(field);
  });

  // ---- menu ----
  var menuButton = document.querySelector(".rg-menu-button");
  var navigation = document.getElementById("navigation");

  function showMenu(open) {
    root.dataset.menu = open ? "open" : "closed";
    menuButton.setAttribute("aria-expanded", String(open));
  }

  if (menuButton && navigation) {
    menuButton.setAttribute("role", "button");
    showMenu(false);
    menuButton.addEventListener("click", function (event) {
      event.preventDefault();
      showMenu(root.dataset.menu !== "open");
      if (root.dataset.menu === "open") navigation.focus();
    });
    menuButton.addEventListener("keydown", function (event) {
      if (event.key !== " ") return;
      event.preventDefault();
      menuButton.click();
    });
    document.addEventListener("keydown", function (event) {
      if (event.key !== "Escape" || root.dataset.menu !== "open") return;
      showMenu(false);
      menuButton.focus();
    });
    // What a link leads to may stand on this page, behind the menu.
    navigation.addEventListener("click", function (event) {
      if (event.target.closest("a")) showMenu(false);
    });
    // Focus that leaves the open menu would be behind it.
    navigation.addEventListener("focusout", function (event) {
      var next = event.relatedTarget;
      if (next && next !== menuButton && !navigation.contains(next)) showMenu(false);
    });
  }

  // ---- contents of the page, folded on narrow screens, and versions: gone once used ----
  function eachUnfolded(act) {
    document.querySelectorAll(":is(.rg-toc-folded, .rg-versions)[open]").forEach(act);
  }

  document.addEventListener("click", function (event) {
    eachUnfolded(function (box) {
      if (event.target.closest("a") || !box.contains(event.target)) box.open = false;
    });
  });
  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape") return;
    eachUnfolded(function (box) {
      if (box.contains(document.activeElement)) box.querySelector("summary").focus();
      box.open = false;
    });
  });

  // ---- boxes that scroll: reachable by keyboard, and tables keep their role ----
  document.querySelectorAll(".rg-prose table:not([class])").forEach(function (table) {
    if (table.closest(".rg-scroll")) return;
    var box = document.createElement("div");
    box.className = "rg-scroll";
    table.replaceWith(box);
    box.append(table);
  });

  function markScrollers() {
    document.querySelectorAll(".rg-prose .rg-scroll, .rg-prose pre, .tabbed-labels").forEach(function (box) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  }

  markScrollers();
  window.addEventListener("resize", markScrollers);
  window.addEventListener("load", markScrollers);

  // ---- code: a button copies it; where the clipboard is closed, what it was made of is selected ----
  function copyCode(code, tell) {
    var selection = window.getSelection();
    function copySelected() {
      selection.selectAllChildren(code);
      tell(document.execCommand("copy") ? "Copied" : "Press Ctrl+C or \u2318C");
    }
    if (!navigator.clipboard) return copySelected();
    navigator.clipboard.writeText(code.textContent).then(function () {
      tell("Copied");
    }, copySelected);
  }

  document.querySelectorAll(".rg-prose pre:has(> code)").forEach(function (block) {
    var box = document.createElement("div");
    box.className = "rg-code";
    block.before(box);
    var button = document.createElement("button");
    button.type = "button";
    button.className = "rg-copy-code";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    var said = document.createElement("span");
    said.className = "rg-unseen";
    said.setAttribute("role", "status");
    button.addEventListener("click", function () {
      copyCode(block.querySelector("code"), function (words) {
        button.textContent = said.textContent = words;
        setTimeout(function () {
          button.textContent = "Copy";
          said.textContent = "";
        }, 1600);
      });
    });
    box.append(block, button, said);
  });

  // ---- task lists: the box says what it means ----
  document.querySelectorAll(".task-list-item input").forEach(function (box) {
    box.setAttribute("aria-label", box.checked ? "Done" : "To do");
  });

  // ---- versions: the list of what is published together, and the menu that reads it, in this order ----
  var site = here && new URL("../", here);
  var isPart = site && /\/(?:v\/[^/]+|pr\/[0-9]+)\/$/.test(site.pathname);
  if (isPart || (site && document.querySelector('meta[name="reportgen-versions"]'))) {
    [(isPart ? "../../" : "") + "versions.js", "js/version_menu.js"].forEach(function (path) {
      var script = document.createElement("script");
      script.src = new URL(path, site).href;
      script.async = false;
      document.head.append(script);
    });
  }

  // ---- a page opened from a disk: folders have no index there ----
  if (window.location.protocol === "file:") {
    document.querySelectorAll("a[href]").forEach(function (link) {
      if (link.protocol === "file:" && link.pathname.endsWith("/")) link.pathname += "index.html";
    });
  }

  // ---- the current section in the contents ----
  var contents = document.querySelector(".rg-toc-aside");
  var sections = new Map(); // targets in the order of the page, with their links
  (contents ? contents.querySelectorAll("a[href*='#']") : []).forEach(function (link) {
    var target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (target) sections.set(target, link);
  });
  var current = null;

  function markSection() {
    var found = null;
    sections.forEach(function (link, target) {
      if (target.getBoundingClientRect().top < window.innerHeight * 0.3) found = link;
    });
    if (found === current) return;
    if (current) current.removeAttribute("aria-current");
    if (found) {
      found.setAttribute("aria-current", "location");
      contents.scrollTop = found.offsetTop - contents.clientHeight / 2;
    }
    current = found;
  }

  if (sections.size && "IntersectionObserver" in window) {
    // All above counts as seen: a jump to the end passes many headings at once.
    var passing = new IntersectionObserver(markSection, { rootMargin: "1000000px 0px -70% 0px" });
    sections.forEach(function (link, target) {
      passing.observe(target);
    });
  }
})();

// The theme switch, the menu of narrow screens, boxes that scroll, and pages opened from a disk.
(function () {
  "use strict";
  var root = document.documentElement;

  // ---- theme ----
  var themes = { auto: "as the system", light: "light", dark: "dark" };
  var order = Object.keys(themes);
  var themeButton = document.querySelector(".rg-theme-button");

  function nextTheme() {
    return order[(order.indexOf(root.dataset.theme) + 1) % order.length];
  }

  function nameTheme() {
    var text = "Colours: " + themes[root.dataset.theme] + ". Change to " + themes[nextTheme()];
    themeButton.title = text;
    themeButton.setAttribute("aria-label", text);
  }

  if (themeButton) {
    nameTheme();
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

  // ---- contents of the page, folded on narrow screens: gone once used ----
  var contents = document.querySelector(".rg-toc-folded");
  document.addEventListener("click", function (event) {
    if (!contents || !contents.open) return;
    if (event.target.closest("a") || !contents.contains(event.target)) contents.open = false;
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape" && contents) contents.open = false;
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

  // ---- task lists: the box says what it means ----
  document.querySelectorAll(".task-list-item input").forEach(function (box) {
    box.setAttribute("aria-label", box.checked ? "Done" : "To do");
  });

  // ---- a page opened from a disk: folders have no index there ----
  if (window.location.protocol === "file:") {
    document.querySelectorAll("a[href]").forEach(function (link) {
      if (link.protocol === "file:" && link.pathname.endsWith("/")) link.pathname += "index.html";
    });
  }
})();

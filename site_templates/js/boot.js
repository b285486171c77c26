// Runs before the first paint: the theme that the reader chose, a mark that scripts work, and an early
// request for the font of the text. (From a disk a browser refuses to preload a font, and says so.)
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  try {
    var chosen = window.localStorage.getItem("reportgen-theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  } catch (error) {
    // Storage is refused: the system's theme it is.
  }
  // By its name, an image or a form takes the place of what scripts read of the document, such as its
  // currentScript. Scripts behind the page call this first; in the head, nothing of a page is there yet.
  window.reportgenFreeDocument = function () {
    var named = "embed, form, iframe, img, object";
    Document.prototype.querySelectorAll.call(document, named).forEach(function (element) {
      ["id", "name"].forEach(function (attribute) { // of a form, even these methods may be fields
        var name = Element.prototype.getAttribute.call(element, attribute);
        if (name in Document.prototype) Element.prototype.removeAttribute.call(element, attribute);
      });
    });
  };
  // Where the page holds this script itself, it says where the others stand, unless it holds all of them.
  var here = document.currentScript.src || document.currentScript.dataset.js;
  if (window.location.protocol === "file:" || !here) return;
  var font = document.createElement("link");
  font.rel = "preload";
  font.as = "font";
  font.type = "font/woff2";
  font.crossOrigin = "anonymous";
  font.href = new URL("../fonts/reportgen-sans-400.woff2", new URL(here, document.baseURI)).href;
  document.head.append(font);
})();

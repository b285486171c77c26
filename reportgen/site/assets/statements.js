/* On hover, focus or tap of a checked statement, a popover says what the list at the page's end says, word for
   word. Without this script the words are links to that list. */
(function () {
  "use strict";

  const GAP = 8;
  const EDGE = 12;
  const LEAVE = 200;

  const popover = document.createElement("div");
  popover.className = "rg-popover";
  popover.hidden = true;
  const words = document.createElement("div");
  words.id = "rg-told";
  words.setAttribute("role", "tooltip");
  const ways = document.createElement("p");
  ways.className = "rg-about";
  popover.append(words, ways);
  document.body.append(popover);

  let told = null;
  let leaving = 0;
  let touched = false;

  // The button at the badge switches a mode in which bound words are marked and reached with the Tab key.
  const mode = document.querySelector(".rg-show-checked");
  if (mode) mode.disabled = false;
  mode?.addEventListener("click", () => {
    const on = document.documentElement.classList.toggle("rg-shows-checked");
    mode.setAttribute("aria-pressed", on);
    for (const bound of document.querySelectorAll("a.rg-bound")) bound.tabIndex = on ? 0 : -1;
  });

  const boundAt = (target) => (target instanceof Element ? target.closest(".rg-bound") : null);

  /** The row of the list that is about some bound words. */
  function rowOf(bound) {
    const name = bound.dataset.checked ?? bound.getAttribute("href")?.slice(1);
    // Not by the id alone, which a heading may have, too.
    return name ? document.querySelector(`.rg-checked [id="${CSS.escape(name)}"]`) : null;
  }

  /** Beside the words, below them where that fits, never outside the window. */
  function place(bound) {
    const lines = [...bound.getClientRects()];
    if (!lines.length) return;
    const box = popover.getBoundingClientRect();
    const [first, last] = [lines[0], lines[lines.length - 1]];
    const width = document.documentElement.clientWidth;
    const below = last.bottom + GAP;
    const fits = below + box.height + EDGE <= window.innerHeight || first.top - GAP - box.height < EDGE;
    const line = fits ? last : first;
    const left = Math.max(EDGE, Math.min(line.left, width - EDGE - box.width));
    const top = fits ? below : first.top - GAP - box.height;
    // The body need not begin at the window's corner.
    const origin = popover.offsetParent?.getBoundingClientRect() ?? { left: -scrollX, top: -scrollY };
    const from = popover.offsetParent === document.body && getComputedStyle(document.body).position === "static";
    const base = from ? { left: -scrollX, top: -scrollY } : origin;
    popover.style.left = `${Math.round(left - base.left)}px`;
    popover.style.top = `${Math.round(top - base.top)}px`;
  }

  function tell(bound) {
    clearTimeout(leaving);
    if (told === bound) return;
    hide();
    const says = rowOf(bound)?.querySelector(".rg-says");
    if (!says) return;
    const copy = says.cloneNode(true);
    const about = copy.querySelector(".rg-about");
    about?.remove();
    words.replaceChildren(...copy.childNodes);
    ways.replaceChildren(...(about?.childNodes ?? []));
    popover.classList.toggle("rg-told-fails", bound.classList.contains("rg-fails"));
    popover.hidden = false;
    popover.style.left = popover.style.top = "0";
    place(bound);
    bound.classList.add("rg-told");
    bound.setAttribute("aria-describedby", words.id);
    told = bound;
  }

  function hide() {
    clearTimeout(leaving);
    if (!told) return;
    told.classList.remove("rg-told");
    told.removeAttribute("aria-describedby");
    told = null;
    popover.hidden = true;
  }

  /** There is time to move onto the popover, to its link. */
  function leave() {
    clearTimeout(leaving);
    leaving = setTimeout(hide, LEAVE);
  }

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const bound = boundAt(event.target);
    if (bound) tell(bound);
    else if (popover.contains(event.target)) clearTimeout(leaving);
    else if (told && document.activeElement !== told) leave();
  });
  document.addEventListener("focusin", (event) => {
    const bound = boundAt(event.target);
    if (bound && !touched) tell(bound);
    else if (!popover.contains(event.target)) hide();
  });
  document.addEventListener("focusout", (event) => {
    if (event.target === told && !popover.contains(event.relatedTarget)) hide();
  });
  document.addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch";
    if (!popover.contains(event.target) && boundAt(event.target) !== told) hide();
  });
  // A first tap tells, a second one follows the link to the list.
  document.addEventListener("click", (event) => {
    const bound = boundAt(event.target);
    if (popover.contains(event.target) && event.target.closest("a")) hide();
    if (!bound || !touched || bound.closest("a:not(.rg-bound)")) return;
    if (told === bound) {
      hide();
      return;
    }
    event.preventDefault();
    tell(bound);
  });
  document.addEventListener("keydown", (event) => {
    touched = false;
    if (event.key === "Escape") hide();
  });
  window.addEventListener("resize", hide);
  window.addEventListener("beforeprint", hide);
})();

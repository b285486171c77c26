/* Zooming a plot: by a drag, with Shift by a box, by two fingers and by keys. */
(function (live) {
  "use strict";

  const { make } = live;
  const DRAG = 5; // pixels before a press becomes a drag
  const NARROWEST = 0.01; // of an axis, that can be shown alone
  const WIDTHS = { "+": 0.5, "=": 0.5, "-": 2, "_": 2 };
  const HEIGHTS = { ArrowUp: 0.5, ArrowDown: 2 }; // with Shift

  /** Stand an element at a place of its box, without a style attribute. */
  function put(element, x, y) {
    element.style.transform = `translate(${x}px, ${y}px)`;
  }

  /** Where a pointer stands in a plot, in pixels. */
  function locate({ surface }, event) {
    const { left, top, width } = surface.getBoundingClientRect();
    return { x: Math.min(width, Math.max(0, event.clientX - left)), y: event.clientY - top };
  }

  /** The part of an axis, in fractions of it, to show so that two places on it come to stand at two others. */
  function stretched([a, b], [at, to]) {
    const scale = (b - a) / (to - at || 1e-9);
    return [a - at * scale, a + (1 - at) * scale];
  }

  function apart(a, b) {
    return Math.hypot(a.x - b.x, a.y - b.y);
  }

  class Zoomer {
    constructor(plot, pointer) {
      this.plot = plot;
      this.pointer = pointer;
      this.fingers = new Map(); // where each finger on the plot is
      this.brush = make("div", "rg-brush");
      this.brush.hidden = true;
      plot.surface.append(this.brush);
      this.listen();
    }

    listen() {
      const { surface } = this.plot;
      const on = (type, act, options) => surface.addEventListener(type, act, options);
      on("pointerdown", (event) => this.pressed(event));
      on("pointerup", (event) => this.released(event));
      on("pointercancel", ({ pointerId }) => {
        this.fingers.delete(pointerId);
        this.stopDrag();
      });
      // Two fingers zoom the plot, not the page.
      on("touchmove", (event) => event.touches.length > 1 && event.preventDefault(), { passive: false });
    }

    // ---- a drag ------------------------------------------------------------------------------------

    pressed(event) {
      this.pressedAt = event.button === 0 && this.fingers.size === 0 ? locate(this.plot, event) : null;
      if (event.pointerType === "touch") {
        this.fingers.set(event.pointerId, locate(this.plot, event));
        if (this.fingers.size > 1) this.grip();
      } else if (event.button === 0) {
        this.from = { ...locate(this.plot, event), box: event.shiftKey };
        this.plot.surface.setPointerCapture(event.pointerId);
      }
    }

    /** Take what a pointer did for zooming; whether there is nothing to read for it. */
    moved(event) {
      const { from } = this;
      if (this.fingers.size > 1) {
        this.pinch(event);
        return true;
      }
      const place = locate(this.plot, event);
      if (from && Math.abs(place.x - from.x) > DRAG) this.stretch(place);
      return false;
    }

    /** Draw what a drag spans: all of y, or with Shift a box. */
    stretch({ x, y }) {
      const { from, plot } = this;
      this.to = { x, y: Math.min(plot.room.height, Math.max(0, y)) };
      plot.surface.classList.add("rg-dragged");
      this.brush.hidden = false;
      this.brush.style.width = `${Math.abs(x - from.x)}px`;
      this.brush.style.height = from.box ? `${Math.abs(this.to.y - from.y)}px` : "";
      put(this.brush, Math.min(x, from.x), from.box ? Math.min(this.to.y, from.y) : 0);
    }

    released(event) {
      const { from, to, plot } = this;
      const still = this.pressedAt && !to && apart(this.pressedAt, locate(plot, event)) <= DRAG;
      const several = this.fingers.size > 1;
      this.fingers.delete(event.pointerId);
      this.stopDrag();
      if (still && !several && !event.shiftKey) this.pointer.clicked(event);
      if (!to) return;
      const { width, height } = plot.room;
      const ends = [from.x, to.x].sort((a, b) => a - b);
      const domain = ends.map((pixel) => live.valueOf(plot.x, pixel / width));
      const sides = [from.y, to.y].sort((a, b) => b - a);
      if (!from.box || sides[0] - sides[1] <= DRAG) return plot.group.zoom(domain);
      plot.group.zoom(domain, plot, sides.map((pixel) => live.valueOf(plot.y, 1 - pixel / height)));
    }

    stopDrag() {
      this.plot.surface.classList.remove("rg-dragged");
      this.brush.hidden = true;
      this.from = this.to = undefined;
    }

    // ---- two fingers -------------------------------------------------------------------------------

    /** Where two fingers are put down, and what the plot shows then: they hold these places. */
    grip() {
      const { plot } = this;
      this.pointer.pointAll(null);
      this.held = { x: plot.x, y: plot.y, points: [...this.fingers.values()].slice(0, 2) };
    }

    /** Stretch the axes so that what was under the fingers stays there: x, or y where they stand one above the other. */
    pinch(event) {
      const { plot, held } = this;
      this.fingers.set(event.pointerId, locate(this.plot, event));
      const now = [...this.fingers.values()].slice(0, 2);
      const [first, second] = held.points;
      const tall = Math.abs(first.y - second.y) > Math.abs(first.x - second.x);
      const { width, height } = plot.room;
      const part = tall ? ({ y }) => 1 - y / height : ({ x }) => x / width;
      const axis = tall ? held.y : held.x;
      const [from, to] = stretched(held.points.map(part), now.map(part));
      cancelAnimationFrame(this.pointer.frame);
      this.pointer.frame = requestAnimationFrame(() => {
        if (tall) this.zoomY(axis, from, to);
        else this.zoomX(axis, from, to);
      });
    }

    /** Show the part of an x axis from one of its fractions to another; no more than there is. */
    zoomX(axis, from, to) {
      const { plot } = this;
      const whole = plot.payload.x;
      const ends = [from, to].map((part) => live.fraction(whole, live.valueOf(axis, part)));
      const [low, high] = [Math.max(0, ends[0]), Math.min(1, ends[1])];
      if (high - low < NARROWEST) return;
      const all = high - low > 1 - 1e-9;
      plot.group.zoom(all ? null : [low, high].map((part) => live.valueOf(whole, part)));
    }

    zoomY(axis, from, to) {
      const { plot } = this;
      const span = [from, to].map((part) => live.valueOf(axis, part));
      if (to - from > NARROWEST) plot.group.zoom(plot.x.domain, plot, span);
    }

    // ---- keys --------------------------------------------------------------------------------------

    /** Whether a key zooms. */
    key(event) {
      const high = event.shiftKey && HEIGHTS[event.key];
      if (high) this.zoomHeight(high);
      else if (WIDTHS[event.key]) this.zoomWidth(WIDTHS[event.key]);
      else return false;
      return true;
    }

    /** Show a part of the axis that is ``factor`` times as wide, around the step; at an end it is moved inside. */
    zoomWidth(factor) {
      const { plot } = this;
      const whole = plot.payload.x;
      const centre = live.fraction(whole, this.pointer.step ?? live.valueOf(plot.x, 0.5));
      const [from, to] = plot.x.domain.map((end) => live.fraction(whole, end));
      const wide = Math.min(1, Math.max(NARROWEST, (to - from) * factor));
      const start = Math.max(0, Math.min(centre - wide / 2, 1 - wide));
      const all = wide > 1 - 1e-9;
      plot.group.zoom(all ? null : [start, start + wide].map((end) => live.valueOf(whole, end)));
    }

    /** Show a part of the y axis that is ``factor`` times as high, around what is read out. */
    zoomHeight(factor) {
      const { plot } = this;
      const readings = this.pointer.step === null ? [] : plot.data.readings(plot.visible, this.pointer.step);
      const read = readings.find(({ one, value }) => value !== null && !one.right && one === (this.pointer.spoken ?? one));
      const centre = read ? live.fraction(plot.y, read.value) : 0.5;
      this.zoomY(plot.y, centre - factor * centre, centre + factor * (1 - centre));
    }
  }

  Object.assign(live, { Zoomer, locate, put });
})(window.reportgenLive);

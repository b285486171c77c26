/* A figure's payload as columns and rows, and where values stand on axes. No document, no Vega view.
   reportgen/figures/live.py writes the payload. */
(function (live) {
  "use strict";

  const LETTER = 6.5; // pixels, on average, of a letter beside a mark
  const WIDE = 20; // factor between values from which a log axis shows more
  const ROW = 15; // pixels between two lines of words

  /** Every x of a column: listed or packed, or given by start, distance and count. */
  function column(x) {
    if (Array.isArray(x)) return valuesOf(x);
    // Without the last digit, in which sums of floats differ: 0.1 + 2 * 0.1 is 0.3.
    return Array.from({ length: x.count }, (_, i) => Number((x.from + i * x.by).toPrecision(15)));
  }

  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

  const view = new DataView(new ArrayBuffer(8));

  /** The double whose upper 32 bits are this number, with its sign. */
  function doubleOf(number) {
    view.setUint32(0, Math.abs(number));
    return Math.sign(number) * view.getFloat64(0);
  }

  /** The values of a column that payload.py lists, or packs as first number and differences; null at a gap. */
  function valuesOf(column) {
    const [decimals, first, digits] = column;
    if (typeof digits !== "string") return column;
    const planes = digits.split(" ");
    const read = (whole) => (decimals === null ? doubleOf(whole) : whole / 10 ** decimals);
    let whole = first;
    return Array.from(planes[0], (_, i) => {
      const next = planes.reduceRight((number, plane) => number * 64 + DIGITS.indexOf(plane[i]), 0);
      if (next === 0) return null;
      whole += next % 2 ? (next - 1) / 2 : 1 - next / 2;
      return read(whole);
    });
  }

  /** Mean of runs, and an interval of ``spread`` standard deviations where they differ. */
  function summaryOf(runs, spread) {
    const made = { y: [], low: [], high: [] };
    runs[0].values.forEach((_, i) => {
      const values = runs.map((run) => run.values[i]);
      const mean = values.reduce((a, b) => a + b) / values.length;
      const apart = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
      const half = values.every((value) => value === values[0]) ? null : spread * Math.sqrt(apart);
      made.y.push(mean);
      made.low.push(half === null ? null : mean - half);
      made.high.push(half === null ? null : mean + half);
    });
    return made;
  }

  /** Columns y, low, high and raw of a series. */
  function columnsOf({ spread, ...given }, runs) {
    const named = ["y", "low", "high", "raw"].filter((name) => given[name]);
    const made = Object.fromEntries(named.map((name) => [name, valuesOf(given[name])]));
    return spread === undefined ? made : { ...made, ...summaryOf(runs, spread) };
  }

  /** The palette slot, from 0, of a colour like var(--rg-series-1); "muted" for the grey. */
  function slotOf(colour) {
    const [name] = colour.match(/\d+|muted/);
    return name === "muted" ? name : Number(name) - 1;
  }

  class Data {
    constructor(payload) {
      const columns = payload.xs.map(column);
      const indexes = columns.map((steps) => new Map(steps.map((step, i) => [step, i])));
      const runOf = ({ name, seed, x, y }) => ({ name, seed, steps: columns[x], values: valuesOf(y) });
      const seriesOf = (given, number, runs) => ({
        ...given,
        ...columnsOf(given, runs),
        key: String(number),
        label: given.right ? `${given.name} (right)` : given.name, // as ON_THE_RIGHT in plot.py
        slot: slotOf(given.colour),
        steps: columns[given.x],
        at: indexes[given.x],
        runs,
      });
      this.series = payload.series.map((given, i) => seriesOf(given, i, (given.runs ?? []).map(runOf)));
      this.comparable = payload.differences; // whether all series are of one metric
      this.leader = payload.strip; // the name of the one from which another is subtracted, where that is known
      this.bounds = payload.bounds ?? [null, null]; // the smallest and largest possible value
      this.quantiles = payload.quantiles; // of Student's t by 1 / df, if bands are its intervals over runs
      this.hasRuns = this.series.some((one) => one.runs.length);
      this.hasBand = this.series.some((one) => one.low);
      const shown = ({ y, raw, runs }) => [...y, ...(raw ?? []), ...runs.flatMap((run) => run.values)];
      const left = this.series.filter((one) => !one.right); // the right axis is never logarithmic
      this.values = left.flatMap(shown).filter((value) => value !== null);
      const [least, most] = [Math.min, Math.max].map((pick) => this.values.reduce((a, b) => pick(a, b), this.values[0]));
      this.positive = least > 0;
      this.wide = least > 0 && most / least >= WIDE;
    }

    /** Grey series first: later ones are drawn above them. */
    get backToFront() {
      return [...this.series.filter((one) => one.muted), ...this.series.filter((one) => !one.muted)];
    }

    /** Rows of the view's data sets; values that a log axis cannot hold end at ``floor``. */
    means(band, floor) {
      const held = (one, value) =>
        band && value != null ? Math.max(value, one.right ? -Infinity : floor) : null;
      return this.backToFront.flatMap((one) =>
        one.steps.map((step, i) => ({
          ...keys(one),
          step,
          value: one.y[i],
          low: held(one, one.low?.[i]),
          high: held(one, one.high?.[i]),
        })),
      );
    }

    /** Points of single runs; ``shown`` are the runs of a series to draw. */
    runPoints(shown) {
      const pointsOf = ({ name, steps, values }) => steps.map((step, i) => ({ step, value: values[i], run: name }));
      return this.backToFront.flatMap((one) =>
        shown(one).flatMap((run) => pointsOf(run).map((row) => ({ ...row, ...keys(one) }))),
      );
    }

    /** Rising steps at which one of these series has a value. */
    stepsOf(series) {
      const steps = new Set();
      for (const one of series) one.steps.forEach((step, i) => one.y[i] !== null && steps.add(step));
      return [...steps].sort((a, b) => a - b);
    }

    /** What these series say at a step, largest value first, those of the right axis behind the others, which
        they are not compared with; those without a value there come last. */
    readings(series, step) {
      const rows = series.map((one) => {
        const i = one.at.get(step);
        const value = i === undefined ? null : one.y[i];
        if (value === null) return { one, value };
        const [low, high, raw] = [one.low, one.high, one.raw].map((part) => part?.[i] ?? null);
        return { one, value, low, high, raw, n: Array.isArray(one.n) ? one.n[i] : one.n };
      });
      const side = ({ one }) => Number(Boolean(one.right));
      const missing = ({ value }) => Number(value === null);
      return rows.sort((a, b) => missing(a) - missing(b) || side(a) - side(b) || b.value - a.value);
    }

    /** Runs of a series that have a value at a step, largest first. */
    runsAt(one, step) {
      const found = one.runs.map(({ name, seed, steps, values }) => {
        return { one, name, seed, value: values[steps.indexOf(step)] ?? null };
      });
      return found.filter(({ value }) => value !== null).sort((a, b) => b.value - a.value);
    }

    /** The quantile of Student's t: the polynomial of 1 / df through those known. */
    quantile(df) {
      const weigh = (x) => this.quantiles.reduce((part, [y]) => (y === x ? part : (part * (1 / df - y)) / (x - y)), 1);
      return this.quantiles.reduce((sum, [x, t]) => sum + t * weigh(x), 0);
    }

    /** Half of the t interval of a mean before its ends were moved to stay in a range, as bounded.py does. */
    halfWidth({ value, low, high }) {
      const [least, most] = this.bounds;
      if (least === null && most === null) return (high - low) / 2;
      if (most === null) return (value - least) * Math.log((high - least) / (value - least));
      if (least === null) return (most - value) * Math.log((most - low) / (most - value));
      const logit = (one) => Math.log((one - least) / (most - one));
      const share = (value - least) / (most - least);
      // The end that is further from the range's.
      const moved = share > 0.5 ? logit(value) - logit(low) : logit(high) - logit(value);
      return moved * share * (1 - share) * (most - least);
    }

    /** The leader, or the first of two series, minus the other at a step, with Welch's interval as in compare_curves; null for other
        numbers of series. Runs that are all equal have no band, and no spread. */
    difference(two, step) {
      if (two.length !== 2 || !this.comparable) return null;
      const series = this.order(two);
      const [a, b] = series.map((one) => this.readings([one], step)[0]);
      if (a.value === null || b.value === null) return null;
      const value = a.value - b.value;
      const known = this.quantiles && Math.min(a.n, b.n) > 1;
      const errorOf = (one) => (known && one.low !== null ? this.halfWidth(one) / this.quantile(one.n - 1) : 0);
      const stderr = Math.hypot(errorOf(a), errorOf(b));
      if (!stderr) return { series, value, low: null, high: null };
      const df = 1 / [a, b].reduce((sum, one) => sum + (errorOf(one) / stderr) ** 4 / (one.n - 1), 0);
      const half = this.quantile(df) * stderr;
      return { series, value, low: value - half, high: value + half };
    }

    /** Two series, the leader first. */
    order([a, b]) {
      return b.name === this.leader ? [b, a] : [a, b];
    }

    /** How far a series has moved at a step from its value at another one; null where one of them is unknown. */
    change(one, step, from) {
      const [now, before] = [step, from].map((place) => this.readings([one], place)[0].value);
      return now === null || before === null ? null : now - before;
    }

    /** Values of a series, and of some of its runs, on a part of the x axis, with those between steps at both ends. */
    valuesInside(one, axis, band, runs) {
      const [low, high] = axis.domain;
      const means = [one.y, ...(band && one.low ? [one.low, one.high] : [])].map((y) => ({ steps: one.steps, y }));
      const lines = [...means, ...runs.map(({ steps, values }) => ({ steps, y: values }))];
      const reaches = ({ steps, y }) => steps.findLast((_, i) => y[i] !== null) >= low;
      return lines.filter(reaches).flatMap((line) => {
        const inside = line.y.filter((_, i) => line.steps[i] >= low && line.steps[i] <= high);
        const ends = axis.domain.map((step) => this.valueAt(line, step, axis));
        return [...inside, ...ends].filter((value) => value !== null);
      });
    }

    /** A series' value at ``step``: its own, the one between its neighbours, or null outside its range. */
    valueAt(one, step, axis) {
      let before = null;
      for (let i = 0; i < one.steps.length; i++) {
        if (one.y[i] === null) continue;
        if (one.steps[i] >= step) {
          if (one.steps[i] === step) return one.y[i];
          if (before === null) return null;
          const [from, to] = [before, i].map((j) => fraction(axis, one.steps[j]));
          const part = (fraction(axis, step) - from) / (to - from);
          return one.y[before] + part * (one.y[i] - one.y[before]);
        }
        before = i;
      }
      return before === null ? null : one.y[before];
    }
  }

  /** What says whose a row is, on which axis, and by which part of the width its mark is moved. */
  function keys({ key, right, shift, bars }) {
    return { series: key, right, shift, bars };
  }

  /** Scales on which equal factors are equally far apart. */
  function isLog(scale) {
    return scale === "log" || scale === "log2";
  }

  /** Where a value stands on an axis: 0 at the start of its domain, 1 at the end. */
  function fraction({ scale, domain: [low, high] }, value) {
    if (!isLog(scale)) return (value - low) / (high - low);
    return Math.log(value / low) / Math.log(high / low);
  }

  /** The value that stands at a fraction of an axis. */
  function valueOf({ scale, domain: [low, high] }, part) {
    return isLog(scale) ? low * (high / low) ** part : low + part * (high - low);
  }

  /** The index of the value nearest to ``part`` of the axis; ``values`` rise and are not empty. */
  function nearest(axis, values, part) {
    let best = 0;
    let distance = Infinity;
    values.forEach((value, i) => {
      const away = Math.abs(fraction(axis, value) - part);
      if (away < distance) [best, distance] = [i, away];
    });
    return best;
  }

  /** Points of a line in a room as words of a path; null where a value is missing or cannot be on an axis. */
  function placeLine(steps, values, x, y, { width, height, shift = 0 }) {
    return values.map((value, i) => {
      const [across, up] = [fraction(x, steps[i]), value === null ? NaN : fraction(y, value)];
      const known = Number.isFinite(across) && Number.isFinite(up);
      return known ? `${((across + shift) * width).toFixed(2)},${((1 - up) * height).toFixed(2)}` : null;
    });
  }

  /** The path of a line, with a gap where a point is missing. */
  function tracePath(steps, values, x, y, room) {
    let [path, pen] = ["", "M"];
    for (const point of placeLine(steps, values, x, y, room)) {
      if (point !== null) path += pen + point;
      pen = point === null ? "M" : "L";
    }
    return path;
  }

  /** The path of a band: the upper edge and the lower one backwards, with a gap where either is missing. */
  function traceBand(steps, low, high, x, y, room) {
    const [lower, upper] = [low, high].map((values) => placeLine(steps, values, x, y, room));
    let path = "";
    for (let i = 0; i < steps.length; i++) {
      const start = i;
      while (i < steps.length && lower[i] !== null && upper[i] !== null) i++;
      if (i === start) continue;
      path += `M${[...upper.slice(start, i), ...lower.slice(start, i).reverse()].join("L")}Z`;
    }
    return path;
  }

  /** Ticks of a log axis as axis.py chooses them: powers of ten, with 2 and 5 on a short range. */
  function logTicks([low, high]) {
    const first = Math.floor(Math.log10(low));
    const last = Math.ceil(Math.log10(high));
    const heads = last - first <= 2 ? [1, 2, 5] : [1];
    const ticks = [];
    for (let power = first; power <= last; power += Math.max(1, Math.ceil((last - first) / 6))) {
      for (const head of heads) ticks.push(Number(`${head}e${power}`));
    }
    return ticks.filter((tick) => tick >= low && tick <= high);
  }

  /** Ticks of an axis of counts as axis.py chooses them: powers of two, otherwise whole numbers. */
  function log2Ticks([low, high], count) {
    const first = Math.ceil(Math.log2(Math.max(1, low)) - 1e-9);
    const last = Math.floor(Math.log2(high) + 1e-9);
    const ticks = [];
    const stride = 1 + Math.floor(Math.max(0, last - first) / 12);
    for (let power = first; power <= last; power += stride) ticks.push(2 ** power);
    if (ticks.length > 2) return ticks;
    return vega.scale("linear")().domain([low, high]).ticks(count).filter(Number.isInteger);
  }

  /** Ticks and format of an axis whose domain the reader chose. */
  function freshTicks({ scale, domain, format }, count) {
    const percent = format?.endsWith("%") ? ",.6~%" : null;
    if (scale === "log2") return { ticks: log2Ticks(domain, count), format };
    if (scale === "log") {
      const ticks = logTicks(domain);
      const plain = domain[1] > 1e5 || domain[0] < 1e-3 ? "~e" : ",.6~f";
      if (ticks.length > 1) return { ticks, format: percent ?? plain };
    }
    const linear = vega.scale(scale === "time" ? "utc" : "linear")().domain(domain);
    let ticks = linear.ticks(count);
    // One tick is no axis.
    for (let more = count + 1; ticks.length < 2 && more < count + 8; more++) ticks = linear.ticks(more);
    const own = format?.startsWith("~") && scale !== "time" ? format : null;
    return { ticks: ticks.map(Number), format: percent ?? own };
  }

  /** Positions at least ``distance`` apart inside 0 to ``room``, moved as little as is simple. */
  function spread(wanted, distance, room) {
    const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b] || a - b);
    const placed = [];
    let edge = 0;
    for (const i of order) placed[i] = edge = Math.max(wanted[i], edge), (edge += distance);
    edge = room;
    for (const i of order.reverse()) placed[i] = edge = Math.min(placed[i], edge), (edge -= distance);
    return placed;
  }

  /** Whether a value stands on an axis, its ends counted in. */
  function within(axis, value) {
    const part = fraction(axis, value);
    return part > -1e-9 && part < 1 + 1e-9;
  }

  /** Rows of marks, without the words that would now lie on others: the places of label_places.py hold for
      any width, but not for another height or kind of y axis. */
  function withoutOverlap(rows, x, axisOf, { width, height }) {
    const taken = [];
    return rows.map((row) => {
      if (!row.align) return row;
      const wide = row.text.length * LETTER;
      const before = { left: 0, center: wide / 2, right: wide }[row.align];
      const left = fraction(x, row.step) * width + row.dx - before;
      const right = left + wide;
      const foot = (row.value === null ? 0 : (1 - fraction(axisOf(row), row.value)) * height) + row.dy;
      const near = taken.filter((one) => Math.abs(one.foot - foot) < ROW);
      if (near.some((one) => one.left < right && left < one.right)) {
        const { align, from, to, ...mark } = row;
        return mark;
      }
      taken.push({ left, right, foot });
      return row;
    });
  }

  /** A difference in words, with a plus where it is more than 0 as it is read. */
  function signed(value, words) {
    return value > 0 && /[1-9]/.test(words) ? `+${words}` : words;
  }

  /** Mantissa, as text, and exponent of a number above 0 that is rounded to significant digits. */
  function split(size, digits) {
    const [mantissa, exponent] = size.toExponential(digits - 1).split("e");
    return [mantissa, Number(exponent)];
  }

  /** The decimals of a value, as find_decimals in core/digits.py chooses them. */
  function decimalsOf(value, [usual, plain], half, percent, significant) {
    if (half > 0) {
      const [mantissa, exponent] = split(half, 2);
      const own = 1 - exponent;
      if (percent) return Math.max(usual, own - 1);
      const enough = own - Number(Number(mantissa) >= 3.55);
      return usual >= enough && usual <= own + 1 ? usual : own;
    }
    const size = Math.abs(value);
    const until = (edge, decimals) =>
      edge > 0 && edge < 10 ** -decimals / 2 ? Math.max(decimals, -split(edge, 1)[1]) : decimals;
    if (percent) return until(Math.min(size, Math.abs(100 - size)), usual);
    if (size === 0) return plain <= 4 ? plain : 0;
    const [mantissa, exponent] = split(size, significant);
    const needed = mantissa.replace(/\.?0+$/, "").replace(".", "").length - 1 - exponent;
    const own = significant - 1 - exponent;
    return until(1 - size, Math.max(needed, usual <= own + 1 ? usual : plain));
  }

  /** A function that turns values of this axis into words. One of a measured value takes the ``half`` width of its
      interval, too, and the digits that it has ``like`` another value, as the ends of an interval have. */
  function reader({ scale, read, decimals: precision, format }) {
    const locale = vega.defaultLocale();
    if (precision === undefined) return scale === "time" ? locale.utcFormat(read) : locale.format(read);
    const percent = format.endsWith("%");
    const factor = percent ? 100 : 1;
    return (value, { half = null, like = value, significant = 3 } = {}) => {
      const decimals = decimalsOf(like * factor, precision, half * factor, percent, significant);
      const largest = Math.abs(like) + (half ?? 0);
      if (percent || (!(largest > 0 && largest < 1e-4) && largest < 1e15))
        return locale.format(`,.${Math.max(0, decimals)}${percent ? "%" : "f"}`)(value);
      const digits = value === 0 ? -1 : decimals + Math.floor(Math.log10(Math.abs(value)) + 1e-9);
      return digits < 0 ? "0" : locale.format(`.${digits}${half > 0 ? "" : "~"}e`)(value);
    };
  }

  /** A place on the x axis in words: "step 8", or "k = 8" where the title is a symbol. */
  function placeWords({ title, symbol }, words) {
    return symbol ? `${title} = ${words}` : `${title} ${words}`;
  }

  /** The same inside a sentence: the title's capital goes, unless it is a word of capitals. */
  function placeInSentence(axis, words) {
    const plain = /^.\p{Lowercase}/u.test(axis.title);
    const title = plain ? axis.title[0].toLowerCase() + axis.title.slice(1) : axis.title;
    return placeWords({ ...axis, title }, words);
  }

  const axes = { signed, fraction, valueOf, within, nearest, freshTicks, tracePath, traceBand, reader, placeWords, placeInSentence };
  /** A plot's data over one x, with its axes; ``names`` is the order of its series. */
  class Axes {
    constructor(payload, names) {
      payload.series.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
      this.payload = payload;
      this.readX = reader(payload.x);
      this.readY = reader(payload.y);
      this.readRight = payload.right && reader(payload.right);
    }

    get given() {
      return (this.unpacked ??= new Data(this.payload));
    }
  }

  Object.assign(live, { Axes, Data, ...axes, withoutOverlap, spread });
})(window.reportgenLive);

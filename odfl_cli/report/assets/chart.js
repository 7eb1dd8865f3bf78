"use strict";
// One panel of lines as SVG: axes, bands, marks, a cursor.

const MARGIN = { left: 62, right: 20, top: 26, bottom: 40 };
// As in the figures: the noise of the first rounds must not squash the rest.
const MEAN_FROM = 0.03, BAND_FROM = 0.25, NEAR = 1, PADDING = 0.05;
const MOST_BANDS = 3, BARS = 6;
let clips = 0;

/**
 * A panel. Lines have x, y, low and high (or null), look, name, isFloor, and bars or points if
 * they are no curves. Returns {svg, x, y, lines, box}.
 */
function panel({ title, xLabel, lines, width, height, xDomain, yDomain = null, logX, logY, marks = [], names = null, rows = null }) {
  const drawn = logY || logX ? lines.map((line) => positive(line, logX, logY)) : lines;
  const box = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  yDomain ??= logY ? logLimits(drawn, xDomain) : limits(drawn, xDomain);
  const x = scale(xDomain, [box.left, box.right], logX);
  const y = scale(yDomain, [box.bottom, box.top], logY);
  const clip = `clip-${clips++}`;
  const svg = svgEl("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart", role: "img", "aria-label": described(title, lines) },
    svgEl("clipPath", { id: clip }, svgEl("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top })),
    axes(box, x, y, xDomain, yDomain, logX, logY, title, xLabel, names, rows),
    svgEl("g", { "clip-path": `url(#${clip})` },
      marks.map((mark) => svgEl("line", { class: "mark", x1: x(mark), x2: x(mark), y1: box.top, y2: box.bottom })),
      spread(drawn.filter((line) => line.low && !line.isPoints), x, y),
      drawn.map((line, place) => (line.isPoints ? points(line, aside(x, place, drawn.length), y) : curve(line, x, y)))),
    svgEl("g", { class: "cursor" }));
  return { svg, x, y, lines, box };
}

/** Places beside those of other lines, so that bars at one x can be told apart. */
function aside(x, place, count) {
  return (at) => x(at) + Math.min(3, 16 / count) * (place - (count - 1) / 2);
}

function described(title, lines) {
  const last = lines.slice(0, 12).map((line) => `${line.name} ${shown(line.y[line.y.length - 1])}`);
  return `${title}; last values: ${last.join(", ")}`;
}

function axes(box, x, y, xDomain, yDomain, logX, logY, title, xLabel, names, rows) {
  const xs = names ? names.map((_, place) => place) : ticks(xDomain, (box.right - box.left) / 90, logX);
  const ys = rows ?? ticks(yDomain, (box.bottom - box.top) / 45, logY);
  return svgEl("g", { class: "axes" },
    ys.map((value) => svgEl("line", { class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value) })),
    ys.map((value) => svgEl("text", { x: box.left - 7, y: y(value) + 4, "text-anchor": "end" }, tickText(value))),
    xs.map((value) => svgEl("line", { class: "tick", x1: x(value), x2: x(value), y1: box.bottom, y2: box.bottom + 4 })),
    xs.map((value) => svgEl("text", { x: x(value), y: box.bottom + 17, "text-anchor": "middle" }, names ? names[value] : tickText(value))),
    svgEl("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
    svgEl("text", { class: "title", x: 4, y: 15 }, title),
    svgEl("text", { x: (box.left + box.right) / 2, y: box.bottom + 34, "text-anchor": "middle" }, xLabel));
}

function curve(line, x, y) {
  return svgEl("path", {
    class: "line", d: path(line.x, line.y, x, y), stroke: line.look.colour,
    "stroke-dasharray": line.look.dash || null, "stroke-width": line.thin ? 0.8 : line.look.width,
    "stroke-opacity": line.thin ? 0.55 : null,
  });
}

function path(xs, ys, x, y) {
  let d = "";
  for (let i = 0; i < xs.length; i++) d += `${d ? "L" : "M"}${x(xs[i]).toFixed(1)},${y(ys[i]).toFixed(1)}`;
  return d;
}

/** Bands, or a few bars along each curve where the colours of many bands would mix. */
function spread(lines, x, y) {
  return lines.map((line, place) => (lines.length <= MOST_BANDS ? band(line, x, y) : bars(line, place / lines.length, x, y)));
}

function bars(line, shift, x, y) {
  const last = line.x.length - 1;
  const places = Array.from({ length: BARS }, (_, i) => Math.min(last, Math.round(((i + 0.5 + 0.5 * shift) / BARS) * last)));
  return svgEl("g", { class: "bars" }, [...new Set(places)].map((i) => svgEl("line", {
    x1: x(line.x[i]), x2: x(line.x[i]), y1: y(line.low[i]), y2: y(line.high[i]), stroke: line.look.colour, "stroke-width": 1.2 })));
}

function band(line, x, y) {
  const back = Array.from(line.x, (_, i) => line.x.length - 1 - i);
  const d = path(line.x, line.high, x, y)
    + path(back.map((i) => line.x[i]), back.map((i) => line.low[i]), x, y).replace("M", "L");
  return svgEl("path", { class: "band", d: `${d}Z`, fill: line.look.colour });
}

/** Points with bars, joined if the axis counts. */
function points(line, x, y) {
  const bars = line.low ? Array.from(line.x, (value, i) => svgEl("line", {
    x1: x(value), x2: x(value), y1: y(line.low[i]), y2: y(line.high[i]), stroke: line.look.colour, "stroke-width": 1.2 })) : [];
  return svgEl("g", {}, line.isJoined ? curve(line, x, y) : null, bars,
    Array.from(line.x, (value, i) => svgEl("circle", { cx: x(value), cy: y(line.y[i]), r: 3.2, fill: line.look.colour })));
}

/** The parts of a line that a logarithmic axis can show. */
function positive(line, logX, logY) {
  const kept = Array.from(line.x, (_, i) => i).filter((i) => (!logX || line.x[i] > 0) && (!logY || line.y[i] > 0));
  const pick = (values) => values && kept.map((i) => values[i]);
  const low = pick(line.low);
  const y = pick(line.y);
  return { ...line, x: pick(line.x), y, high: pick(line.high), low: low && logY ? low.map((v, i) => (v > 0 ? v : y[i] / 10)) : low };
}

/** Limits that hold every learner after its first rounds, and every floor that is near. */
function limits(lines, [from, to]) {
  const learners = lines.filter((line) => !line.isFloor);
  const [low, high] = hull((learners.length ? learners : lines).map((line) => extent(line, from, to)));
  const height = high - low;
  const near = lines.map((line) => extent(line, from, to))
    .filter(([a, b]) => a >= low - NEAR * height && b <= high + NEAR * height);
  const [bottom, top] = hull([[low, high], ...near]);
  if (!Number.isFinite(bottom)) return [0, 1];
  const padding = PADDING * (top - bottom) || PADDING * Math.abs(top) || PADDING;
  return [bottom - padding, top + padding];
}

function extent(line, from, to) {
  let [low, high] = [Infinity, -Infinity];
  const end = line.x[line.x.length - 1];
  const isWhole = from <= line.x[0];
  for (let i = 0; i < line.x.length; i++) {
    if (line.x[i] < from || line.x[i] > to) continue;
    const share = line.isPoints || !isWhole ? 1 : line.x[i] / end;
    if (share < MEAN_FROM) continue;
    const hasBand = line.low && share >= BAND_FROM;
    low = Math.min(low, line.y[i], hasBand ? line.low[i] : Infinity);
    high = Math.max(high, line.y[i], hasBand ? line.high[i] : -Infinity);
  }
  return [low, high];
}

function logLimits(lines, [from, to]) {
  const seen = lines.flatMap((line) => Array.from(line.y).filter((_, i) => line.x[i] >= from && line.x[i] <= to));
  if (!seen.length) return [0.1, 1];
  const [low, high] = [Math.min(...seen), Math.max(...seen)];
  return [low / 1.2, high * 1.2];
}

function hull(extents) {
  return [Math.min(...extents.map(([low]) => low)), Math.max(...extents.map(([, high]) => high))];
}

const SINGLE_WIDTH = 760;

/** A panel that stands alone, with its legend. */
function singleFigure(svg, legend, name) {
  return el("figure", { class: "single" }, svg, el("figcaption", { class: "legend" },
    legend.map((line) => el("span", { class: "entry" }, sample(line.look), " ", line.name)),
    button("SVG", () => saveSvg(name, [svg], legend))));
}

/** A short piece of a line as it is drawn, for legends. */
function sample(look, isShown = true) {
  return svgEl("svg", { viewBox: "0 0 34 10", class: "sample", "aria-hidden": "true" },
    svgEl("line", { class: "line", x1: 1, x2: 33, y1: 5, y2: 5, stroke: look.colour, "stroke-width": 2,
      "stroke-dasharray": look.dash || null, "stroke-opacity": isShown ? 1 : 0.25 }));
}

"use strict";
// The page's content and what follows from it: curves, final values, paired gaps.

const page = { content: null, numbers: null, columns: new Map() };

/** Reads both data blocks of the page. */
async function load() {
  page.content = JSON.parse(new TextDecoder().decode(await unpacked("content")));
  const planes = await unpacked("numbers");
  const size = planes.length / 4;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < 4; plane++) {
    for (let i = 0; i < size; i++) bytes[4 * i + plane] = planes[plane * size + i];
  }
  page.numbers = new Float32Array(bytes.buffer);
  page.columns = namedColumns();
  page.content.groups.forEach((group, place) => { group.place = place; });
}

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Column → words, the averages of sums right before their sums. */
function namedColumns() {
  const names = new Map();
  for (const [name, { words, average }] of Object.entries(page.content.columns)) {
    if (average) names.set(`avg_${name}`, average);
    names.set(name, words);
  }
  return names;
}

/** A column of the files, and whether it is to be divided by the round. */
function origin(column) {
  const sum = column.replace(/^avg_/, "");
  const isAverage = sum !== column && page.content.columns[sum]?.average !== undefined;
  return isAverage ? [sum, true] : [column, false];
}

function slice([offset, length]) {
  return page.numbers.subarray(offset, offset + length);
}

/** {t, mean, low, high} of a group; null if it has no such column. */
function meanCurve(group, column) {
  const [name, isAverage] = origin(column);
  const packed = group.curves[name];
  if (!packed) return null;
  const t = slice(packed.t);
  const scaled = (values) => (isAverage ? values.map((value, i) => value / t[i]) : values);
  const mean = scaled(slice(packed.mean));
  if (!packed.ci95) return { t, mean, ci95: null };
  return { t, mean, ci95: scaled(slice(packed.ci95)) };
}

/** [{seed, t, mean}] of a group; empty where the page has no room for seeds. */
function seedCurves(group, column) {
  const [name, isAverage] = origin(column);
  const packed = group.curves[name];
  if (!packed?.seeds) return [];
  const t = slice(packed.seedT);
  return Object.entries(packed.seeds).map(([seed, place]) => {
    const values = slice(place);
    return { seed: Number(seed), t, mean: isAverage ? values.map((v, i) => v / t[i]) : values };
  });
}

/** Seed → value after the last round. */
function finals(group, column) {
  const [name, isAverage] = origin(column);
  const values = group.final[name] ?? [];
  return new Map(group.seeds
    .map((seed, i) => [seed, values[i]])
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([seed, value]) => [seed, isAverage ? value / group.rounds : value]));
}

/** Mean and half the 95% interval (null for one value) of numbers. */
function interval(values) {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return { n, mean, ci95: null };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  return { n, mean, ci95: page.content.quantiles[n] * Math.sqrt(variance / n) };
}

/** The interval of a group's final values; null for none. */
function finalInterval(group, column) {
  const values = [...finals(group, column).values()];
  return values.length ? interval(values) : null;
}

/** first − second over the seeds that both have; null for none. */
function pairedGap(first, second, column) {
  return gapBetween(finals(first, column), finals(second, column));
}

/** The same for values by seed. */
function gapBetween(ours, theirs) {
  const gaps = [...ours].filter(([seed]) => theirs.has(seed)).map(([seed, v]) => v - theirs.get(seed));
  return gaps.length ? interval(gaps) : null;
}

/** Whether an interval leaves out 0. */
function isDecided(gap) {
  return gap !== null && gap.ci95 !== null && Math.abs(gap.mean) > gap.ci95;
}

function groupsOf(comparison) {
  return page.content.groups.filter((group) => group.comparison === comparison);
}

/** The group of an algorithm in a comparison with the least mean of the column, and how many there are. */
function bestGroup(algorithm, comparison, column) {
  const all = groupsOf(comparison).filter((group) => group.algorithm === algorithm && finals(group, column).size);
  const mean = (group) => finalInterval(group, column).mean;
  const best = all.reduce((a, b) => (a === null || mean(b) < mean(a) ? b : a), null);
  return best && { group: best, tried: all.length };
}

/** Columns by which algorithms can be ranked: less is better. */
function rankingColumns() {
  const judged = /^(avg_(?!bound)|.*regret$|expected_cost$)/;
  return [...page.columns].filter(([name]) => judged.test(name));
}

"use strict";
// Final values against swept keys, a heatmap for two of them, and how much an algorithm's own keys matter.

const MOST_SWEEP_LINES = 40;

/** Keys that take two or more values among the groups of an experiment. */
function sweptKeys(groups) {
  const values = new Map();
  for (const group of groups) {
    for (const [key, value] of Object.entries(group.varying)) values.set(key, (values.get(key) ?? new Set()).add(value));
  }
  return [...values].filter(([, seen]) => seen.size > 1).map(([key]) => key);
}

function sweptExperiments() {
  const names = [...new Set(page.content.comparisons.map((comparison) => comparison.experiment))];
  return names.map((name) => {
    const groups = page.content.groups.filter((group) => page.content.comparisons[group.comparison].experiment === name);
    return { name, groups, keys: sweptKeys(groups) };
  }).filter(({ keys }) => keys.length);
}

function renderSweeps() {
  const swept = sweptExperiments();
  const one = swept.find(({ name }) => name === state.sweep) ?? swept[0];
  const key = one.keys.includes(state.x) ? state.x : one.keys[0];
  const second = one.keys.includes(state.x2) && state.x2 !== key ? state.x2 : "";
  const column = page.columns.has(state.y) ? state.y : "avg_cost";
  const words = (name) => page.content.keys[name] ?? name;
  const body = document.querySelector("#sweeps .body");
  refill(body,
    el("div", { class: "controls" },
      swept.length > 1 ? choice("Sweep", swept.map(({ name }) => [name, name]), one.name, (sweep) => show({ sweep, x: "", x2: "", of: "" })) : null,
      choice("Final", rankingColumns(), column, (y) => show({ y })),
      choice("against", one.keys.map((name) => [name, words(name)]), key, (x) => show({ x })),
      one.keys.length > 1 ? choice("and", [["", "nothing else"], ...one.keys.filter((name) => name !== key).map((name) => [name, words(name)])], second, (x2) => show({ x2 })) : null,
      button("CSV", () => saveCsv(`sweep_${one.name}`, sweepCsv(one, column)))),
    sweepFigure(body.clientWidth, one, key, column), second ? heatmap(one, key, second, column) : null, sensitivity(one, column));
}

/** Final values along a key, one line per algorithm and remaining settings. */
function sweepLines({ groups }, key, column) {
  const lines = new Map();
  for (const group of groups.filter((one) => key in one.varying && finals(one, column).size)) {
    const rest = Object.fromEntries(Object.entries(group.varying).filter(([name]) => name !== key));
    const id = JSON.stringify([group.algorithm, rest]);
    const line = lines.get(id) ?? lines.set(id, { algorithm: group.algorithm, rest, points: [] }).get(id);
    line.points.push({ at: group.varying[key], look: group.look, ...finalInterval(group, column) });
  }
  return [...lines.values()];
}

function sweepFigure(room, one, key, column) {
  const lines = sweepLines(one, key, column).slice(0, MOST_SWEEP_LINES);
  if (!lines.length) return null;
  const values = [...new Set(lines.flatMap((line) => line.points.map(({ at }) => at)))];
  const isNumeric = values.every((value) => typeof value === "number");
  const places = isNumeric ? null : values.map(String).sort();
  const low = Math.min(...values), high = Math.max(...values);
  const logX = isNumeric && low > 0 && high >= 30 * low;
  const pad = (high - low) * 0.05 || 1;
  const xDomain = !isNumeric ? [-0.5, places.length - 0.5] : logX ? [low / 1.3, high * 1.3] : [low - pad, high + pad];
  const drawn = lines.map(({ algorithm, rest, points }) => {
    points.sort((a, b) => (a.at < b.at ? -1 : 1));
    const settings = settingsText(rest);
    return { x: points.map(({ at }) => (isNumeric ? at : places.indexOf(String(at)))), y: points.map(({ mean }) => mean),
      low: points.map(({ mean, ci95 }) => mean - (ci95 ?? 0)), high: points.map(({ mean, ci95 }) => mean + (ci95 ?? 0)),
      look: points[points.length >> 1].look, isPoints: true, isJoined: isNumeric, isFloor: page.content.floors.includes(algorithm),
      name: page.content.algorithms[algorithm] + (settings ? `, ${settings}` : "") };
  });
  const made = panel({ title: `final ${page.columns.get(column)}`, xLabel: page.content.keys[key] ?? key, lines: drawn,
    width: Math.max(300, Math.min(room, SINGLE_WIDTH)), height: 320, xDomain, logX, logY: false, names: places });
  return singleFigure(made.svg, drawn, `sweep_${one.name}_${key}`);
}

/** Final values of one algorithm over two keys; other keys at their best. */
function heatmap(one, key, second, column) {
  const having = one.groups.filter((group) => key in group.varying && second in group.varying && finals(group, column).size);
  const algorithms = [...new Set(having.map((group) => group.algorithm))];
  if (!algorithms.length) return el("p", {}, "No run has both keys.");
  const algorithm = algorithms.includes(state.of) ? state.of : algorithms[0];
  const groups = having.filter((group) => group.algorithm === algorithm);
  const values = (name) => [...new Set(groups.map((group) => group.varying[name]))].sort((a, b) => (a < b ? -1 : 1));
  const least = (x, y) => groups.filter((group) => group.varying[key] === x && group.varying[second] === y)
    .map((group) => finalInterval(group, column)).sort((a, b) => a.mean - b.mean)[0];
  const all = groups.map((group) => finalInterval(group, column).mean);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const cell = (found) => found
    ? el("td", { class: `heat-${Math.round(9 * ((found.mean - low) / (high - low || 1)))}` }, plusMinus(found.mean, found.ci95)) : el("td", {}, "–");
  return el("div", {}, el("div", { class: "controls" },
    choice("Algorithm", algorithms.map((name) => [name, page.content.algorithms[name]]), algorithm, (of) => show({ of }))),
  el("div", { class: "scroll" }, el("table", { class: "heat" },
    el("caption", {}, `Final ${page.columns.get(column)} of ${page.content.algorithms[algorithm]}; darker is more`),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, `${second} \\ ${key}`), values(key).map((x) => el("th", { scope: "col" }, String(x))))),
    el("tbody", {}, values(second).map((y) => el("tr", {}, el("th", { scope: "row" }, String(y)), values(key).map((x) => cell(least(x, y)))))))));
}

/** For each algorithm with settings of its own: its best and worst, and their gap. */
function sensitivity(one, column) {
  const comparisons = [...new Set(one.groups.map((group) => group.comparison))];
  const rows = comparisons.flatMap((comparison) => Object.keys(page.content.algorithms).flatMap((algorithm) => {
    const groups = one.groups.filter((group) => group.comparison === comparison && group.algorithm === algorithm && finals(group, column).size);
    if (groups.length < 2) return [];
    const ordered = groups.map((group) => ({ group, mean: finalInterval(group, column).mean })).sort((a, b) => a.mean - b.mean);
    const [best, worst] = [ordered[0].group, ordered[ordered.length - 1].group];
    const gap = pairedGap(worst, best, column);
    return [[page.content.algorithms[algorithm], page.content.comparisons[comparison].name, String(groups.length), settingsText(best.hyperparameters), shown(ordered[0].mean),
      settingsText(worst.hyperparameters), gap ? plusMinus(gap.mean, gap.ci95, "+") : "–"]];
  }));
  if (!rows.length) return null;
  const heads = ["Algorithm", "Experiment", "Settings", "Best", "Its mean", "Worst", "Behind the best"];
  return el("div", {}, el("h3", {}, "Sensitivity to an algorithm's own settings"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((text, i) => (i ? el("td", { class: [1, 3, 5].includes(i) ? "text" : "" }, text) : el("th", { scope: "row" }, text)))))))));
}

function sweepCsv({ groups }, column) {
  const keys = sweptKeys(groups);
  const rows = groups.filter((group) => finals(group, column).size).map((group) => {
    const found = finalInterval(group, column);
    return [group.algorithm, ...keys.map((key) => group.varying[key] ?? null), column, found.n, found.mean, found.ci95];
  });
  return [["algorithm", ...keys, "column", "seeds", "mean", "ci95"], ...rows];
}

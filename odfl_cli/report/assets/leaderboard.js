"use strict";
// Algorithm × comparison, coloured by the paired gap to a baseline.

const MOST_COLUMNS = 4; // of an experiment; more of them are one, their mean

/** What the table shows: rows of cells, sorted. */
function leaderboard() {
  const column = page.columns.has(state.by) ? state.by : page.content.rankedBy;
  const comparisons = boardColumns();
  const base = baseline();
  const rows = Object.keys(page.content.algorithms).map((algorithm) => ({
    algorithm,
    name: page.content.algorithms[algorithm],
    isFloor: page.content.floors.includes(algorithm),
    cells: comparisons.map(({ places }) => cellOf(algorithm, places, column, base)),
  })).filter((row) => row.cells.some(Boolean));
  comparisons.forEach((_, i) => markBest(rows, i));
  rows.forEach((row) => { row.rank = meanRank(row, rows); });
  return { column, base, comparisons, rows: sorted(rows) };
}

/** A column for every comparison, and one for the many of a grid. */
function boardColumns() {
  const placed = page.content.comparisons.map((comparison, place) => ({ ...comparison, places: [place] }));
  return [...new Set(placed.map(({ experiment }) => experiment))].flatMap((experiment) => {
    const alike = placed.filter((one) => one.experiment === experiment);
    if (alike.length <= MOST_COLUMNS) return alike;
    const keys = [...new Set(alike.flatMap(({ settings }) => Object.keys(settings)))].map((key) => page.content.keys[key] ?? key);
    return [{ experiment, isGrid: true, name: `${experiment}: mean over ${alike.length} values of ${keys.join(", ")}`,
      places: alike.map(({ places }) => places[0]) }];
  });
}

/** The chosen algorithm; at first PF-OGD, or the first one that is there. */
function baseline() {
  const there = Object.keys(page.content.algorithms);
  return [state.base, "pf_ogd", "uniform"].find((name) => there.includes(name)) ?? there[0];
}

function cellOf(algorithm, places, column, base) {
  const mine = meanOver(algorithm, places, column);
  if (!mine) return null;
  const against = algorithm === base ? null : meanOver(base, places, column);
  return { ...mine, ...interval([...mine.values.values()]), gap: against && gapBetween(mine.values, against.values) };
}

/** Seed → the mean over comparisons of the algorithm's best there; null where one lacks it. */
function meanOver(algorithm, places, column) {
  const best = places.map((place) => bestGroup(algorithm, place, column));
  if (!best.every(Boolean)) return null;
  const each = best.map(({ group }) => finals(group, column));
  const seeds = [...each[0].keys()].filter((seed) => each.every((values) => values.has(seed)));
  const mean = (seed) => each.reduce((sum, values) => sum + values.get(seed), 0) / each.length;
  return seeds.length ? { ...best[0], values: new Map(seeds.map((seed) => [seed, mean(seed)])) } : null;
}

function markBest(rows, place) {
  const cells = rows.map((row) => row.cells[place]).filter(Boolean);
  const learners = rows.filter((row) => !row.isFloor).map((row) => row.cells[place]).filter(Boolean);
  const least = Math.min(...learners.map((cell) => cell.mean));
  const widest = Math.max(...cells.map((cell) => Math.abs(cell.gap?.mean ?? 0)));
  for (const cell of cells) {
    cell.isBest = learners.includes(cell) && cell.mean === least;
    cell.strength = isDecided(cell.gap) ? Math.sign(cell.gap.mean) * Math.sqrt(Math.abs(cell.gap.mean) / widest) : 0;
  }
}

/** The mean over the comparisons that have the algorithm of its place, as a share of the rows there. */
function meanRank(row, rows) {
  const shares = row.cells.flatMap((cell, i) => {
    if (!cell) return [];
    const there = rows.map((other) => other.cells[i]).filter(Boolean);
    return [there.filter((other) => other.mean < cell.mean).length / there.length];
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

function sorted(rows) {
  const place = Number(state.sort);
  const key = state.sort === "name" ? (row) => row.name
    : state.sort !== "rank" && place in rows[0].cells ? (row) => row.cells[place]?.mean ?? Infinity
    : (row) => row.rank + (row.isFloor ? 1 : 0); // references below the learners
  const order = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.name < b.name ? -1 : 1);
  return rows.sort((a, b) => (state.down ? order(b, a) : order(a, b)));
}

function renderLeaderboard() {
  const { column, base, comparisons, rows } = leaderboard();
  const words = page.columns.get(column);
  const head = el("tr", {}, sortHeading("Algorithm", "name"), comparisons.map((comparison, i) => sortHeading(comparison.name, String(i))));
  const body = rows.map((row) => el("tr", {},
    el("th", { scope: "row" }, row.name, row.isFloor ? el("small", {}, " reference") : null),
    row.cells.map((cell, i) => boardCell(cell, comparisons[i], row))));
  refill(document.querySelector("#leaderboard .body"),
    el("div", { class: "controls" },
      choice("Final", rankingColumns(), column, (by) => show({ by })),
      choice("Baseline", Object.entries(page.content.algorithms), base, (chosen) => show({ base: chosen })),
      button("CSV", () => saveCsv(`leaderboard_${column}`, boardCsv())),
      button("LaTeX", () => save(`leaderboard_${column}.tex`, "text/plain", boardLatex())),
      copyButton(boardLatex(), "Copy LaTeX")),
    el("p", { class: "note" }, `Final ${words}: mean ± half its 95% interval; below, the gap to ${page.content.algorithms[base]}, paired by seed.`),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Leaderboard, final ${words}` },
      el("table", { class: "board" }, el("thead", {}, head), el("tbody", {}, body))),
    el("p", { class: "note" }, el("span", { class: "swatch better" }), " below the baseline, ",
      el("span", { class: "swatch worse" }), " above it; no colour: not distinguishable. ",
      "Bold: the least among the learners. ", comparisons.length > 1 ? "At first, rows are in the order of their mean place. " : "",
      "A click opens the curves, or the points of a grid."));
}

function sortHeading(words, key) {
  const isSorted = state.sort === key || (key === "0" && state.sort === "rank" && boardColumns().length === 1);
  const down = isSorted && state.sort === key && !state.down;
  return el("th", { scope: "col", "aria-sort": isSorted ? (state.down ? "descending" : "ascending") : "none" },
    button(words, () => show({ sort: key, down }), { class: "sort" }));
}

function boardCell(cell, comparison, row) {
  if (!cell) return el("td", { class: "empty" }, "–");
  const level = Math.ceil(Math.abs(cell.strength) * 5);
  const tint = level ? `${cell.strength < 0 ? "better" : "worse"} level-${level}` : "";
  const gap = cell.gap ? `${isDecided(cell.gap) ? "" : "≈ "}${plusMinus(cell.gap.mean, cell.gap.ci95, "+")}` : "";
  const tried = cell.tried > 1 && !comparison.isGrid ? `best of ${cell.tried}: ${cell.group.name}` : "";
  return el("td", { class: tint },
    button([el("span", { class: cell.isBest ? "figure best" : "figure" }, plusMinus(cell.mean, cell.ci95)),
      el("small", {}, gap || " "), tried ? el("small", {}, tried) : null],
    () => openComparison(comparison),
    { class: "cell", "aria-label": `${row.name} in ${comparison.name}: ${plusMinus(cell.mean, cell.ci95)}, ${count(cell.n, "seed")}; open the ${comparison.isGrid ? "points" : "curves"}` }));
}

function openComparison(comparison) {
  show(comparison.isGrid ? { sweep: comparison.experiment, x: "", x2: "" } : { comparison: comparison.name, lines: "", from: "", to: "" });
  goTo(comparison.isGrid ? "sweeps" : "curves");
}

function boardCsv() {
  const { column, base, comparisons, rows } = leaderboard();
  const header = ["algorithm", "comparison", "settings", "column", "seeds", "mean", "ci95", `gap_to_${base}`, "gap_ci95", "gap_seeds"];
  const lines = rows.flatMap((row) => row.cells.map((cell, i) => cell && [
    row.algorithm, comparisons[i].name, settingsText(cell.group.hyperparameters), column, cell.n, cell.mean, cell.ci95,
    cell.gap?.mean, cell.gap?.ci95, cell.gap?.n]).filter(Boolean));
  return [header, ...lines];
}

function boardLatex() {
  const { column, comparisons, rows } = leaderboard();
  const figures = rows.map((row) => [row.name, ...row.cells.map((cell) => {
    const text = cell ? plusMinus(cell.mean, cell.ci95) : "–";
    return cell?.isBest ? { text } : text;
  })]);
  return latexTable(`Final ${page.columns.get(column)}, mean ± half the 95% interval over seeds`, ["Algorithm", ...comparisons.map((comparison) => comparison.name)], figures);
}

function settingsText(settings) {
  return Object.entries(settings).map(([key, value]) => `${key}=${value}`).join(" ");
}

"use strict";
// Algorithm × comparison, coloured by the paired gap to a baseline.

/** What the table shows: rows of cells, sorted. */
function leaderboard() {
  const column = page.columns.has(state.by) ? state.by : "avg_cost";
  const comparisons = page.content.comparisons.map((comparison, place) => ({ ...comparison, place }));
  const base = baseline();
  const rows = Object.keys(page.content.algorithms).map((algorithm) => ({
    algorithm,
    name: page.content.algorithms[algorithm],
    isFloor: page.content.floors.includes(algorithm),
    cells: comparisons.map((comparison) => cellOf(algorithm, comparison.place, column, base)),
  })).filter((row) => row.cells.some(Boolean));
  comparisons.forEach((_, i) => markBest(rows, i));
  rows.forEach((row) => { row.rank = meanRank(row, rows); });
  return { column, base, comparisons, rows: sorted(rows) };
}

/** The chosen algorithm; at first PF-OGD, or the first one that is there. */
function baseline() {
  const there = Object.keys(page.content.algorithms);
  return [state.base, "pf_ogd", "uniform"].find((name) => there.includes(name)) ?? there[0];
}

function cellOf(algorithm, comparison, column, base) {
  const best = bestGroup(algorithm, comparison, column);
  if (!best) return null;
  const against = algorithm === base ? null : bestGroup(base, comparison, column);
  return { ...best, ...finalInterval(best.group, column), gap: against && pairedGap(best.group, against.group, column) };
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
    : state.sort !== "rank" && place in page.content.comparisons ? (row) => row.cells[place]?.mean ?? Infinity
    : (row) => row.rank;
  const order = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.name < b.name ? -1 : 1);
  return rows.sort((a, b) => (state.down ? order(b, a) : order(a, b)));
}

function renderLeaderboard() {
  const { column, base, comparisons, rows } = leaderboard();
  const words = page.columns.get(column);
  const head = el("tr", {}, sortHeading("Algorithm", "name"), comparisons.map((comparison) => sortHeading(comparison.name, String(comparison.place))),
    comparisons.length > 1 ? sortHeading("Mean rank", "rank") : null);
  const body = rows.map((row) => el("tr", {},
    el("th", { scope: "row" }, row.name, row.isFloor ? el("small", {}, " reference") : null),
    row.cells.map((cell, i) => boardCell(cell, comparisons[i], row)),
    comparisons.length > 1 ? el("td", {}, fixed(row.rank, 2)) : null));
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
      "Bold: the least among the learners. A click opens the curves."));
}

function sortHeading(words, key) {
  const isSorted = state.sort === key || (key === "0" && state.sort === "rank" && page.content.comparisons.length === 1);
  const down = isSorted && state.sort === key && !state.down;
  return el("th", { scope: "col", "aria-sort": isSorted ? (state.down ? "descending" : "ascending") : "none" },
    button(words, () => show({ sort: key, down }), { class: "sort" }));
}

function boardCell(cell, comparison, row) {
  if (!cell) return el("td", { class: "empty" }, "–");
  const level = Math.ceil(Math.abs(cell.strength) * 5);
  const tint = level ? `${cell.strength < 0 ? "better" : "worse"} level-${level}` : "";
  const gap = cell.gap ? `${isDecided(cell.gap) ? "" : "≈ "}${plusMinus(cell.gap.mean, cell.gap.ci95, "+")}` : "";
  const tried = cell.tried > 1 ? `best of ${cell.tried}: ${cell.group.name}` : "";
  return el("td", { class: tint },
    button([el("span", { class: cell.isBest ? "figure best" : "figure" }, plusMinus(cell.mean, cell.ci95)),
      el("small", {}, gap || " "), tried ? el("small", {}, tried) : null],
    () => { show({ comparison: comparison.name, lines: "", from: "", to: "" }); goTo("curves"); },
    { class: "cell", "aria-label": `${row.name} in ${comparison.name}: ${plusMinus(cell.mean, cell.ci95)}, ${count(cell.n, "seed")}; open the curves` }));
}

function boardCsv() {
  const { column, base, comparisons, rows } = leaderboard();
  const header = ["algorithm", "comparison", "settings", "column", "seeds", "mean", "ci95", `gap_to_${base}`, "gap_ci95", "gap_seeds"];
  const lines = rows.flatMap((row) => row.cells.map((cell, i) => cell && [
    row.algorithm, comparisons[i].name, settingsText(cell.group.own), column, cell.n, cell.mean, cell.ci95,
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

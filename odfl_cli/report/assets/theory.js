"use strict";
// Measured regret beside its bound, and what else the theorems speak of.

const MEASURED = ["alpha", "eta", "path_length", "oracle_before", "oracle_after", "xi", "theta_norm"];

function hasTheory(group) {
  return Object.keys(group.theory).length > 0 || MEASURED.some((column) => group.final[column]);
}

function renderTheory() {
  const comparison = shownComparison();
  const groups = groupsOf(comparison).filter(hasTheory);
  const body = document.querySelector("#theory .body");
  if (!groups.length) {
    refill(body, el("p", {}, "Nothing of the theory was measured in this experiment: run with metrics=regret or metrics=full."));
    return;
  }
  const columns = theoryColumns(groups);
  refill(body,
    el("p", { class: "note" }, page.content.comparisons[comparison].name),
    el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Algorithm"), columns.map(({ words }) => el("th", { scope: "col" }, words)))),
      el("tbody", {}, groups.map((group) => el("tr", {}, el("th", { scope: "row" }, group.name), columns.map(({ cell }) => el("td", {}, cell(group) ?? "–"))))))),
    boundsFigure(body.clientWidth, groups), brokenAssumptions(comparison));
}

/** The columns that at least one group can fill. */
function theoryColumns(groups) {
  const final = (column) => (group) => {
    const found = finalInterval(group, column);
    return found && plusMinus(found.mean, found.ci95);
  };
  const slope = (column) => (group) => {
    const found = group.theory.slopes?.[column];
    return found && `${fixed(found[0], 2)}${found[1] === null ? "" : ` ± ${fixed(found[1], 2)}`}`;
  };
  const every = [
    { words: "average static regret", cell: final("avg_static_regret") }, { words: "its slope", cell: slope("static_regret") },
    { words: "average dynamic regret", cell: final("avg_dynamic_regret") }, { words: "its slope", cell: slope("dynamic_regret") },
    { words: "bound on it, average", cell: final("avg_bound") },
    { words: "regret as a share of the bound", cell: shareOfBound },
    ...MEASURED.map((column) => ({ words: `${page.columns.get(column) ?? column} at T`, cell: final(column) })),
    { words: "margin C₀, β", cell: ({ theory }) => theory.margin && `${short(theory.margin.c0)}, ${short(theory.margin.beta)}` },
    { words: "oracle's share of time", cell: ({ theory }) => theory.oracleShare !== undefined ? fixed(theory.oracleShare, 2) : null },
  ];
  return every.filter(({ cell }) => groups.some((group) => cell(group)));
}

function shareOfBound(group) {
  if (!group.theory.bounded) return null;
  const [regret, bound] = [group.theory.bounded, "bound"].map((column) => finalInterval(group, column));
  return regret && bound && `${short(regret.mean / bound.mean)} (${page.columns.get(group.theory.bounded)})`;
}

/** Regret per round and its bound, on logarithmic axes. */
function boundsFigure(room, groups) {
  const bounded = groups.filter((group) => group.theory.bounded && meanCurve(group, `avg_${group.theory.bounded}`));
  if (!bounded.length) return null;
  const lines = bounded.flatMap((group) => [`avg_${group.theory.bounded}`, "avg_bound"].map((column, place) => {
    const { t, mean } = meanCurve(group, column);
    return { x: t, y: mean, low: null, look: group.look, thin: place === 1, name: `${group.name}, ${place ? "bound" : "regret"}` };
  }));
  const made = panel({ title: "average regret, and its bound as a thin line", xLabel: "round t", lines, width: Math.max(300, Math.min(room, SINGLE_WIDTH)), height: 300,
    xDomain: [Math.max(1, Math.min(...lines.map((line) => line.x[0]))), Math.max(...lines.map((line) => line.x[line.x.length - 1]))], logX: true, logY: true });
  return singleFigure(made.svg, bounded, "bound");
}

function brokenAssumptions(comparison) {
  const experiment = page.content.comparisons[comparison].experiment;
  const warned = page.content.runs.filter((run) => run.experiment === experiment && run.warnings?.length);
  const lines = new Set(warned.flatMap((run) => run.warnings.map((line) => `${page.content.algorithms[run.algorithm] ?? run.algorithm}: ${line}`)));
  return lines.size ? el("details", {}, el("summary", {}, count(lines.size, "assumption of a theorem that does not hold", "assumptions of theorems that do not hold")),
    el("ul", {}, [...lines].map((line) => el("li", {}, line)))) : null;
}

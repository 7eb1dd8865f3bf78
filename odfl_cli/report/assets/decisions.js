"use strict";
// Which item was played when, beside the best one; only where runs logged it.

function renderDecisions() {
  const groups = groupsOf(shownComparison()).filter((group) => group.decisions);
  const body = document.querySelector("#decisions .body");
  if (!groups.length) {
    refill(body, el("p", {}, "No decisions were logged in this experiment: run with metrics=decisions."));
    return;
  }
  const seeds = [...new Set(groups.flatMap((group) => Object.keys(group.decisions.seeds)))];
  const seed = seeds.includes(state.seed) ? state.seed : seeds[0];
  const across = body.clientWidth >= 936 && groups.length > 1 ? 2 : 1;
  const width = Math.max(300, Math.round((body.clientWidth - 16 * (across - 1)) / across));
  refill(body,
    el("div", { class: "controls" }, choice("Seed", seeds.map((one) => [one, one]), seed, (chosen) => show({ seed: chosen }))),
    el("p", { class: "note" }, "Dots: items played, counted from 0. Rings: items of the round's best decision. A dot in a ring was right; of items that cost the same, the first counts as best."),
    el("div", { class: "panels" }, groups.filter((group) => group.decisions.seeds[seed]).map((group) => el("figure", {}, decisionPanel(group, seed, width)))));
}

function decisionPanel(group, seed, width) {
  const { played, best } = group.decisions.seeds[seed];
  const [shown, right] = [played, best].map(([t, item]) => [slice(t), slice(item)]);
  const last = Math.max(0, ...shown[1], ...right[1]);
  const height = Math.min(360, Math.max(170, 90 + 14 * (last + 1)));
  const title = `${group.name}: the best items in ${fixed(100 * group.decisions.hits, 1)}% of the logged rounds, all seeds`;
  const rows = ticks([0, last], Math.min(last, 12) || 1).filter(Number.isInteger);
  const made = panel({ title, xLabel: "round t", lines: [], width, height, xDomain: [0, group.rounds], yDomain: [-0.5, last + 0.5], rows });
  const mark = ([ts, items], attributes) => Array.from(ts, (t, i) => svgEl("circle", { cx: made.x(t), cy: made.y(items[i]), ...attributes }));
  made.svg.append(svgEl("g", { class: "rings" }, mark(right, { r: 3.4, fill: "none", stroke: "#808080" })),
    svgEl("g", {}, mark(shown, { r: 1.9, fill: group.look.colour })));
  made.svg.setAttribute("aria-label", title);
  return made.svg;
}

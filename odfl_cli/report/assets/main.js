"use strict";
// Puts the page together.

/** [id, heading, renderer, keys of the state that it depends on], of those that have something to show. */
function sections() {
  const { content } = page;
  const hasResults = content.groups.length > 0;
  return [
    hasResults && ["leaderboard", "Leaderboard", renderLeaderboard, ["by", "base", "sort", "down"]],
    hasResults && ["curves", "Curves", renderCurves, ["comparison", "columns", "lines", "seeds", "logx", "logy", "from", "to"]],
    content.groups.some((group) => group.decisions) && ["decisions", "Decisions", renderDecisions, ["comparison", "seed"]],
    content.groups.some(hasTheory) && ["theory", "Theory", renderTheory, ["comparison"]],
    hasResults && sweptExperiments().length > 0 && ["sweeps", "Sweeps", renderSweeps, ["sweep", "x", "x2", "of", "y"]],
    content.claims.length > 0 && ["claims", "Claims", renderClaims, []],
    troubled().length > 0 && ["trouble", "Failed, unfinished and damaged runs", renderTrouble, []],
    ["runs", "Every run", renderRuns, ["run"]],
  ].filter(Boolean);
}

function facts() {
  const { runs, groups, comparisons, odfl } = page.content;
  const seeds = new Set(groups.flatMap((group) => group.seeds));
  const parts = [count(runs.length, "run"), count(Object.keys(page.content.algorithms).length, "algorithm"),
    count(comparisons.length, "comparison"), count(seeds.size, "seed"), `written by odfl ${odfl}`];
  return parts.join(" · ");
}

/** What a reader must know before trusting the numbers. */
function alerts() {
  const states = new Map();
  for (const run of troubled()) states.set(run.state, (states.get(run.state) ?? 0) + 1);
  const versions = new Set(page.content.runs.flatMap((run) => run.odfl ?? []));
  const lines = [
    states.size ? `Not all runs have results: ${[...states].map(([name, number]) => `${number} ${name === "finished" ? "with unreadable seeds" : name}`).join(", ")}. They are listed below.` : null,
    versions.size > 1 ? `The runs were computed by different versions of odfl: ${[...versions].join(", ")}.` : null,
  ];
  return lines.filter(Boolean).map((line) => el("p", { class: "alert", role: "note" }, line));
}

async function start() {
  await load();
  readFragment();
  document.getElementById("facts").textContent = facts();
  document.getElementById("alerts").replaceChildren(...alerts());
  const all = sections();
  const link = ([id, heading]) => el("a", { href: "#", "data-goto": id }, heading);
  document.getElementById("contents").replaceChildren(...[["verdict", "Verdict"], ...all].map(link));
  document.getElementById("sections").replaceChildren(...all.map(([id, heading]) =>
    el("section", { id, "aria-labelledby": `${id}-heading` }, el("h2", { id: `${id}-heading`, tabindex: -1 }, heading), el("div", { class: "body" }))));
  for (const [, , render, keys] of all) {
    register(render, keys);
    render();
  }
  listenToPage();
  document.documentElement.dataset.drawn = performance.now().toFixed(0); // milliseconds after opening
  document.documentElement.dataset.ready = "true";
}

function listenToPage() {
  document.addEventListener("click", (event) => {
    const goto = event.target.closest?.("[data-goto]")?.dataset.goto;
    if (!goto) return;
    event.preventDefault();
    goTo(goto);
  });
  addEventListener("hashchange", () => { readFragment(); draw(); });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    draw(["comparison", "x"]);
  });
}

start();

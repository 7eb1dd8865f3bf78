"use strict";
// Claims, runs that have no results, and every run with the command that repeats it.

const RUNS_AT_ONCE = 25;
let runsShown = RUNS_AT_ONCE;
const search = el("input", { type: "search", input: () => { runsShown = RUNS_AT_ONCE; show({ run: search.value }); } });

function renderClaims() {
  const heads = ["Claim", "Where", "Measured", "Claimed", "n", "Verdict"];
  const rows = page.content.claims.map((claim) => [
    claim.claim, claim.where, claim.value === null ? "–" : plusMinus(claim.value, claim.ci95),
    `${claim.claimed.side === "above" ? ">" : "≤"} ${claim.claimed.limit}`, String(claim.count), claim.verdict]);
  const verdictClass = (verdict) => (verdict === "holds" ? "good" : verdict === "does not hold" ? "bad" : "");
  refill(document.querySelector("#claims .body"), el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((text, i) => (i ? el("td", { class: i === 5 ? verdictClass(text) : i === 1 ? "text" : "" }, text) : el("th", { scope: "row" }, text)))))))));
}

function troubled() {
  return page.content.runs.filter((run) => run.state !== "finished" || run.reason);
}

/** Runs that failed, did not end or are damaged: never left out in silence. */
function renderTrouble() {
  refill(document.querySelector("#trouble .body"), el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, ["Run", "Experiment", "State", "Why", "Seeds shown"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, troubled().slice(0, 500).map((run) => el("tr", {}, el("th", { scope: "row" }, run.name), el("td", { class: "text" }, run.experiment),
      el("td", { class: "bad" }, run.state), el("td", { class: "text" }, run.reason || "–"), el("td", {}, String(run.seeds.length))))))),
  troubled().length > 500 ? el("p", {}, `… and ${troubled().length - 500} more.`) : null);
}

function renderRuns() {
  const wanted = state.run.toLowerCase().split(/\s+/).filter(Boolean);
  const found = page.content.runs.filter((run) => {
    const text = [run.experiment, run.name, run.state, run.algorithm, ...(run.differs ?? [])].join(" ").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const list = el("div", { class: "runs" }, found.slice(0, runsShown).map(runDetails));
  if (search.value !== state.run) search.value = state.run;
  refill(document.querySelector("#runs .body"),
    el("div", { class: "controls" }, el("label", {}, "Find ", search),
      el("span", { role: "status" }, `${count(found.length, "run")}`),
      button("CSV", () => saveCsv("runs", runsCsv(found)))),
    list,
    found.length > runsShown ? button(`Show ${Math.min(RUNS_AT_ONCE, found.length - runsShown)} more`, () => { runsShown += RUNS_AT_ONCE; renderRuns(); }) : null);
}

/** One run; its details are made when it is opened. */
function runDetails(run) {
  const node = el("details", {}, el("summary", {},
    el("strong", {}, page.content.algorithms[run.algorithm] ?? run.algorithm), " ", el("span", { class: "where" }, run.experiment), " ",
    el("code", {}, (run.differs ?? []).filter((word) => !word.startsWith("algo=")).join(" ") || run.name),
    run.state === "finished" ? null : el("span", { class: "bad" }, ` ${run.state}`)));
  node.addEventListener("toggle", () => {
    if (node.open && node.children.length === 1) node.append(runFacts(run));
  });
  return node;
}

function runFacts(run) {
  const pairs = (found) => Object.entries(found ?? {}).map(([name, value]) => `${name} ${value}`).join(", ");
  const facts = [
    ["Directory", run.directory], ["State", run.reason ? `${run.state}: ${run.reason}` : run.state],
    ["Seeds", run.seeds.join(", ")], ["Engine", run.engine], ["Versions", pairs(run.versions)],
    ["Seconds", pairs(run.seconds)], ["SHA-256 begins", pairs(run.files)], ["Assumptions", (run.warnings ?? []).join("; ")],
  ].filter(([, value]) => value);
  const again = run.command ? el("div", { class: "again" }, el("code", {}, run.command), copyButton(run.command)) : el("p", {}, "No command: its record is damaged.");
  return el("div", { class: "facts" }, again,
    el("p", {}, "Differs from the default: ", (run.differs ?? []).length ? el("code", {}, run.differs.join(" ")) : "in nothing"),
    el("dl", {}, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}

function runsCsv(found) {
  const rows = found.map((run) => [run.experiment, run.name, run.algorithm, run.state, run.reason, run.seeds.join(" "),
    run.seconds?.wall ?? null, run.versions?.odfl ?? null, run.command ?? null]);
  return [["experiment", "run", "algorithm", "state", "reason", "seeds", "wall_seconds", "odfl", "command"], ...rows];
}

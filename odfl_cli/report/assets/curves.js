"use strict";
// Columns against the rounds, on one time axis: zoom, cursor, lines on and off.

const MOST_LINES = 12; // shown at first
const curvesView = { panels: [], at: null };

function shownComparison() {
  const place = page.content.comparisons.findIndex((comparison) => comparison.name === state.comparison);
  return place < 0 ? 0 : place;
}

/** The groups whose curves are on the page. */
function drawnGroups(comparison) {
  return groupsOf(comparison).filter((group) => Object.keys(group.curves).length);
}

/** The columns that are drawn; at first cost, MSE and regret. */
function curveColumns(groups) {
  const there = [...page.columns.keys()].filter((column) => groups.some((group) => meanCurve(group, column)));
  const asked = state.columns.split(",").filter((column) => there.includes(column));
  const usual = ["avg_cost", "avg_mse", "avg_regret"].filter((column) => there.includes(column));
  return { there, columns: asked.length ? asked : usual };
}

/** The groups whose lines are on; at first the best of every algorithm. */
function shownGroups(groups) {
  if (state.lines === "none") return [];
  const asked = new Set(state.lines.split(",").filter(Boolean).map(Number));
  if (asked.size) return groups.filter((_, i) => asked.has(i));
  if (groups.length <= MOST_LINES) return groups;
  const best = Object.keys(page.content.algorithms).map((name) => bestGroup(name, groups[0].comparison, "avg_cost")?.group);
  return groups.filter((group) => best.includes(group)).slice(0, MOST_LINES);
}

function renderCurves() {
  const comparison = shownComparison();
  const groups = drawnGroups(comparison);
  const { there, columns } = curveColumns(groups);
  const on = shownGroups(groups);
  const info = page.content.comparisons[comparison];
  const domain = timeDomain(info);
  const hasSeeds = groups.some((group) => columns.some((column) => seedCurves(group, column).length));
  const body = document.querySelector("#curves .body");
  const area = el("div", { class: "panels" });
  drawPanels(area, body.clientWidth, columns, on, info, domain);
  refill(body,
    curveControls(info, there, columns, hasSeeds),
    legend(groups, on),
    area,
    el("div", { class: "readout", id: "readout", "aria-live": "polite" }),
    recoveryTable(on));
  readOut();
}

function timeDomain(info) {
  const [from, to] = [Number(state.from), Number(state.to)];
  const isZoomed = state.from !== "" && state.to !== "" && from < to;
  const first = state.logx ? 1 : 0;
  return isZoomed ? [Math.max(from, first), Math.min(to, info.rounds)] : [first, info.rounds];
}

function curveControls(info, there, columns, hasSeeds) {
  const toggle = (column, isOn) => {
    const next = there.filter((name) => (name === column ? isOn : columns.includes(name)));
    show({ columns: next.join(",") });
  };
  const name = `curves_${info.name}`;
  return [el("div", { class: "controls" },
    page.content.comparisons.length > 1 ? choice("Experiment", page.content.comparisons.map((one) => [one.name, one.name]), info.name,
      (comparison) => show({ comparison, lines: "", from: "", to: "" })) : null,
    tick("every seed", state.seeds && hasSeeds, (seeds) => show({ seeds })),
    hasSeeds ? null : el("small", {}, "(too many runs for the lines of every seed: name fewer sweeps)"),
    tick("log t", state.logx, (logx) => show({ logx })),
    tick("log y", state.logy, (logy) => show({ logy })),
    button("Reset zoom", () => show({ from: "", to: "" }), { disabled: state.from === "" }),
    button("CSV", () => saveCsv(name, curvesCsv())),
    button("SVG", () => saveSvg(name, curvesView.panels.map(({ svg }) => svg), shownGroups(drawnGroups(shownComparison()))))),
  el("fieldset", { class: "columns" }, el("legend", {}, "Columns"),
    there.map((column) => tick(page.columns.get(column), columns.includes(column), (isOn) => toggle(column, isOn)))),
  el("p", { class: "note" }, "Drag over a panel to zoom all of them, double-click to see everything. With the keyboard: ",
    "arrows move the cursor, + and − zoom, 0 shows everything. ",
    curvesLeftOut(), `${info.items ? `K = ${info.items}, ` : ""}T = ${info.rounds.toLocaleString("en")}.`)];
}

function curvesLeftOut() {
  const all = groupsOf(shownComparison()).length;
  const drawn = drawnGroups(shownComparison()).length;
  return drawn < all ? `The page has room for the curves of the best ${drawn} of ${all.toLocaleString("en")} settings. ` : "";
}

function legend(groups, on) {
  const toggle = (place) => {
    const next = groups.map((_, i) => i).filter((i) => (i === place) !== on.includes(groups[i]));
    show({ lines: next.length === groups.length && groups.length <= MOST_LINES ? "" : next.join(",") || "none" });
  };
  return el("div", { class: "legend", role: "group", "aria-label": "Lines" }, groups.map((group, place) => {
    const isOn = on.includes(group);
    return button([sample(group.look, isOn), " ", group.name], () => toggle(place), { class: "entry", "aria-pressed": String(isOn) });
  }));
}

function drawPanels(area, room, columns, on, info, domain) {
  const across = columns.length > 1 && room >= 936 ? 2 : 1; // as the grid of the style does it
  const width = Math.max(300, Math.round((room - 16 * (across - 1)) / across));
  curvesView.panels = columns.map((column) => {
    const made = panel({
      title: page.columns.get(column), xLabel: "round t", lines: linesOf(column, on), width, height: width < 420 ? 240 : 290,
      xDomain: domain, logX: state.logx, logY: state.logy, marks: info.marks,
    });
    made.column = column;
    made.svg.setAttribute("tabindex", 0);
    listen(made, domain, info);
    area.append(el("figure", {}, made.svg));
    return made;
  });
}

function linesOf(column, on) {
  return on.flatMap((group) => {
    const isFloor = page.content.floors.includes(group.algorithm);
    const base = { look: group.look, name: group.name, group, isFloor };
    const seeds = state.seeds ? seedCurves(group, column) : [];
    if (seeds.length) return seeds.map(({ seed, t, mean }) => ({ ...base, seed, x: t, y: mean, low: null, thin: true }));
    const curve = meanCurve(group, column);
    if (!curve) return [];
    const { t, mean, ci95 } = curve;
    return [{ ...base, x: t, y: mean, ci95, low: ci95 && mean.map((m, i) => m - ci95[i]), high: ci95 && mean.map((m, i) => m + ci95[i]) }];
  });
}

/** Pointer and keyboard of one panel; what they do concerns all panels. */
function listen(made, domain, info) {
  const { svg, x, box } = made;
  const round = (event) => {
    const rect = svg.getBoundingClientRect();
    const pixel = ((event.clientX - rect.left) / rect.width) * svg.viewBox.baseVal.width;
    return x.invert(Math.min(box.right, Math.max(box.left, pixel)));
  };
  let start = null;
  svg.addEventListener("pointerdown", (event) => { start = round(event); svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointermove", (event) => moveCursor(round(event), start));
  svg.addEventListener("pointerup", (event) => {
    const [from, to] = [Math.min(start, round(event)), Math.max(start, round(event))];
    start = null;
    if (to - from > 0.02 * (domain[1] - domain[0])) zoom(from, to);
  });
  svg.addEventListener("pointercancel", () => { start = null; });
  svg.addEventListener("dblclick", () => show({ from: "", to: "" }));
  svg.addEventListener("keydown", (event) => {
    const span = domain[1] - domain[0];
    const at = curvesView.at ?? domain[1];
    const step = span / (event.shiftKey ? 10 : 100);
    const clamp = (value) => Math.min(domain[1], Math.max(domain[0], value));
    const moves = { ArrowLeft: () => moveCursor(clamp(at - step)), ArrowRight: () => moveCursor(clamp(at + step)),
      Home: () => moveCursor(domain[0]), End: () => moveCursor(domain[1]),
      "+": () => zoom(at - span / 4, at + span / 4), "-": () => zoom(domain[0] - span / 2, domain[1] + span / 2),
      0: () => show({ from: "", to: "" }), Escape: () => show({ from: "", to: "" }) };
    if (!(event.key in moves) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    moves[event.key]();
  });
  function zoom(from, to) {
    const [low, high] = [Math.max(state.logx ? 1 : 0, Math.round(from)), Math.min(info.rounds, Math.round(to))];
    const isAll = low <= 1 && high >= info.rounds;
    show(isAll ? { from: "", to: "" } : { from: String(low), to: String(Math.max(high, low + 1)) });
  }
}

/** Puts the cursor of all panels at a round; `start` is where a drag began. */
function moveCursor(at, start = null) {
  curvesView.at = at;
  for (const { svg, x, y, lines, box } of curvesView.panels) {
    const dots = lines.filter((line) => line.y.length).map((line) => {
      const i = nearest(line.x, at);
      return svgEl("circle", { cx: x(line.x[i]), cy: y(line.y[i]), r: line.thin ? 1.8 : 3, fill: line.look.colour });
    });
    svg.querySelector(".cursor").replaceChildren(
      ...(start === null ? [] : [svgEl("rect", { class: "drag", x: Math.min(x(start), x(at)), width: Math.abs(x(at) - x(start)), y: box.top, height: box.bottom - box.top })]),
      svgEl("line", { x1: x(at), x2: x(at), y1: box.top, y2: box.bottom }),
      ...dots.filter((dot) => dot.getAttribute("cy") >= box.top && dot.getAttribute("cy") <= box.bottom));
  }
  readOut();
}

function nearest(values, at) {
  let [low, high] = [0, values.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= at) low = middle; else high = middle;
  }
  return at - values[low] <= values[high] - at ? low : high;
}

/** The values under the cursor, with two digits of their interval; of a seed all that the page holds. */
function readOut() {
  const at = curvesView.at ?? timeDomain(page.content.comparisons[shownComparison()])[1];
  const rows = new Map();
  curvesView.panels.forEach(({ lines }, place) => lines.forEach((line) => {
    if (!line.y.length) return;
    const name = line.thin ? `${line.name}, seed ${line.seed}` : line.name;
    const i = nearest(line.x, at);
    const row = rows.get(name) ?? rows.set(name, { look: line.look, t: line.x[i], cells: [] }).get(name);
    row.cells[place] = line.ci95 ? plusMinus(line.y[i], line.ci95[i]) : exact(line.y[i]).replaceAll("-", "−");
  }));
  const head = el("tr", {}, el("th", { scope: "col" }, "Line"), el("th", { scope: "col" }, "t"),
    curvesView.panels.map(({ column }) => el("th", { scope: "col" }, page.columns.get(column))));
  const body = [...rows].map(([name, row]) => el("tr", {}, el("th", { scope: "row" }, sample(row.look), " ", name),
    el("td", {}, String(row.t)), curvesView.panels.map((_, place) => el("td", {}, row.cells[place] ?? "–"))));
  document.getElementById("readout")?.replaceChildren(el("div", { class: "scroll" },
    el("table", {}, el("caption", {}, "Values at the cursor"), el("thead", {}, head), el("tbody", {}, body))));
}

/** Every point that is shown, one row for each line and round. */
function curvesCsv() {
  const seeds = state.seeds;
  const header = ["column", "algorithm", "settings", ...(seeds ? ["seed"] : []), "t", ...(seeds ? ["value"] : ["seeds", "mean", "ci95"])];
  const rows = curvesView.panels.flatMap(({ column, lines }) => lines.flatMap((line) => Array.from(line.x, (t, i) => {
    const named = [column, line.group.algorithm, settingsText(line.group.hyperparameters)];
    const value = Number(exact(line.y[i]));
    return line.thin ? [...named, line.seed, t, value] : [...named, ...(seeds ? [null] : []), t, ...(seeds ? [value]
      : [line.group.seeds.length, value, line.ci95 ? Number(exact(line.ci95[i])) : null])];
  })));
  return [header, ...rows];
}

/** Rounds until regret per round is back where it was before each switch of the environment. */
function recoveryTable(on) {
  const rows = on.filter((group) => group.recovery.length);
  if (!rows.length) return null;
  const marks = rows[0].recovery.map(({ mark }) => mark);
  return el("div", {},
    el("h3", {}, "Rounds to recover after each switch of the environment"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Switch at round"), marks.map((mark) => el("th", { scope: "col" }, String(mark))))),
      el("tbody", {}, rows.map((group) => el("tr", {}, el("th", { scope: "row" }, group.name),
        marks.map((mark) => el("td", {}, String(group.recovery.find((one) => one.mark === mark)?.rounds ?? "–")))))))),
    el("p", { class: "note" }, "Until the regret per round, averaged over seeds and a tenth of the rounds between switches, is at most 1.1 times its level before the switch; – if it is not before the next switch. No answer can be shorter than that window."));
}

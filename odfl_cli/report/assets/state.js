"use strict";
// What is shown, kept in the fragment of the address: a link opens the same view.

const DEFAULTS = {
  by: "", base: "", sort: "rank", down: false,          // leaderboard
  comparison: "", columns: "", lines: "", seeds: false, logx: false, logy: false, from: "", to: "", // curves
  sweep: "", x: "", x2: "", of: "", y: "avg_cost",             // sweeps
  seed: "", run: "",                                            // decisions, runs
};
const state = { ...DEFAULTS };
const renderers = new Map();

/** A section that is drawn again whenever one of its keys changes. */
function register(render, keys) {
  renderers.set(render, keys);
}

/** Changes the view and the fragment. */
function show(changes) {
  const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
  Object.assign(state, changes);
  const given = Object.keys(DEFAULTS).filter((key) => state[key] !== DEFAULTS[key]);
  const fragment = new URLSearchParams(given.map((key) => [key, String(state[key])])).toString();
  history.replaceState(null, "", `#${fragment}`);
  draw(changed);
}

/** Reads the fragment; what it does not name is as in the beginning. */
function readFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [key, normal] of Object.entries(DEFAULTS)) {
    const text = given.get(key);
    state[key] = text === null ? normal : typeof normal === "boolean" ? text === "true" : text;
  }
}

function draw(changed = Object.keys(DEFAULTS)) {
  for (const [render, keys] of renderers) {
    if (keys.some((key) => changed.includes(key))) render();
  }
}

/** Fills a section without losing the keyboard's place in it. */
function refill(section, ...children) {
  const focused = section.contains(document.activeElement) ? document.activeElement : null;
  const path = focused && placeOf(section, focused);
  section.replaceChildren(...children.flat().filter((child) => child !== null));
  if (path) nodeAt(section, path)?.focus({ preventScroll: true });
}

function placeOf(section, node) {
  const path = [];
  for (; node !== section; node = node.parentNode) path.unshift([...node.parentNode.children].indexOf(node));
  return path;
}

function nodeAt(section, path) {
  return path.reduce((node, place) => node?.children[place], section);
}

/** Brings a section into sight and to the keyboard. */
function goTo(id) {
  const heading = document.querySelector(`#${id} h2`);
  heading.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  heading.focus({ preventScroll: true });
}

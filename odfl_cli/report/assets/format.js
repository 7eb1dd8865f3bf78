"use strict";
// Numbers and elements. Text always becomes a text node, never markup.

/** An element with attributes (functions are listeners) and children (texts or nodes). */
function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
function svgEl(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** A labelled list to choose from; options are [value, words]. */
function choice(words, options, chosen, onChange) {
  const select = el("select", { change: () => onChange(select.value) },
    options.map(([value, text]) => el("option", { value, selected: String(value) === String(chosen) }, text)));
  return el("label", { class: "choice" }, words, " ", select);
}

/** A labelled box to tick. */
function tick(words, checked, onChange) {
  const box = el("input", { type: "checkbox", checked, change: () => onChange(box.checked) });
  return el("label", { class: "tick" }, box, " ", words);
}

function button(words, onClick, attributes = {}) {
  return el("button", { type: "button", click: onClick, ...attributes }, words);
}

function fixed(value, places) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return (Number(value.toFixed(places)) + 0).toFixed(places).replaceAll("-", "−"); // never −0.0
}

/** Four digits. */
function shown(value) {
  return value === null || value === undefined ? "–" : digits(value, 4);
}

function digits(value, count) {
  const size = Math.abs(value);
  const isPlain = size === 0 || (size >= 1e-4 && size < 1e6);
  const text = isPlain ? String(Number(value.toPrecision(count))) : value.toExponential(count - 1).replace("e+", "e");
  return text.replaceAll("-", "−");
}

/** Three digits of any size. */
function short(value) {
  return digits(value, 3);
}

/** A mean with two digits of its interval, or with four digits if there is none. */
function plusMinus(mean, ci95, sign = "") {
  const plus = mean > 0 ? sign : "";
  if (!ci95) return plus + shown(mean);
  if (ci95 < 1e-6) return `${plus}${digits(mean, 2)} ± ${digits(ci95, 2)}`;
  const places = Math.max(0, 1 - Math.floor(Math.log10(ci95)));
  return `${plus}${fixed(mean, places)} ± ${fixed(ci95, places)}`;
}

/** All the digits that the page holds of a number on a curve. */
function exact(value) {
  return String(Number(value.toPrecision(7)));
}

function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

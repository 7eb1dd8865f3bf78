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

/** How many decimals show numbers of a size; null where three digits are better. */
function decimals(value) {
  const size = Math.abs(value);
  return size >= 1e4 ? 1 : size >= 1e-3 || size === 0 ? 4 : null;
}

function fixed(value, places) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return places === null ? short(value) : value.toFixed(places).replaceAll("-", "−");
}

/** Four decimals, or three digits of what is tiny. */
function shown(value) {
  return fixed(value, value === null || value === undefined ? 0 : decimals(value));
}

/** Three digits of any size. */
function short(value) {
  const size = Math.abs(value);
  const isPlain = size === 0 || (size >= 1e-3 && size < 1e6);
  const text = isPlain ? String(Number(value.toPrecision(3))) : value.toExponential(2).replace("e+", "e");
  return text.replaceAll("-", "−");
}

/** mean ± ci95, both with the decimals of the larger. */
function plusMinus(mean, ci95, sign = "") {
  const places = decimals(Math.max(Math.abs(mean), ci95 ?? 0));
  const spread = ci95 === null ? "" : ` ± ${fixed(ci95, places)}`;
  return (mean > 0 ? sign : "") + fixed(mean, places) + spread;
}

/** All the digits that the page holds of a number on a curve. */
function exact(value) {
  return String(Number(value.toPrecision(7)));
}

function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

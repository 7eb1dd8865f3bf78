"use strict";
// What is shown, as files: CSV, SVG, LaTeX.

function save(name, type, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function saveCsv(name, rows) {
  save(`${fileName(name)}.csv`, "text/csv", rows.map((row) => row.map(csvCell).join(",")).join("\n") + "\n");
}

/** Quoted where needed; text that a spreadsheet would take for a formula gets an apostrophe. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function fileName(text) {
  return text.replace(/[^\w.=-]+/g, "_").replace(/^[._]+|_+$/g, "").slice(0, 80) || "report";
}

const SVG_STYLE = `
text { font: 11px "DejaVu Sans", Verdana, sans-serif; fill: #262626; }
.title { font-weight: bold; font-size: 12px; }
.grid { stroke: #e3e3e3; } .axis, .tick { stroke: #262626; } .mark { stroke: #808080; stroke-dasharray: 3 3; }
.line { fill: none; } .band { opacity: .14; }`;

/** Panels below each other with one legend, as a file of its own. */
function saveSvg(name, panels, legend) {
  const sizes = panels.map((svg) => svg.viewBox.baseVal);
  const width = Math.max(...sizes.map((size) => size.width));
  let y = 0;
  const placed = panels.map((svg, i) => {
    const copy = svg.cloneNode(true);
    copy.querySelector(".cursor")?.remove();
    for (const [key, value] of Object.entries({ x: 0, y, width: sizes[i].width, height: sizes[i].height })) copy.setAttribute(key, value);
    y += sizes[i].height;
    return copy;
  });
  const entries = legend.map(({ look, name: words }, i) => svgEl("g", { transform: `translate(12 ${y + 16 + 18 * i})` },
    svgEl("line", { x1: 0, x2: 34, y1: -4, y2: -4, stroke: look.colour, "stroke-width": look.width, "stroke-dasharray": look.dash || null }),
    svgEl("text", { x: 42, y: 0 }, words)));
  const height = y + 18 * legend.length + 12;
  const whole = svgEl("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    svgEl("style", {}, SVG_STYLE), svgEl("rect", { width: "100%", height: "100%", fill: "white" }), placed, entries);
  save(`${fileName(name)}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(whole));
}

function latexText(text) {
  const special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "−": "$-$", "±": "$\\pm$", "–": "--" };
  return text.replace(/[\\~^−±–]|[&%$#_{}]/g, (c) => special[c] ?? `\\${c}`);
}

/** A booktabs table: header and rows of texts; a cell {bold, text} is bold. */
function latexTable(caption, header, rows) {
  const cell = (value) => (typeof value === "object" ? `\\textbf{${latexText(value.text)}}` : latexText(value));
  const line = (cells) => `    ${cells.map(cell).join(" & ")} \\\\`;
  return [
    "% \\usepackage{booktabs}", "\\begin{table}", "  \\centering", `  \\caption{${latexText(caption)}}`,
    `  \\begin{tabular}{l${"r".repeat(header.length - 1)}}`, "    \\toprule", line(header), "    \\midrule",
    ...rows.map(line), "    \\bottomrule", "  \\end{tabular}", "\\end{table}", "",
  ].join("\n");
}

/** A button that copies a text and says so. */
function copyButton(text, words = "Copy") {
  const node = button(words, async () => {
    await copyText(text);
    node.textContent = "Copied";
    setTimeout(() => { node.textContent = words; }, 1500);
  });
  return node;
}

/** The clipboard of a page that was opened as a file needs the older way in some browsers. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "offscreen" }, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

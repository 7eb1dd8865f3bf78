"use strict";
// Scales and their ticks.

/** Maps a domain to pixels, on a linear or logarithmic scale. */
function scale([low, high], [from, to], isLog = false) {
  const place = isLog ? Math.log10 : (value) => value;
  const [a, b] = [place(low), place(high)];
  const span = b - a || 1;
  const map = (value) => from + ((place(value) - a) / span) * (to - from);
  map.invert = (pixel) => {
    const value = a + ((pixel - from) / (to - from)) * span;
    return isLog ? 10 ** value : value;
  };
  return map;
}

/** About so many round numbers between low and high. */
function ticks([low, high], wanted, isLog = false) {
  if (isLog) {
    const found = logTicks(low, high);
    if (found.length > 1) return found;
  }
  const rough = (high - low) / wanted || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function logTicks(low, high) {
  const decades = Math.log10(high / low);
  const every = Math.max(1, Math.ceil(decades / 6));
  const factors = decades < 2 ? [1, 2, 5] : [1];
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += every) {
    for (const factor of factors) {
      const value = Number((factor * 10 ** power).toPrecision(12));
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push(value);
    }
  }
  return found;
}

function tickText(value) {
  const size = Math.abs(value);
  if (size >= 1e5 || (size !== 0 && size < 1e-3)) return value.toExponential().replace("e+", "e").replaceAll("-", "−");
  return String(value).replaceAll("-", "−");
}

// SPDX-License-Identifier: Apache-2.0
// Ticks of a time axis: round numbers, far enough apart for their labels.
const TICK_PIXELS = 110;
const TIME_SCALES = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];

// The smallest of 1, 2, 5, 10, 20, … that is not less than `value`.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((digit) => digit * power).find((round) => round >= value * 0.9999);
}

// Has enough decimals to distinguish adjacent ticks.
function tickText(ns, unit) {
  if (ns === 0) return '0';
  const [scale, name] = TIME_SCALES.find(([one]) => Math.abs(ns) >= one) ?? TIME_SCALES.at(-1);
  const decimals = Math.max(0, Math.ceil(Math.log10(scale / unit) - 1e-9));
  return `${(ns / scale).toFixed(decimals)} ${name}`;
}

// The ticks of a range: [[nanoseconds, text]].
function ticks(begin, length, pixel) {
  const unit = roundUp(TICK_PIXELS * pixel), list = [];
  for (let i = Math.ceil(begin / unit); i * unit < begin + length; ++i) {
    list.push([i * unit, tickText(i * unit, unit)]);
  }
  return list;
}

// SPDX-License-Identifier: Apache-2.0
// Elements, and numbers as text. Text from a trace becomes a text node, never markup. Numbers read
// as in the terminal: units.cpp has the same units and rounding.
'use strict';

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const key in attributes) {
    const value = attributes[key];
    if (key === 'style') Object.assign(element.style, value);
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

// Like `toFixed` of a positive number, but rounds ties to even, as C++ does: 462.25 is 462.2.
function fixed(value, decimals) {
  const isTie = value * 2 ** (decimals + 1) % 2 === 1;
  const below = Math.floor(value * 10 ** decimals);
  return (isTie && below % 2 === 0 ? below / 10 ** decimals : value).toFixed(decimals);
}

function fourDigits(value) {
  return fixed(value, value < 10 ? 3 : value < 100 ? 2 : 1);
}

const TIME_UNITS = ['ns', 'us', 'ms', 's'];

function time(us) {
  if (us === null || us === undefined) return '?';
  if (us < 0) return '-' + time(-us);
  let value = Math.round(us * 1000), unit = 0;
  while (value >= 999.95 && unit + 1 < TIME_UNITS.length) {
    value /= 1000;
    ++unit;
  }
  return `${unit === 0 ? value : fourDigits(value)} ${TIME_UNITS[unit]}`;
}

function nanoseconds(ns) {
  return time(ns / 1000);
}

function percent(share) {
  return share === null || share === undefined ? '-' : fixed(100 * share, 1) + ' %';
}

function count(value) {
  return Number.isInteger(value) ? String(value) : fixed(value, 1);
}

// "1 kernel", "132,152 kernels".
function plural(value, one, many = one + 's') {
  return `${value.toLocaleString('en-US')} ${value === 1 ? one : many}`;
}

const UNIT_SCALES = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

// A cell as a number, for sorting: "347.6 us" is 347600, "+1.5 ms" is 1.5e6. NaN for other text.
function cellValue(text) {
  const match = /^([-+]?[\d.,]+) ?([a-zA-Z]*)/.exec(text);
  if (!match) return NaN;
  return Number(match[1].replace(/,/g, '')) * (UNIT_SCALES[match[2]] ?? 1);
}

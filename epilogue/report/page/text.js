// SPDX-License-Identifier: Apache-2.0
// Numbers as text, and elements. All that comes from a trace goes into the page as text, never as
// markup.
'use strict';

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'style') Object.assign(element.style, value);
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function digits(value) {
  return value.toFixed(value < 10 ? 3 : value < 100 ? 2 : 1);
}

function time(us) {
  if (us === null || us === undefined) return '?';
  if (us < 0) return '-' + time(-us);
  if (us === 0) return '0';
  if (us < 1) return Math.round(us * 1000) + ' ns';
  if (us < 1000) return digits(us) + ' µs';
  return us < 1e6 ? digits(us / 1000) + ' ms' : digits(us / 1e6) + ' s';
}

// A sentence of the tool, which writes "us" for every terminal.
function sentence(text) {
  return text.replace(/(\d) us\b/g, '$1 µs');
}

function percent(share) {
  return share === null || share === undefined ? '-' : (100 * share).toFixed(1) + ' %';
}

function count(value) {
  return String(+value.toFixed(2));
}

// "1.234 TB/s" of 1234 GB/s.
function amount(value, unit) {
  const known = { 'GB/s': ['GB/s', 'TB/s'], 'GFLOP/s': ['GFLOP/s', 'TFLOP/s'] };
  const names = known[unit] ?? ['', 'k', 'M', 'G', 'T'].map((prefix) => prefix + unit);
  let scale = 0;
  while (scale + 1 < names.length && Math.abs(value) >= 1000) {
    value /= 1000;
    ++scale;
  }
  return `${digits(value)} ${names[scale]}`;
}

// One term of an estimate: {what, value, unit}.
function term({ what, value, unit }) {
  const texts = { us: time, share: percent, count };
  return `${what} ${texts[unit] ? texts[unit](value) : amount(value, unit)}`;
}

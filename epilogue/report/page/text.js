// SPDX-License-Identifier: Apache-2.0
// Elements, and numbers as text. Text from a trace becomes a text node, never markup. Numbers read
// as in the terminal: units.cpp has the same units and rounding.
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

// The terms of an estimate as one phrase, joined as `terms_text` in advice_words.cpp does:
// "2 kernels, 251.7 MB moved; would move 151.0 MB at this trace's 4.236 TB/s". One place per step
// is left out.
function termsText(terms) {
  let text = '';
  for (const { text: term } of terms) {
    if (/^1 (place|MLP|compiled region in a step)$/.test(term)) continue;
    const startsPrediction = term.startsWith('would ') && !text.includes('; ');
    const separator = /^(of|at) /.test(term) ? ' ' : startsPrediction ? '; ' : ', ';
    text += text === '' ? term : separator + term;
  }
  return text;
}

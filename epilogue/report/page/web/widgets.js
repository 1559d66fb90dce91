// SPDX-License-Identifier: Apache-2.0
// The data of the page, and small elements: buttons, notes, legends, side-by-side columns.
const data = JSON.parse(document.getElementById('data').textContent);
const isPair = data.files.length === 2;
let timelines = null;  // built after the rest of the page

// "GPU time", but "kernel time" for the kernels of Epilogue's CPU backend.
const DEVICE = data.files.some((file) => file.cpu_kernels) ? 'kernel' : 'GPU';

function sideBySide(build) {
  if (!isPair) return build(data.files[0], 0);
  const columns = data.files.map((file, i) =>
    make('div', {}, make('h3', {}, fileTitle(i)), build(file, i)));
  return make('div', { class: 'pair' }, ...columns);
}

function fileTitle(i) {
  return `${'AB'[i]}: ${data.files[i].file}`;
}

function quiet(text) {
  return make('p', { class: 'quiet small' }, text);
}

function quietLines(lines) {
  return lines.filter((line) => line !== '').map((line) => quiet(line));
}

function button(text, action, label) {
  const attributes = { class: 'plain', type: 'button', onclick: action };
  if (label) attributes['aria-label'] = attributes.title = label;
  return make('button', attributes, text);
}

// The letter of an idle class or of the bar in the color of its key.
function swatch(key, letter) {
  const mark = make('i', { class: `swatch ${isIdle(key) ? 'hatch' : ''}`, 'aria-hidden': 'true' },
    make('b', {}, letter ?? ''));
  mark.style.setProperty('--fill', `var(--${key})`);
  return mark;
}

function legendItem(key, letter, text) {
  return make('span', {}, swatch(key, letter), text);
}

// Copies text, also where a page from a file may not use the clipboard interface.
async function copyText(text, pressed) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make('textarea', { class: 'offscreen' });
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
  }
  pressed.dataset.text ??= pressed.textContent;
  pressed.textContent = 'copied';
  setTimeout(() => { pressed.textContent = pressed.dataset.text; }, 1200);
}

// Offers text as a file.
function saveFile(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = make('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

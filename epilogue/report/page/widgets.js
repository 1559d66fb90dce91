// SPDX-License-Identifier: Apache-2.0
// The data of the page, sections, side-by-side columns for two files, buttons and bars.
const data = JSON.parse(document.getElementById('data').textContent);
const isPair = data.files.length === 2;

// "GPU time", but "kernel time" for the kernels of Epilogue's CPU backend.
function deviceWord(cpuKernels) {
  return cpuKernels ? 'kernel' : 'GPU';
}
// For tables that show all files.
const DEVICE = deviceWord(data.files.some((file) => file.cpu_kernels));

const COLORS = ['#4493f8', '#3fb950', '#d29922', '#f85149', '#a371f7', '#39c5cf', '#db61a2'];
const OTHER_COLOR = '#8b949e';

function section(id, title, ...content) {
  document.getElementById('nav').append(make('a', { href: '#' + id }, title));
  const element = make('section', { id }, make('h2', {}, title), ...content);
  document.getElementById('main').append(element);
  return element;
}

function sideBySide(build) {
  if (!isPair) return build(data.files[0], 0);
  const columns = data.files.map((file, i) =>
    make('div', {}, make('h3', {}, `${'AB'[i]}: ${file.file}`), build(file, i)));
  return make('div', { class: 'pair' }, ...columns);
}

function quiet(text) {
  return make('p', { class: 'quiet small' }, text);
}

function button(text, action, label) {
  const attributes = { class: 'plain', type: 'button', onclick: action };
  if (label) attributes['aria-label'] = attributes.title = label;
  return make('button', attributes, text);
}

function legend(parts) {  // [[text, color]]
  return make('div', { class: 'legend' }, ...parts.map(([text, color]) =>
    make('span', {}, make('i', { style: { background: color } }), text)));
}

// The largest parts, one per color, and the sum of the others.
function largest(parts) {
  const sorted = [...parts].sort((a, b) => b[1] - a[1]);
  const others = sorted.slice(COLORS.length).reduce((sum, part) => sum + part[1], 0);
  return [...sorted.slice(0, COLORS.length), ['other', others]];
}

// A bar divided in proportion to [[name, microseconds]], with a legend.
function shares(parts, colorOf = (name, i) => COLORS[i] ?? OTHER_COLOR) {
  const total = parts.reduce((sum, part) => sum + part[1], 0) || 1;
  const shown = parts.filter((part) => part[1] > 0);
  const texts = shown.map(([name, us]) => `${name} ${time(us)}, ${percent(us / total)}`);
  const colors = shown.map(([name], i) => colorOf(name, i));
  const pieces = shown.map(([, us], i) => make('span',
    { title: texts[i], style: { flexGrow: us / total, flexBasis: 0, background: colors[i] } }));
  return make('div', {},
    make('div', { class: 'bar', role: 'img', 'aria-label': texts.join('; ') }, ...pieces),
    legend(texts.map((text, i) => [text, colors[i]])));
}

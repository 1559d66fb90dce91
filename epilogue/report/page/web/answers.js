// SPDX-License-Identifier: Apache-2.0
// The first viewport: what limits the step, where its time goes, what the GPU works on and what
// could help. All sentences come from C++.

function verdictOf(file) {
  return make('div', {},
    make('p', { class: 'verdict' }, file.verdict),
    make('p', { class: 'small compile' }, file.compile));
}

// The bar of the step. A part shows the longest time of its kind in the timeline.
function stepBar(file, index) {
  const { bar } = file;
  if (!bar) return null;
  const text = (part) => `${part.what} ${part.time}, ${fixed(100 * part.share, 0)} %`;
  const go = (part) => timelines?.showLongest(index, part.key);
  const pieces = bar.parts.map((part) => {
    const piece = make('span', { title: text(part), class: isIdle(part.key) ? 'hatch' : '',
      onclick: () => go(part), style: { flexGrow: part.share, flexBasis: 0 } });
    piece.style.setProperty('--fill', `var(--${part.key})`);
    return piece;
  });
  // The bars of two files have one scale.
  const longest = Math.max(...data.files.map((one) => one.bar?.length_ns ?? 0));
  const items = bar.parts.filter((part) => part.in_legend).map((part) =>
    make('button', { type: 'button', class: 'go', title: 'show the longest in the timeline',
      onclick: () => go(part) }, swatch(part.key, part.letter), `${part.what} ${part.time}`));
  return make('div', { class: 'step' },
    make('div', { class: 'bar-line' }, make('b', { title: 'the window of the step: from its start, or from the end of earlier GPU work, to its end or that of its GPU work' }, bar.label),
      make('div', { class: 'bar', role: 'img', style: { flexGrow: Math.max(0.03, bar.length_ns / longest) },
        'aria-label': `${bar.label}: ${bar.parts.map(text).join('; ')}` }, ...pieces)),
    make('div', { class: 'legend' }, ...items));
}

function evidence(file) {
  return make('div', { class: 'evidence' }, ...quietLines([...file.path, ...file.notes, file.mfu]));
}

function sourceLine(file) {
  return make('p', { class: 'quiet small source' },
    [file.file, ...file.source, plural(file.events, 'event')].join(' · '));
}

function answers(file, index) {
  return make('div', {}, sourceLine(file), verdictOf(file), stepBar(file, index), evidence(file));
}

// The verdict and the bar of one of two files.
function shortAnswers(file, index) {
  return make('div', {}, make('h3', {}, fileTitle(index),
    make('span', { class: 'quiet small source' }, ` · ${file.source.at(-1)}`)),
  make('p', {}, file.verdict), stepBar(file, index));
}

// What the GPU works on, and what could help.
function workAndAdvice(file, index) {
  if (!file.work) return make('div');
  const go = (row, i) => timelines?.showEvent(index, file.ranked_events[i]);
  return make('div', {},
    file.work.rows.length > 0 ? plainTable(file.work) : null, ...quietLines([file.work_note]),
    file.ranked.rows.length > 0 ? plainTable(file.ranked, { go, class: 'plain-table ranked' })
      : quiet(file.no_ranked));
}

// Kernels with the largest changes, for the first viewport of two traces.
const FIRST_CHANGES = 6;

function firstChanges() {
  const { kernels, changes, kernels_note: note } = data.differences;
  const columns = [0, 1, 2, 3, 4].map((i) => kernels.columns[i]);
  const rows = kernels.rows.filter((row, i) => changes[i] !== 'same').slice(0, FIRST_CHANGES)
    .map((row) => row.slice(0, 5));
  return rows.length === 0 ? make('div')
    : make('div', {}, plainTable({ columns, rows }, { go: (row) => findInTimeline(row[0]) }),
      quiet(note));
}

function answersSection() {
  const section = make('section', { id: 'answers', 'aria-label': 'Verdict' });
  if (isPair) {
    section.append(make('p', { class: 'verdict' }, data.differences.verdict),
      make('div', { class: 'first-look' }, make('div', {}, ...data.files.map(shortAnswers)),
        firstChanges()));
  } else {
    section.append(answers(data.files[0], 0));
  }
  return section;
}

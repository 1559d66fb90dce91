// SPDX-License-Identifier: Apache-2.0
// The sections above the timeline: verdict, steps, differences, profiler table, kernels, advice.
let timelines = null;  // built after the rest of the page

const MAX_SEARCH_LENGTH = 500;  // names in the timeline are stored with more characters

// The profiler table has all steps as "ProfilerStep*". Without the asterisk, search finds them.
function find(name) {
  timelines?.find(name.slice(0, MAX_SEARCH_LENGTH).replace(/\*$/, ''));
}

function facts(file) {
  const { medians, step_count: steps, cpu_kernels: cpuKernels } = file;
  const fact = (name, value) => make('div', { class: 'fact' },
    make('span', { class: 'quiet small' }, name), make('b', {}, value));
  const per = steps > 0 ? ' per step' : '';
  return make('div', {}, make('div', { class: 'facts' },
    fact('steps', steps > 0 ? String(steps) : 'none marked'),
    fact(`CPU time${per}`, time(medians.cpu_us_median)),
    fact(`${deviceWord(cpuKernels)} time${per}`, time(medians.gpu_us_median)),
    fact(`kernels${per}`, count(medians.kernels_median)),
    fact(`launches${per}`, count(medians.launches_median)),
    fact(cpuKernels ? 'busy' : 'GPU busy', percent(medians.busy_median))),
  steps > 1 ? quiet(`Medians of ${steps} steps.`) : null);
}

function verdictSection() {
  const compared = data.compare ? make('p', { class: 'verdict' }, data.compare.verdict) : null;
  section('verdict', 'Verdict', compared, sideBySide((file) => {
    const { summary, advice } = file;
    const unnamed = file.cpu_kernels ? 'CPU not named' : 'GPU not named';
    const source = [file.file, summary.device ?? unnamed, ...summary.versions,
      plural(summary.events, 'event')];
    return make('div', {},
      file.bound ? make('p', { class: 'verdict' }, file.bound) : null,
      make('p', { class: 'verdict ' + advice.verdict }, advice.because),
      make('p', { class: 'quiet' }, source.join(' · ')), facts(file));
  }));
}

const STEP_COLUMNS = [number('CPU', 'cpu_us', time),
  number(DEVICE === 'GPU' ? 'GPU' : 'kernel time', 'gpu_us', time),
  number('kernels', 'kernels', count), number('launches', 'launches', count),
  share('busy', 'busy'), number('idle', 'idle_us', time)];

// Steps of two files are paired by their position: the first with the first.
function stepsSection() {
  const numbered = (file) => file.steps.steps.map((row, place) => ({ ...row, place }));
  const [a, b] = data.files.map(numbered);
  const place = (row) => (row.a ?? row.b ?? row).place;
  const name = (row) => row ? row.name + (row.cold ? ' (cold)' : '') : '–';
  const names = (row) => isPair ? [...new Set([name(row.a), name(row.b)])].join(' vs ')
    : name(row);
  const hasSteps = data.files.some((file) => file.step_count > 0);
  const title = hasSteps ? 'step' : 'no steps marked';
  const first = { title, isText: true, value: place, text: names };
  const options = { go: (row) => timelines?.showStep(place(row)), mark: (row) => row.cold };
  const more = Math.max(...data.files.map((file) => file.step_count - file.steps.steps.length));
  section('steps', 'Steps', isPair
    ? sortable(pairColumns([first, ...STEP_COLUMNS]), joined(a, b, place), options)
    : sortable([first, ...STEP_COLUMNS], a, options),
  more > 0 ? quiet(`${plural(more, 'more step')}: epilogue steps`) : null,
  isPair ? pairNote() : null);
}

function pairNote() {
  return quiet(`Times and counts of B that differ from A by more than ${100 * MIN_CHANGE} % are ` +
    'colored: red if larger, green if smaller.');
}

// The numbers of steps of both traces, if they differ. Sums are then divided by them.
function stepCounts() {
  const [a, b] = data.files.map((file) => file.step_count);
  return isPair && a > 0 && b > 0 && a !== b ? [a, b] : null;
}

function perStep(rows, keys, file) {
  if (!stepCounts()) return rows;
  const divided = (row) => keys.map((key) => [key, row[key] / file.step_count]);
  return rows.map((row) => ({ ...row, ...Object.fromEntries(divided(row)) }));
}

function perStepNote() {
  const counts = stepCounts();
  if (!counts) return null;
  const [a, b] = counts.map((steps) => plural(steps, 'step'));
  return quiet(`A has ${a} and B has ${b}: times and counts are per step.`);
}

// Rows of one file, or of both files joined by `key`. `isWhole` is false if a file has more rows
// than the page shows. Then a row that is missing in one file is not marked.
function namedTable(rowsOf, key, columns, isWhole, options) {
  const cut = data.files.some((file) => !isWhole(file));
  const cutNote = cut ? quiet(`Shows only the rows with the most ${DEVICE} time.`) : null;
  if (!isPair) return make('div', {}, sortable(columns, rowsOf(data.files[0]), options), cutNote);
  const keys = columns.filter((column) => column.isSum).map((column) => column.key);
  const [a, b] = data.files.map((file) => perStep(rowsOf(file), keys, file));
  const paired = pairColumns(columns);
  const sort = paired.findIndex((column) => column.title === `${columns[options.sort].title} A`);
  const mark = (row) => !cut && (!row.a || !row.b);
  return make('div', {}, sortable(paired, joined(a, b, key), { ...options, sort, mark }), cutNote,
    perStepNote(), pairNote());
}

function nameOfRow(row) {
  return (row.a ?? row.b ?? row).name;
}

const TABLE_COLUMNS = [words('name', (row) => row.name),
  words('lane', (row) => row.lane === 'cpu' ? 'CPU' : DEVICE),
  number('calls', 'calls', count), number('self CPU', 'self_cpu_us', time),
  number('CPU total', 'cpu_total_us', time), number(`self ${DEVICE}`, 'self_device_us', time),
  number(`${DEVICE} total`, 'device_total_us', time)];

function tableSection() {
  const key = (row) => `${row.lane} ${row.annotation} ${row.name}`;
  section('table', 'Profiler table', namedTable((file) => file.table.rows, key, TABLE_COLUMNS,
    (file) => file.table.rows.length === file.row_count,
    { sort: 6, filter: 'filter by name', go: (row) => find(nameOfRow(row)) }));
}

function ofPeak(row) {
  if ((row.of_peak_flops ?? row.of_peak_bandwidth ?? null) === null) return '-';
  const flops = row.of_peak_flops ?? 0, bandwidth = row.of_peak_bandwidth ?? 0;
  return flops >= bandwidth ? fixed(100 * flops, 0) + ' % FLOP/s'
    : fixed(100 * bandwidth, 0) + ' % B/s';
}

const KERNEL_COLUMNS = [words('kernel', (row) => row.what),
  number('count', 'count', count), number('time', 'us', time), share('share', 'share'),
  { title: 'of peak', text: ofPeak,
    value: (row) => Math.max(row.of_peak_flops ?? 0, row.of_peak_bandwidth ?? 0) },
  words('name', (row) => row.name)];

const NO_DEVICE_WORK = 'The trace has no GPU work.';

function kernelKinds(file) {
  const kinds = new Map();
  for (const { kind, us } of file.breakdown.devices.flatMap((device) => device.kinds)) {
    kinds.set(kind ?? 'unknown', (kinds.get(kind ?? 'unknown') ?? 0) + us);
  }
  return kinds.size > 0 ? shares(largest([...kinds])) : quiet(NO_DEVICE_WORK);
}

function kernelsSection() {
  const search = (row) => `${KERNEL_COLUMNS[0].text(row)} ${nameOfRow(row)}`;
  section('kernels', 'Kernels', sideBySide(kernelKinds), make('p'),
    namedTable((file) => file.summary.kernels, (row) => row.name, KERNEL_COLUMNS,
      (file) => file.summary.kernels.length === file.kernel_count,
      { sort: 2, filter: 'filter kernels', search, go: (row) => find(nameOfRow(row)) }));
}

const MAX_ADVICE = 12;

function adviceItem(advice, i) {
  const event = advice.events[0]?.name;
  return make('div', { class: 'advice' }, make('b', {}, `${i + 1}. ${advice.what} `),
    event ? button('show', () => find(event), `show ${event} in the timeline`) : null,
    make('p', {}, advice.saving), quiet(termsText(advice.terms)));
}

// The subject of the advice, in a sentence.
function subjectText(subject) {
  return subject === 'trace' ? 'the trace' : subject === 'ProfilerStep*' ? 'the step' : subject;
}

function adviceSection() {
  section('advice', 'Advice', sideBySide((file) => {
    const { advice, subject } = file.advice, more = advice.length - MAX_ADVICE;
    const note = advice.length === 0 ? `No advice for ${subjectText(subject)}.`
      : more > 0 ? `${more} more: epilogue advise --all` : null;
    return make('div', {}, ...advice.slice(0, MAX_ADVICE).map((one, i) => adviceItem(one, i)),
      note ? quiet(note) : null);
  }));
}

function changesSection() {
  if (!data.compare) return;
  const list = (title, items, text) => items.length === 0 ? null : make('div', {},
    make('h3', {}, title), ...items.map((item) => make('div', { class: 'small' }, text(item))));
  const counted = (item) => `${item.count} × ${item.name}`;
  const fused = (item) => `${item.count} × ${item.ops.join(', ')} → ${item.into}`;
  const differences = (item) => item.differs.join(', ') || 'another name, the same description';
  const changed = (item) =>
    `${item.count} × ${item.op}: ${item.from} → ${item.to} (${differences(item)})`;
  const { groups, group_count: all } = data.compare, more = all - groups.length;
  const shown = groups.map((group) => make('div', { class: 'advice' },
    make('b', {}, group.name),
    list('fused', group.fused, fused), list('changed', group.changed, changed),
    list('resized', group.resized, counted), list('new in B', group.added, counted),
    list('gone in B', group.gone, counted), list('same in both', group.same, counted)));
  section('changes', 'Differences', ...shown,
    more > 0 ? quiet(`${plural(more, 'more group')}: epilogue compare --json`) : null);
}

// SPDX-License-Identifier: Apache-2.0
// What is read before the timeline: verdict, steps, differences, table, kernels, advice.
let timelines = null;  // made once the rest of the page is there

// Steps stand in the table under one name, without their number.
function find(name) {
  timelines?.find(name.replace(/\*$/, ''));
}

function facts(file) {
  const { steps } = file.steps;
  const median = (key) => {
    const list = steps.map((step) => step[key]).sort((a, b) => a - b);
    return list.length > 0 ? list[list.length >> 1] : 0;
  };
  const fact = (name, value) => make('div', { class: 'fact' },
    make('span', { class: 'quiet small' }, name), make('b', {}, value));
  return make('div', { class: 'facts' },
    fact('steps', String(file.step_count)), fact('a step, CPU', time(median('cpu_us'))),
    fact('a step, device', time(median('gpu_us'))), fact('kernels', count(median('kernels'))),
    fact('launches', count(median('launches'))), fact('device busy', percent(median('busy'))));
}

function verdictSection() {
  const compared = data.compare ? make('p', { class: 'verdict' }, data.compare.verdict) : null;
  section('verdict', 'Verdict', compared, sideBySide((file) => {
    const { summary, advice } = file;
    const from = [file.file, summary.device ?? 'unknown device', ...summary.versions,
      `${summary.events} events`];
    return make('div', {},
      make('p', { class: 'verdict ' + advice.verdict }, advice.because),
      file.bound ? make('p', {}, 'a step is bound by ' + file.bound) : null,
      make('p', { class: 'quiet' }, from.join(' · ')), facts(file));
  }));
}

const STEP_COLUMNS = [number('CPU', 'cpu_us', time), number('device', 'gpu_us', time),
  number('kernels', 'kernels', count), number('launches', 'launches', count),
  share('busy', 'busy'), number('idle', 'idle_us', time)];

// Two files' steps stand beside each other by their place: the first with the first.
function stepsSection() {
  const numbered = (file) => file.steps.steps.map((row, place) => ({ ...row, place }));
  const [a, b] = data.files.map(numbered);
  const text = (row) => row.name + (row.cold ? ' (cold)' : '');
  const place = (row) => (row.a ?? row.b ?? row).place;
  const options = { go: (row) => timelines?.goToStep(place(row)) };
  const head = { title: 'step', value: place };
  if (!isPair) {
    section('steps', 'Steps', sortable([{ ...head, text }, ...STEP_COLUMNS], a,
      { ...options, mark: (row) => row.cold }));
    return;
  }
  const names = (row) => [...new Set([row.a, row.b].map((one) => one ? text(one) : '–'))];
  const first = { ...head, text: (row) => names(row).join(' beside ') };
  section('steps', 'Steps', sortable(pairColumns(first, STEP_COLUMNS),
    joined(a, b, (row) => row.place), options), pairNote());
}

function pairNote() {
  return quiet(`B is marked where it differs from A by more than ${100 * NOTICED} %: ` +
    'more in red, less in green.');
}

const TABLE_COLUMNS = [number('calls', 'calls', count), number('self CPU', 'self_cpu_us', time),
  number('CPU total', 'cpu_total_us', time), number('self device', 'self_device_us', time),
  number('device total', 'device_total_us', time)];

// Sums of traces with other numbers of steps are divided by them.
function perStep(rows, keys, file) {
  const [a, b] = data.files.map((one) => one.step_count);
  if (a === b || a === 0 || b === 0) return rows;
  const steps = file.step_count;
  return rows.map((row) =>
    ({ ...row, ...Object.fromEntries(keys.map((key) => [key, row[key] / steps])) }));
}

function perStepNote() {
  const [a, b] = data.files.map((file) => file.step_count);
  if (a === b || a === 0 || b === 0) return null;
  return quiet(`A has ${a} steps and B has ${b}: sums of a trace are divided by its steps.`);
}

// Rows of one file, or of both joined by name, under what `label` says of a row.
function namedTable(rowsOf, title, label, columns, options) {
  const said = (row) => label(row.a ?? row.b ?? row);
  const first = { title, value: said, text: said };
  if (!isPair) return sortable([first, ...columns], rowsOf(data.files[0]), options);
  const keys = columns.filter((column) => column.isSum).map((column) => column.key);
  const [a, b] = data.files.map((file) => perStep(rowsOf(file), keys, file));
  const place = options.sort * 2 - 1;  // of A
  return make('div', {}, sortable(pairColumns(first, columns), joined(a, b, (row) => row.name),
    { ...options, sort: place, mark: (row) => !row.a || !row.b }), perStepNote(), pairNote());
}

function tableSection() {
  section('table', 'Table', namedTable((file) => file.table.rows, 'name', (row) => row.name,
    TABLE_COLUMNS, { sort: 5, filter: 'filter names', go: (row) => find(row.name) }));
}

function ofPeak(row) {
  const flops = row.of_peak_flops ?? 0, bandwidth = row.of_peak_bandwidth ?? 0;
  if (flops === 0 && bandwidth === 0) return '-';
  return flops > bandwidth ? percent(flops) + ' FLOP/s' : percent(bandwidth) + ' B/s';
}

const KERNEL_COLUMNS = [number('count', 'count', count), number('time', 'us', time),
  share('share', 'share'),
  { title: 'of peak', text: ofPeak,
    value: (row) => Math.max(row.of_peak_flops ?? 0, row.of_peak_bandwidth ?? 0) }];

function kernelKinds(file) {
  const kinds = new Map();
  for (const { kind, us } of file.breakdown.devices.flatMap((device) => device.kinds)) {
    kinds.set(kind ?? 'unknown', (kinds.get(kind ?? 'unknown') ?? 0) + us);
  }
  return shares([...kinds].sort((a, b) => b[1] - a[1]));
}

function kernelsSection() {
  const name = { title: 'name', value: (row) => row.name, text: (row) => row.name };
  const columns = isPair ? KERNEL_COLUMNS : [...KERNEL_COLUMNS, name];
  section('kernels', 'Kernels', sideBySide(kernelKinds), make('p'),
    namedTable((file) => file.summary.kernels, 'kernel', (row) => row.what, columns,
      { sort: 2, filter: 'filter kernels', go: (row) => find(row.name) }));
}

const MOST_ADVICE = 12;

function saving(one, file) {
  const { low, likely, high } = one.saving_us;
  if (high <= 0) return null;
  const whose = file.cpu_kernels ? "the kernels'" : "the GPU's";
  const text = `saves ${time(likely)} (${time(low)} to ${time(high)}) of ${whose} ${one.saves} ` +
    `a step, ${one.sureness}`;
  return make('p', {}, text);
}

function advised(one, i, file) {
  const event = one.events[0]?.name;
  return make('div', { class: 'advice' }, make('b', {}, `${i + 1}. ${one.what} `),
    event ? button('show', () => find(event), `find ${event} in the timeline`) : null,
    saving(one, file), quiet(one.terms.map(term).join(' · ')));
}

function adviceSection() {
  section('advice', 'Advice', sideBySide((file) => {
    const { advice } = file.advice, more = advice.length - MOST_ADVICE;
    const note = advice.length === 0 ? 'nothing was found that would help'
      : more > 0 ? `and ${more} more: epilogue advise --all` : null;
    return make('div', {}, ...advice.slice(0, MOST_ADVICE).map((one, i) => advised(one, i, file)),
      note ? quiet(note) : null);
  }));
}

const MOST_GROUPS = 8;

function changesSection() {
  if (!data.compare) return;
  const list = (title, items, text) => items.length === 0 ? null : make('div', {},
    make('h3', {}, title), ...items.map((item) => make('div', { class: 'small' }, text(item))));
  const counted = (item) => `${item.count} × ${item.name}`;
  const { groups } = data.compare, more = groups.length - MOST_GROUPS;
  const shown = groups.slice(0, MOST_GROUPS).map((group) => make('div', { class: 'advice' },
    make('b', {}, group.name),
    list('fused', group.fused, (item) => `${item.ops.join(', ')} → ${item.into}`),
    list('changed', group.changed,
      (item) => `${item.op}: ${item.from} → ${item.to} (${item.differs.join(', ')})`),
    list('resized', group.resized, counted), list('new in B', group.added, counted),
    list('gone in B', group.gone, counted), list('the same', group.same, counted)));
  section('changes', 'Differences', ...shown,
    more > 0 ? quiet(`and ${more} more: epilogue compare`) : null);
}

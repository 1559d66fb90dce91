// SPDX-License-Identifier: Apache-2.0
// What is read before the timeline: verdict, steps, differences, table, kernels, advice.
let timelines = null;  // made once the rest of the page is there

const LONGEST_SEARCH = 500;  // texts of the timeline are longer

// Steps stand in the table under one name, without their number.
function find(name) {
  timelines?.find(name.slice(0, LONGEST_SEARCH).replace(/\*$/, ''));
}

function facts(file) {
  const { medians, step_count: steps } = file;
  const fact = (name, value) => make('div', { class: 'fact' },
    make('span', { class: 'quiet small' }, name), make('b', {}, value));
  const whole = steps > 0 ? 'a step' : 'the whole trace';
  return make('div', { class: 'facts' },
    fact('steps', steps > 0 ? String(steps) : 'none marked'),
    fact(`${whole}, CPU`, time(medians.cpu_us_median)),
    fact(`${whole}, device`, time(medians.gpu_us_median)),
    fact('kernels', count(medians.kernels_median)),
    fact('launches', count(medians.launches_median)),
    fact('device busy', percent(medians.busy_median)));
}

function verdictSection() {
  const compared = data.compare
    ? make('p', { class: 'verdict' }, sentence(data.compare.verdict)) : null;
  section('verdict', 'Verdict', compared, sideBySide((file) => {
    const { summary, advice } = file;
    const from = [file.file, summary.device ?? 'unknown device', ...summary.versions,
      `${summary.events} events`];
    return make('div', {},
      file.bound ? make('p', { class: 'verdict' }, sentence(file.bound)) : null,
      make('p', { class: 'verdict ' + advice.verdict }, sentence(advice.because)),
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
  const place = (row) => (row.a ?? row.b ?? row).place;
  const name = (row) => row ? row.name + (row.cold ? ' (cold)' : '') : '–';
  const names = (row) => isPair ? [...new Set([name(row.a), name(row.b)])].join(' beside ')
    : name(row);
  const first = { title: 'step', isText: true, value: place, text: names };
  const options = { go: (row) => timelines?.showStep(place(row)), mark: (row) => row.cold };
  const more = Math.max(...data.files.map((file) => file.step_count - file.steps.steps.length));
  section('steps', 'Steps', isPair
    ? sortable(pairColumns([first, ...STEP_COLUMNS]), joined(a, b, place), options)
    : sortable([first, ...STEP_COLUMNS], a, options),
  more > 0 ? quiet(`and ${more} more: epilogue steps`) : null, isPair ? pairNote() : null);
}

function pairNote() {
  return quiet(`Sums of B are marked where they differ from A's by more than ${100 * NOTICED} %: ` +
    'more in red, less in green.');
}

// Sums of traces with other numbers of steps are divided by them.
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
  return quiet(`A has ${counts[0]} steps and B has ${counts[1]}: sums of a trace are divided by ` +
    'its steps.');
}

// Rows of one file, or of both joined by `key`. `isWhole` says whether a file's rows are all there
// are: of others nothing can be said to be missing.
function namedTable(rowsOf, key, columns, isWhole, options) {
  const cut = data.files.some((file) => !isWhole(file));
  const cutNote = cut ? quiet('Only the rows with the most device time are shown.') : null;
  if (!isPair) return make('div', {}, sortable(columns, rowsOf(data.files[0]), options), cutNote);
  const keys = columns.filter((column) => column.isSum).map((column) => column.key);
  const [a, b] = data.files.map((file) => perStep(rowsOf(file), keys, file));
  const paired = pairColumns(columns);
  const sort = paired.findIndex((column) => column.title === `${columns[options.sort].title} A`);
  const mark = (row) => !cut && (!row.a || !row.b);
  return make('div', {}, sortable(paired, joined(a, b, key), { ...options, sort, mark }), cutNote,
    perStepNote(), pairNote());
}

function named(row) {
  return (row.a ?? row.b ?? row).name;
}

const TABLE_COLUMNS = [words('name', (row) => row.name),
  words('lane', (row) => row.lane === 'cpu' ? 'CPU' : row.lane),
  number('calls', 'calls', count), number('self CPU', 'self_cpu_us', time),
  number('CPU total', 'cpu_total_us', time), number('self device', 'self_device_us', time),
  number('device total', 'device_total_us', time)];

function tableSection() {
  const key = (row) => `${row.lane} ${row.annotation} ${row.name}`;
  section('table', 'Table', namedTable((file) => file.table.rows, key, TABLE_COLUMNS,
    (file) => file.table.rows.length === file.row_count,
    { sort: 6, filter: 'filter names', go: (row) => find(named(row)) }));
}

function ofPeak(row) {
  const flops = row.of_peak_flops ?? 0, bandwidth = row.of_peak_bandwidth ?? 0;
  if (flops === 0 && bandwidth === 0) return '-';
  return flops > bandwidth ? percent(flops) + ' FLOP/s' : percent(bandwidth) + ' B/s';
}

const KERNEL_COLUMNS = [words('kernel', (row) => row.what),
  number('count', 'count', count), number('time', 'us', time), share('share', 'share'),
  { title: 'of peak', text: ofPeak,
    value: (row) => Math.max(row.of_peak_flops ?? 0, row.of_peak_bandwidth ?? 0) },
  words('name', (row) => row.name)];

function kernelKinds(file) {
  const kinds = new Map();
  for (const { kind, us } of file.breakdown.devices.flatMap((device) => device.kinds)) {
    kinds.set(kind ?? 'unknown', (kinds.get(kind ?? 'unknown') ?? 0) + us);
  }
  return kinds.size > 0 ? shares(largest([...kinds])) : quiet('No device work is recorded.');
}

function kernelsSection() {
  const search = (row) => `${KERNEL_COLUMNS[0].text(row)} ${named(row)}`;
  section('kernels', 'Kernels', sideBySide(kernelKinds), make('p'),
    namedTable((file) => file.summary.kernels, (row) => row.name, KERNEL_COLUMNS,
      (file) => file.summary.kernels.length === file.kernel_count,
      { sort: 2, filter: 'filter kernels', search, go: (row) => find(named(row)) }));
}

const MOST_ADVICE = 12;

function advised(one, i) {
  const event = one.events[0]?.name;
  return make('div', { class: 'advice' }, make('b', {}, `${i + 1}. ${sentence(one.what)} `),
    event ? button('show', () => find(event), `find ${event} in the timeline`) : null,
    make('p', {}, sentence(one.saving)), quiet(one.terms.map(term).join(' · ')));
}

function adviceSection() {
  section('advice', 'Advice', sideBySide((file) => {
    const { advice } = file.advice, more = advice.length - MOST_ADVICE;
    const note = advice.length === 0 ? 'no advice for this step'
      : more > 0 ? `and ${more} more: epilogue advise --all` : null;
    return make('div', {}, ...advice.slice(0, MOST_ADVICE).map((one, i) => advised(one, i)),
      note ? quiet(note) : null);
  }));
}

function changesSection() {
  if (!data.compare) return;
  const list = (title, items, text) => items.length === 0 ? null : make('div', {},
    make('h3', {}, title), ...items.map((item) => make('div', { class: 'small' }, text(item))));
  const counted = (item) => `${item.count} × ${item.name}`;
  const { groups, group_count: all } = data.compare, more = all - groups.length;
  const shown = groups.map((group) => make('div', { class: 'advice' },
    make('b', {}, group.name),
    list('fused', group.fused, (item) => `${item.ops.join(', ')} → ${item.into}`),
    list('changed', group.changed,
      (item) => `${item.op}: ${item.from} → ${item.to} (${item.differs.join(', ')})`),
    list('resized', group.resized, counted), list('new in B', group.added, counted),
    list('gone in B', group.gone, counted), list('the same', group.same, counted)));
  section('changes', 'Differences', ...shown,
    more > 0 ? quiet(`and ${more} more: epilogue compare`) : null);
}

// SPDX-License-Identifier: Apache-2.0
// The tabs: differences, kernels, profiler table, steps, GEMMs, breakdown, advice, trace quality.
// Each builder returns {element, find(words), filter(words), onShow(), print(printing)}; the last two
// are optional.

const MAX_SEARCH_LENGTH = 500;  // names in the timeline are stored with more characters

// The profiler table has all steps as "ProfilerStep*". Without the asterisk, search finds them.
function findInTimeline(name) {
  timelines?.find(name.slice(0, MAX_SEARCH_LENGTH).replace(/\*$/, ''));
}

// Rows that a search found: their number, and their time on the device and on threads.
function foundRows(rows, times) {
  const sums = { rows: rows.length, device: 0, host: 0 };
  for (const row of rows) {
    const { device = 0, host = 0 } = times(row);
    sums.device += device;
    sums.host += host;
  }
  return sums;
}

// A section around one table. `times` has the microseconds of a row: {device, host}.
function tableSection(table, times, ...notes) {
  return {
    element: make('div', {}, table.element, ...notes),
    find: (text) => foundRows(table.matches(text), times),
    filter: (text) => table.setFilter(text),
    onShow: () => table.draw(),
    print: (printing) => table.draw(printing),
  };
}

// The numbers of steps of both traces, if they differ. Sums are then divided by them.
function stepCounts() {
  const [a, b] = data.files.map((file) => file.step_count);
  return isPair && a > 0 && b > 0 && a !== b ? [a, b] : null;
}

function perStep(rows, keys, file) {
  if (!stepCounts()) return rows;
  const divided = (row) => keys.filter((key) => row[key] !== null)
    .map((key) => [key, row[key] / file.step_count]);
  return rows.map((row) => ({ ...row, ...Object.fromEntries(divided(row)) }));
}

function pairNotes() {
  const counts = stepCounts();
  return [counts ? quiet(`A has ${plural(counts[0], 'step')} and B has ` +
    `${plural(counts[1], 'step')}: times and counts are per step.`) : null,
  quiet(`Times and counts of B that differ from A by more than ` +
    `${100 * data.differences.min_change} % are colored: red if larger, green if smaller. Rows ` +
    'that only one trace has are marked.')];
}

// Rows of one file, or of both files joined by `key`. `isWhole` is false if a file has more rows
// than the page shows. Then a row that is missing in one file is not marked.
function namedTable({ rowsOf, key, columns, isWhole, times, options }) {
  const cut = data.files.some((file) => !isWhole(file));
  const cutNote = cut ? quiet(`Shows only the rows with the most ${DEVICE} time.`) : null;
  const one = (row) => row.a ?? row.b ?? row;
  const shared = { ...options, kind: (row) => one(row).kind, raw: (row) => one(row).name,
    search: (row) => `${one(row).what ?? ''} ${one(row).name}`, goLabel: 'show in the timeline',
    go: (row) => findInTimeline(one(row).name) };
  if (!isPair) {
    return tableSection(new DataTable(columns, rowsOf(data.files[0]), shared), times, cutNote);
  }
  const keys = columns.filter((column) => column.isSum).map((column) => column.key);
  const [a, b] = data.files.map((file) => perStep(rowsOf(file), keys, file));
  const paired = pairColumns(columns);
  const sort = paired.findIndex((column) => column.title === `${columns[options.sort].title} A`);
  const mark = (row) => !cut && (!row.a || !row.b);
  const table = new DataTable(paired, joined(a, b, key), { ...shared, sort, mark });
  return tableSection(table, ({ a: inA, b: inB }) => {
    const sides = [inA, inB].filter((side) => side).map(times);
    return { device: sides.reduce((sum, { device = 0 }) => sum + device, 0),
      host: sides.reduce((sum, { host = 0 }) => sum + host, 0) };
  }, cutNote, ...pairNotes());
}

const TABLE_COLUMNS = [words('name', (row) => row.what ?? row.name),
  words('lane', (row) => (row.device ? DEVICE : 'CPU') + (row.annotation ? ' annotation' : '')),
  number('calls', 'calls', count), number('self CPU', 'self_cpu_us', time),
  number('CPU total', 'cpu_total_us', time), number(`self ${DEVICE}`, 'self_device_us', time),
  number(`${DEVICE} total`, 'device_total_us', time)];

function hasDeviceTime() {
  return data.files.some((file) => file.kernels.length > 0);
}

function profilerTable() {
  return namedTable({
    rowsOf: (file) => file.table, columns: TABLE_COLUMNS,
    key: (row) => `${row.device} ${row.annotation} ${row.name}`,
    isWhole: (file) => file.table.length === file.row_count,
    times: (row) => row.device ? { device: row.self_device_us ?? 0 } : { host: row.self_cpu_us },
    options: { sort: hasDeviceTime() ? 5 : 3, filter: 'filter by name', label: 'profiler table' },
  });
}

const KERNEL_COLUMNS = [words('kernel', (row) => row.what), number('count', 'count', count),
  number('time', 'us', time), { ...number('share', 'share', percent), isSum: false },
  { title: 'of peak', right: true, isWide: true, text: (row) => row.peak, value: (row) => cellValue(row.peak) || 0 }];

function kernelsTable() {
  return namedTable({
    rowsOf: (file) => file.kernels, key: (row) => row.name, columns: KERNEL_COLUMNS,
    isWhole: (file) => file.kernels.length === file.kernel_count,
    times: (row) => ({ device: row.us }),
    options: { sort: 2, filter: 'filter kernels', label: 'kernels' },
  });
}

// Tables of the command line, one per file. `go` gets a row and the index of the file.
function textTables(tableOf, noteOf, options = {}) {
  const tables = [];
  const element = sideBySide((file, index) => {
    const rows = tableOf(file).rows, place = new Map(rows.map((row, i) => [row, i]));
    const table = new DataTable(textColumns(tableOf(file)), rows, { ...options,
      go: options.go ? (row) => options.go(row, place.get(row), index) : undefined });
    tables.push(table);
    return make('div', {}, table.element, ...quietLines([noteOf?.(file) ?? '']));
  });
  return {
    element,
    find: (text) => foundRows(tables.flatMap((table) => table.matches(text)), options.times),
    filter: (text) => tables.forEach((table) => table.setFilter(text)),
    onShow: () => tables.forEach((table) => table.draw()),
    print: (printing) => tables.forEach((table) => table.draw(printing)),
  };
}

function stepsTable() {
  return textTables((file) => file.steps, (file) => file.more_steps > 0
    ? `${plural(file.more_steps, 'more step')}: epilogue steps` : '', {
    filter: 'filter steps', label: 'steps', goLabel: 'show in the timeline',
    times: (row) => ({ host: cellValue(row[2]) / 1000, device: cellValue(row[3]) / 1000 }),
    go: (row, place) => timelines?.showStep(place),
  });
}

function gemmsTable() {
  return textTables((file) => file.gemms, (file) => file.gemms_note, {
    filter: 'filter GEMMs', label: 'GEMMs', search: (row) => row.slice(0, 3).join(' '),
    go: (row) => findInTimeline(row[0]), goLabel: 'show in the timeline', sort: 5,
    times: (row) => ({ device: cellValue(row[5]) / 1000 }),
  });
}

function staticSection(element, texts) {
  return { element, filter: () => {}, find: (words) => foundRows(
    texts.filter((text) => text.toLowerCase().includes(words.toLowerCase())), () => ({})) };
}

function breakdownSection() {
  return staticSection(sideBySide((file) => file.devices.length === 0 ? quiet(file.verdict)
    : make('div', {}, ...file.devices.map((device) => make('div', {},
      make('h3', {}, device.title),
      make('div', { class: 'columns' }, ...device.parts.map(({ table, below }) => make('div', {},
        plainTable(table), ...quietLines(below.split('\n'))))))))),
  data.files.flatMap((file) => file.devices.flatMap((device) => device.parts.flatMap(
    ({ table, below }) => [...table.rows.map((row) => row.join(' ')), ...below.split('\n')]))));
}

function adviceSection() {
  const texts = data.files.flatMap((file) =>
    file.advice.map((one) => [one.title, ...one.lines].join(' ')));
  return staticSection(sideBySide((file, index) => {
    const more = file.advice_count - file.advice.length;
    const items = file.advice.map((one, i) => make('div', { class: 'advice' },
      make('b', {}, `${i + 1}. ${one.title} `),
      one.event >= 0 ? button('show', () => timelines?.showEvent(index, one.event),
        'show in the timeline') : null,
      make('p', {}, one.lines[0]), ...quietLines([one.lines[1]])));
    return make('div', {}, quiet(file.compile), ...items,
      file.advice.length === 0 ? quiet(file.no_advice) : null,
      more > 0 ? quiet(`${more} more: epilogue advise --all`) : null);
  }), texts);
}

// What makes the numbers less sure, and what the page leaves out.
function qualitySection() {
  return staticSection(sideBySide((file, index) => {
    const notes = [...file.quality, ...timelines.views[index].timeline.notes];
    return notes.length === 0 ? quiet('No defects were found in the trace.')
      : make('ul', {}, ...notes.map((note) => make('li', {}, note)));
  }), data.files.flatMap((file, i) => [...file.quality, ...timelines.views[i].timeline.notes]));
}

function differencesSection() {
  const { kernels, kinds, changes, kernels_note: note, groups, group_count: all } = data.differences;
  const kindOf = new Map(kernels.rows.map((row, i) => [row, kinds[i]]));
  const changeOf = new Map(kernels.rows.map((row, i) => [row, changes[i]]));
  const table = new DataTable(textColumns(kernels), kernels.rows, {
    filter: 'filter kernels', label: 'kernels that differ', kind: (row) => kindOf.get(row),
    go: (row) => findInTimeline(row[0]), goLabel: 'show in the timeline',
    mark: (row) => ['new', 'gone'].includes(changeOf.get(row)),
  });
  const group = ({ title, measures, lines }) => make('div', { class: 'advice' },
    make('h3', {}, title), plainTable(measures),
    make('dl', {}, ...lines.flatMap(([name, text]) => [make('dt', {}, name || '\u00a0'),
      make('dd', {}, text)])));
  const more = all - groups.length;
  const times = (row) => ({ device: ((cellValue(row[3]) || 0) + (cellValue(row[4]) || 0)) / 1000 });
  return tableSection(table, times, quiet(note), ...groups.map(group),
    more > 0 ? quiet(`${plural(more, 'more group')}: epilogue compare`) : null);
}

// SPDX-License-Identifier: Apache-2.0
// The sections of the page. Everything from the trace goes into the page as text, never as markup.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const COLORS = ['#4493f8', '#3fb950', '#d29922', '#f85149', '#a371f7', '#39c5cf', '#db61a2', '#8b949e'];

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'style') Object.assign(element.style, value);
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

function digits(value) { return value < 10 ? value.toFixed(3) : value < 100 ? value.toFixed(2) : value.toFixed(1); }
function time(us) {
  if (us === null || us === undefined) return '?';
  if (us < 0) return '-' + time(-us);
  if (us === 0) return '0';
  if (us < 1) return Math.round(us * 1000) + ' ns';
  if (us < 1000) return digits(us) + ' µs';
  return us < 1e6 ? digits(us / 1000) + ' ms' : digits(us / 1e6) + ' s';
}
function amount(value, unit) {
  const scales = unit === 'GB/s' ? [['GB/s', 1], ['TB/s', 1e3]] : unit === 'GFLOP/s' ? [['GFLOP/s', 1], ['TFLOP/s', 1e3]]
    : [[unit, 1], ['k' + unit, 1e3], ['M' + unit, 1e6], ['G' + unit, 1e9], ['T' + unit, 1e12]];
  const [name, scale] = scales.filter((one) => Math.abs(value) >= one[1]).pop() ?? scales[0];
  return `${digits(value / scale)} ${name}`;
}
function term(one) {
  const value = one.unit === 'us' ? time(one.value) : one.unit === 'share' ? percent(one.value)
    : one.unit === 'count' ? +one.value.toFixed(2) : amount(one.value, one.unit);
  return `${one.what} ${value}`;
}
function percent(share) { return share === null ? '-' : (100 * share).toFixed(1) + ' %'; }

// Columns: {title, value(row) for sorting, text(row)}. Sorts on a click; `filter` keeps rows whose first cell has the words.
function sortable(columns, rows, options = {}) {
  const body = make('tbody');
  let order = options.sort ?? -1, down = true, words = '';
  const most = options.most ?? 300;
  function draw() {
    let list = words ? rows.filter((row) => columns[0].text(row).toLowerCase().includes(words)) : rows.slice();
    if (order >= 0) {
      const value = columns[order].value;
      list.sort((a, b) => { const x = value(a), y = value(b); return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1); });
    }
    body.replaceChildren(...list.slice(0, most).map((row) => make('tr', options.mark?.(row) ? { class: 'mark' } : {},
      ...columns.map((column) => make('td', { title: column.text(row) }, column.text(row))))));
    if (list.length > most) body.append(make('tr', {}, make('td', { colspan: columns.length, class: 'quiet' }, `and ${list.length - most} more rows`)));
    heads.forEach((head, i) => head.setAttribute('aria-sort', i === order ? (down ? 'descending' : 'ascending') : 'none'));
  }
  const heads = columns.map((column, i) => make('th', { scope: 'col' }, make('button', {
    type: 'button', onclick: () => { down = order === i ? !down : true; order = i; draw(); } }, column.title)));
  draw();
  const table = make('div', { class: 'scroll' }, make('table', {}, make('thead', {}, make('tr', {}, ...heads)), body));
  if (!options.filter) return table;
  const field = make('input', { type: 'search', placeholder: options.filter, 'aria-label': options.filter,
    oninput: () => { words = field.value.toLowerCase(); draw(); } });
  return make('div', {}, field, table);
}

function shares(parts) {  // [[name, value]]
  const total = parts.reduce((sum, part) => sum + part[1], 0) || 1;
  const shown = parts.filter((part) => part[1] > 0);
  return make('div', {},
    make('div', { class: 'bar', role: 'img', 'aria-label': shown.map(([name, value]) => `${name} ${percent(value / total)}`).join(', ') },
      ...shown.map(([name, value], i) => make('span', { title: `${name} ${percent(value / total)}`, style: { flexGrow: value / total, flexBasis: 0, background: COLORS[i % 8] } }))),
    make('div', { class: 'legend' }, ...shown.map(([name, value], i) => make('span', {},
      make('i', { style: { background: COLORS[i % 8] } }), `${name} ${time(value)}, ${percent(value / total)}`))));
}

function section(id, title, ...content) {
  document.getElementById('nav').append(make('a', { href: '#' + id }, title));
  const element = make('section', { id }, make('h2', {}, title), ...content);
  document.getElementById('main').append(element);
  return element;
}
function sideBySide(build) {
  return data.files.length === 1 ? build(data.files[0], 0)
    : make('div', { class: 'pair' }, ...data.files.map((file, i) => make('div', {}, make('h3', {}, file.file), build(file, i))));
}

function verdict() {
  const parts = [];
  if (data.compare) parts.push(make('p', { class: 'verdict' }, data.compare.verdict));
  parts.push(sideBySide((file) => {
    const { summary, advice } = file, median = (key) => {
      const list = summary.steps.map((step) => step[key]).sort((a, b) => a - b);
      return list.length ? list[list.length >> 1] : 0;
    };
    const fact = (name, value) => make('div', { class: 'fact' }, make('span', { class: 'quiet small' }, name), make('b', {}, value));
    return make('div', {},
      make('p', { class: 'verdict ' + advice.verdict }, advice.because),
      file.bound ? make('p', {}, 'a step is bound by ' + file.bound) : null,
      make('p', { class: 'quiet' }, [file.file, summary.device ?? 'unknown device', ...summary.versions, `${summary.events} events`].join(' · ')),
      make('div', { class: 'facts' }, fact('steps', summary.steps.length), fact('a step, CPU', time(median('cpu_us'))), fact('a step, device', time(median('gpu_us'))),
        fact('kernels', median('kernels')), fact('launches', median('launches')), fact('device busy', percent(median('busy')))));
  }));
  section('verdict', 'Verdict', ...parts);
}

const NUMBER = (title, key, text) => ({ title, value: (row) => row[key], text: (row) => text(row[key]) });
const PLAIN = (value) => String(value);

function steps() {
  section('steps', 'Steps', sideBySide((file) => {
    const columns = [{ title: 'step', value: (row) => row.name, text: (row) => row.name + (row.cold ? ' (cold)' : '') },
      NUMBER('CPU', 'cpu_us', time), NUMBER('GPU', 'gpu_us', time), NUMBER('kernels', 'kernels', PLAIN),
      NUMBER('launches', 'launches', PLAIN), NUMBER('busy', 'busy', percent), NUMBER('idle', 'idle_us', time)];
    const other = data.files.length === 2 ? data.files[1 - data.files.indexOf(file)].steps.steps : null;
    const differs = (row) => other !== null && other[file.steps.steps.indexOf(row)]?.kernels !== row.kernels;
    return sortable(columns, file.steps.steps, { mark: (row) => row.cold || differs(row) });
  }));
}

function table() {
  section('table', 'Table', sideBySide((file) => sortable([
    { title: 'name', value: (row) => row.name, text: (row) => row.name }, NUMBER('calls', 'calls', PLAIN),
    NUMBER('self CPU', 'self_cpu_us', time), NUMBER('CPU total', 'cpu_total_us', time),
    NUMBER('self GPU', 'self_device_us', time), NUMBER('GPU total', 'device_total_us', time)],
  file.table.rows, { sort: 5, filter: 'filter names' })));
}

function kernels() {
  section('kernels', 'Kernels', sideBySide((file) => {
    const kinds = new Map();
    for (const device of file.breakdown.devices) for (const kind of device.kinds) kinds.set(kind.kind ?? 'unknown', (kinds.get(kind.kind ?? 'unknown') ?? 0) + kind.us);
    return make('div', {}, shares([...kinds].sort((a, b) => b[1] - a[1])), make('p', {}), sortable([
      { title: 'kernel', value: (row) => row.what, text: (row) => row.what }, NUMBER('count', 'count', PLAIN), NUMBER('time', 'us', time), NUMBER('share', 'share', percent),
      { title: 'of peak', value: (row) => Math.max(row.of_peak_flops ?? 0, row.of_peak_bandwidth ?? 0),
        text: (row) => row.of_peak_flops > (row.of_peak_bandwidth ?? 0) ? percent(row.of_peak_flops) + ' FLOP/s' : row.of_peak_bandwidth ? percent(row.of_peak_bandwidth) + ' B/s' : '-' },
      { title: 'name', value: (row) => row.name, text: (row) => row.name }],
    file.summary.kernels, { sort: 2, filter: 'filter kernels' }));
  }));
}

function idle() {
  section('idle', 'Where the time goes', sideBySide((file) => make('div', {}, ...file.breakdown.devices.map((device) => {
    const parts = [['compute', device.compute_us], ['communication alone', device.exposed_communication_us], ['copies alone', device.exposed_memory_us], ['idle', device.idle_us]];
    const causes = [...Object.entries(device.idle.cpu).map(([key, us]) => ['CPU: ' + key.replace(/_us$/, '').replace(/_/g, ' '), us]),
      ['on its way', device.idle.on_its_way_us], ['between kernels', device.idle.between_kernels_us], ['unknown', device.idle.unknown_us]];
    return make('div', {}, make('h3', {}, `device ${device.device}: ${time(device.window_us)}`), shares(parts), make('h3', {}, 'idle, because the next work waited for'), shares(causes.sort((a, b) => b[1] - a[1])));
  }))));
}

function advice() {
  section('advice', 'Advice', sideBySide((file) => make('div', {}, ...file.advice.advice.slice(0, 12).map((one, i) => make('div', { class: 'advice' },
    make('b', {}, `${i + 1}. ${one.what}`),
    make('p', {}, one.saving_us.high > 0 ? `saves ${time(one.saving_us.likely)} (${time(one.saving_us.low)} to ${time(one.saving_us.high)}) of the GPU's ${one.saves} a step, ${one.sureness}` : ''),
    make('p', { class: 'quiet small' }, one.terms.map(term).join(' · '))
  )), make('p', { class: 'quiet small' }, file.advice.advice.length === 0 ? 'nothing was found that would help' : file.advice.advice.length > 12 ? `and ${file.advice.advice.length - 12} more: epilogue advise --all` : ''))));
}

function changes() {
  if (!data.compare) return;
  const rows = (group) => {
    const list = (title, items, text) => items.length ? make('div', {}, make('h3', {}, title), ...items.map((item) => make('div', { class: 'small' }, text(item)))) : null;
    const count = (item) => `${item.count} × ${item.name}`;
    return make('div', { class: 'advice' }, make('b', {}, group.name),
      list('fused', group.fused, (item) => `${item.ops.join(', ')} → ${item.into}`),
      list('changed', group.changed, (item) => `${item.op}: ${item.from} → ${item.to} (${item.differs.join(', ')})`),
      list('resized', group.resized, count), list('new in B', group.added, count), list('gone in B', group.gone, count), list('the same', group.same, count));
  };
  section('changes', 'Differences', ...data.compare.groups.slice(0, 8).map(rows), data.compare.groups.length > 8 ? make('p', { class: 'quiet small' }, `and ${data.compare.groups.length - 8} more: epilogue compare`) : null);
}

// SPDX-License-Identifier: Apache-2.0
// Descriptions of what is selected or pointed at: an event, an idle interval, a span of short
// events, a range of time.
const MAX_NAMES = 6, MAX_SUMS = 8;

function detailLine(name, ...values) {
  const shown = values.filter((value) => value !== null && value !== undefined && value !== '');
  return shown.length === 0 ? null
    : make('div', {}, make('span', { class: 'quiet' }, name + ' '), ...shown);
}

// A name that selects its event, if the timeline draws it individually.
function eventLink(view, id, name) {
  if (name === null) return null;
  if (id < 0) return name;
  return make('button', { type: 'button', class: 'link',
    onclick: () => view.group.select(view, id, true) }, name);
}

// "5 events, 234.3 us: …": all work that an event launched. For an annotation, this includes
// launches of other threads. Names are listed for work that is drawn and connected by lines.
function launchedWork(view, id) {
  const { events } = view, all = events.workCount[id];
  if (all === 0) return '';
  const links = events.allLinks(id);
  const names = [...new Set(links.map(([, work]) => events.labelOf(work)))];
  const more = all - links.length;
  return `${plural(all, 'event')}, ${nanoseconds(events.gpu[id])}: ` +
    [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ['…'] : [])].join('; ') +
    (more > 0 ? `; ${more} launched by other threads or too short to draw individually` : '');
}

// The shapes of an operator, or of the operator that launched a kernel.
function shapesOf(events, id) {
  const op = events.isDevice(id) ? events.op[id] : id;
  return op >= 0 ? events.text(events.shapes[op]) : null;
}

// "cudaLaunchKernel, 12.3 us before"
function launchOf(view, id) {
  const { events } = view, launch = events.launch[id];
  if (launch < 0) return [];
  return [eventLink(view, launch, events.nameOf(launch)),
    `, ${nanoseconds(events.at[id] - events.at[launch])} before`];
}

function describeEvent(view, id) {
  const { events } = view, isDevice = events.isDevice(id), op = events.op[id];
  return [
    make('b', {}, events.labelOf(id)),
    events.labelOf(id) === events.nameOf(id) ? null : detailLine('raw name', events.nameOf(id)),
    detailLine('category', events.text(events.kind[id])),
    detailLine('lane', events.lanes[events.lane[id]].title),
    detailLine('at', nanoseconds(events.at[id] - view.origin)),
    detailLine(isDevice ? 'duration' : 'CPU total', nanoseconds(events.dur[id])),
    isDevice ? null : detailLine('CPU self', nanoseconds(events.self[id])),
    detailLine('shapes', shapesOf(events, id)),
    isDevice ? detailLine('launched with', ...launchOf(view, id)) : null,
    isDevice && op >= 0 ? detailLine('launched by', eventLink(view, op, events.nameOf(op))) : null,
    detailLine(view.cpuKernels ? 'kernels' : 'GPU work', launchedWork(view, id)),
  ];
}

// What the host ran in a part of an idle interval: the operator or call, then Python.
function hostActivity(view, gaps, place) {
  const { events } = view, name = events.text(gaps.host_name[place]);
  const python = [gaps.python[place], gaps.module[place]].map((text) => events.text(text));
  const parts = [eventLink(view, gaps.host[place], name),
    ...new Set(python.filter((text) => text !== null))].filter((part) => part !== null);
  return parts.length === 0 ? ['no recorded host activity']
    : parts.flatMap((part, i) => i === 0 ? [part] : [' in ', part]);
}

const MAX_PARTS = 5;

// The parts of an interval, summed up by what the host did, longest first: [{ns, count, place}].
function sameActivity(gaps, { first, end }) {
  const groups = new Map();
  for (let i = first; i < end; ++i) {
    const key = [gaps.cause[i], gaps.host_name[i], gaps.python[i], gaps.module[i]].join(' ');
    const { ns = 0, count = 0, place = i } = groups.get(key) ?? {};
    groups.set(key, { ns: ns + gaps.strip.dur[i], count: count + 1, place });
  }
  return [...groups.values()].sort((a, b) => b.ns - a.ns);
}

// An idle interval: its causes, what the host ran for the longest parts of it, and the event that
// ended it.
function describeGap(view, gaps, place) {
  const { events } = view, { at } = gaps.strip, whole = gaps.whole(place);
  const waiting = gaps.waiting[place], launch = waiting >= 0 ? events.launch[waiting] : -1;
  const groups = sameActivity(gaps, whole), shown = groups.slice(0, MAX_PARTS);
  const rest = groups.slice(MAX_PARTS).reduce((sum, group) => sum + group.ns, 0);
  const sums = gaps.sums(whole.at, whole.at + whole.dur);
  const causes = data.idle.map((idle, i) => [sums[i], idle]).filter(([ns]) => ns > 0)
    .sort((a, b) => b[0] - a[0]);
  return [
    make('b', {}, `idle for ${nanoseconds(whole.dur)} `),
    make('div', { class: 'legend' }, ...causes.map(([ns, { key, letter, what }]) =>
      legendItem(key, letter, `${what} ${nanoseconds(ns)}`))),
    detailLine('at', nanoseconds(at[whole.first] - view.origin)),
    ...shown.map(({ ns, count, place: part }) => detailLine(
      `${nanoseconds(ns)}${count > 1 ? ` in ${count} parts` : ''}, ${events.text(gaps.cause[part])}:`,
      ...hostActivity(view, gaps, part))),
    rest > 0 ? detailLine(`${nanoseconds(rest)} of other activities`, ' ') : null,
    detailLine('ended by', eventLink(view, waiting, events.text(gaps.waiting_name[place])) ??
      'the end of the trace'),
    launch >= 0 ? detailLine('launched with', ...launchOf(view, waiting)) : null,
  ];
}

// A span of events that are not drawn individually.
function describeSpan(view, strip, place) {
  return [make('b', {}, `${plural(strip.count[place], 'short event')} in ` +
    `${nanoseconds(strip.dur[place])}, busy ${Math.min(100, strip.busy[place])} %`),
  detailLine('longest', view.events.texts[strip.name[place]])];
}

function describePath(view, place) {
  const { strip, title } = view.events.path;
  return [make('b', {}, view.events.texts[strip.name[place]]), detailLine('on the', title),
    detailLine('at', nanoseconds(strip.at[place] - view.origin)),
    detailLine('duration', nanoseconds(strip.dur[place]))];
}

// The busy and idle time of each device in a range, and its kernels by name.
function describeRange(view, begin, end) {
  const { events } = view, work = events.workIn(begin, end), shown = work.slice(0, MAX_SUMS);
  const rest = work.slice(MAX_SUMS);
  const sum = (list, place) => list.reduce((total, one) => total + one[place], 0);
  const rows = shown.map(([name, calls, ns]) => [events.texts[name], String(calls), nanoseconds(ns)]);
  if (rest.length > 0) {
    rows.push([plural(rest.length, 'other name'), String(sum(rest, 1)), nanoseconds(sum(rest, 2))]);
  }
  const columns = [{ title: view.cpuKernels ? 'kernels in the range' : 'GPU work in the range' },
    { title: 'calls', right: true }, { title: 'time', right: true }];
  return make('div', { class: 'range-sums' },
    make('div', {}, ...events.gaps.map((gaps) => describeDevice(view, gaps, begin, end))),
    rows.length > 0 ? plainTable({ columns, rows }) : make('p', {}, 'No GPU work in the range.'),
    leftOutNote(view));
}

function describeDevice(view, gaps, begin, end) {
  const from = Math.max(begin, gaps.begin), to = Math.min(end, gaps.begin + gaps.length);
  const name = view.cpuKernels ? 'CPU kernels' : `GPU ${gaps.pid}`;
  if (to <= from) return make('p', {}, `${name}: no events in the range.`);
  const sums = gaps.sums(from, to), idle = sums.reduce((total, ns) => total + ns, 0);
  const part = (key, letter, what, ns) => legendItem(key, letter,
    `${what} ${nanoseconds(ns)}, ${percent(ns / (to - from))}`);
  return make('div', {},
    make('b', {}, `${name}: ${nanoseconds(to - from)}`),
    make('div', { class: 'legend' }, part('busy', 'G', 'busy', to - from - idle),
      ...data.idle.map(({ key, letter, what }, i) => sums[i] > 0
        ? part(key, letter, what, sums[i]) : null)));
}

// Sums cover only what the page has individually.
function leftOutNote(view) {
  const ns = view.events.gaps.reduce((sum, one) => sum + one.leftOutNs, 0);
  const notes = [];
  if (view.timeline.left_out > 0) {
    notes.push(`${plural(view.timeline.left_out, 'short event')} of the trace not included`);
  }
  if (ns > 0) notes.push(`${nanoseconds(ns)} of short idle intervals of the trace are not drawn, but included`);
  return notes.length > 0 ? quiet(notes.join('; ')) : null;
}

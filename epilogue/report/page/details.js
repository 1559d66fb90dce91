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
  const links = view.selected === id ? view.links : events.links(id);
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

function describeGap(view, gaps, place) {
  const { events } = view, { at, dur } = gaps.strip;
  const waiting = gaps.waiting[place], launch = waiting >= 0 ? events.launch[waiting] : -1;
  const idle = data.idle[gaps.idle[place]];
  return [
    make('b', {}, swatch(idle.key, idle.letter),
      `idle for ${nanoseconds(dur[place])}: ${events.text(gaps.cause[place])}`),
    detailLine('at', nanoseconds(at[place] - view.origin)),
    detailLine('the host ran', eventLink(view, gaps.host[place],
      events.text(gaps.host_name[place])) ?? 'nothing that is recorded'),
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
  if (to <= from) return make('p', {}, `GPU ${gaps.pid}: no work before or after the range.`);
  const sums = gaps.sums(from, to), idle = sums.reduce((total, ns) => total + ns, 0);
  const part = (key, letter, what, ns) => legendItem(key, letter,
    `${what} ${nanoseconds(ns)}, ${percent(ns / (to - from))}`);
  return make('div', {},
    make('b', {}, `${view.cpuKernels ? 'CPU kernels' : `GPU ${gaps.pid}`}: ${nanoseconds(to - from)}`),
    make('div', { class: 'legend' }, part('busy', 'G', 'busy', to - from - idle),
      ...data.idle.map(({ key, letter, what }, i) => sums[i] > 0
        ? part(key, letter, what, sums[i]) : null)));
}

// Sums cover only what the page has individually.
function leftOutNote(view) {
  const gaps = view.events.gaps.reduce((sum, one) => sum + one.leftOut, 0);
  const ns = view.events.gaps.reduce((sum, one) => sum + one.leftOutNs, 0);
  const events = view.timeline.left_out;
  const notes = [];
  if (events > 0) {
    notes.push(`${plural(events, 'short event')} of the trace are not drawn individually and not ` +
      'in these sums');
  }
  if (gaps > 0) {
    notes.push(`${plural(gaps, 'short idle interval')} of the trace (${nanoseconds(ns)}) count as busy`);
  }
  return notes.length > 0 ? quiet(notes.join('; ') + '.') : null;
}

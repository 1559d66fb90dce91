// SPDX-License-Identifier: Apache-2.0
// One step, opened level by level.
const MOST_ROOTS = 40, MOST_BELOW = 1000;

function treeText(events, id) {
  if (events.isDevice(id)) return `${events.labelOf(id)}  ${time(events.dur[id] / 1000)}`;
  const shapes = events.text(events.shapes[id]);
  return `${events.nameOf(id)}  CPU ${time(events.dur[id] / 1000)}, ` +
    `device ${time(events.gpu[id] / 1000)}${shapes ? '  ' + shapes : ''}`;
}

// A line that shows the events below it once it is opened.
function opening(events, text, below) {
  const more = below.length - MOST_BELOW;
  const show = () => [...below.slice(0, MOST_BELOW).map((id) => treeNode(events, id)),
    ...(more > 0 ? [quiet(`and ${more} more: epilogue tree`)] : [])];
  const box = make('details', {
    ontoggle: () => { if (box.open && box.children.length === 1) box.append(...show()); },
  }, make('summary', {}, text));
  return box;
}

function treeNode(events, id) {
  const below = [...events.kernels(id), ...events.children(id)]
    .sort((a, b) => events.at[a] - events.at[b]);
  const text = treeText(events, id);
  if (below.length > 0) return opening(events, text, below);
  return make('div', { class: events.isDevice(id) ? 'leaf kernel' : 'leaf' }, text);
}

// What other threads began during a step: a backward pass runs on its own.
function otherThreads(events, step) {
  const begin = events.at[step], end = begin + events.dur[step], nodes = [];
  events.lanes.forEach((lane, i) => {
    if (lane.device || i === events.lane[step] || lane.title.startsWith('Python')) return;
    const { at, ids } = lane.strips[0];
    const during = ids.slice(upperBound(at, begin), upperBound(at, end));
    if (during.length === 0) return;
    const text = `${lane.title}, meanwhile: ${during.length} at the top`;
    nodes.push(opening(events, text, Array.from(during)));
  });
  return nodes;
}

function tree(view) {
  const { events, steps } = view;
  if (steps.length > 0) {
    const step = steps[steps.length >> 1], root = treeNode(events, step);
    root.open = true;
    const note = steps.length > 1 ? quiet(`One step of ${steps.length}.`) : null;
    return make('div', {}, root, ...otherThreads(events, step), note);
  }
  const roots = [];
  for (let id = 0; id < events.size; ++id) {
    const isOp = !events.isDevice(id) && events.text(events.kind[id]) !== 'python_function';
    if (isOp && events.parent[id] < 0) roots.push(id);
  }
  const more = roots.length - MOST_ROOTS;
  return make('div', {}, ...roots.slice(0, MOST_ROOTS).map((id) => treeNode(events, id)),
    more > 0 ? quiet(`and ${more} more: epilogue tree`) : null);
}

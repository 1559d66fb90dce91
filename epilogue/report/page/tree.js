// SPDX-License-Identifier: Apache-2.0
// The operators of one step as a tree. Nodes are created when their parent is opened.
const MAX_ROOTS = 40, MAX_CHILDREN = 1000;

function treeText(view, id) {
  const { events } = view;
  if (events.isDevice(id)) return `${events.labelOf(id)}  ${time(events.dur[id] / 1000)}`;
  const shapes = events.text(events.shapes[id]);
  const device = view.cpuKernels ? 'kernels' : 'GPU';
  return `${events.nameOf(id)}  CPU ${time(events.dur[id] / 1000)}, ` +
    `${device} ${time(events.gpu[id] / 1000)}${shapes ? '  ' + shapes : ''}`;
}

// A line that shows the events below it when it is opened.
function expandable(view, text, below) {
  const more = below.length - MAX_CHILDREN;
  const show = () => [...below.slice(0, MAX_CHILDREN).map((id) => treeNode(view, id)),
    ...(more > 0 ? [quiet(`${plural(more, 'more event')}: epilogue tree --full`)] : [])];
  const box = make('details', {
    ontoggle: () => { if (box.open && box.children.length === 1) box.append(...show()); },
  }, make('summary', {}, text));
  return box;
}

function treeNode(view, id) {
  const { events } = view;
  const below = [...events.kernels(id), ...events.children(id)]
    .sort((a, b) => events.at[a] - events.at[b]);
  const text = treeText(view, id);
  if (below.length > 0) return expandable(view, text, below);
  return make('div', { class: events.isDevice(id) ? 'leaf kernel' : 'leaf' }, text);
}

// Events of other threads that start during a step. A backward pass has a thread of its own.
function otherThreads(view, step) {
  const { events } = view;
  const begin = events.at[step], end = begin + events.dur[step], nodes = [];
  events.lanes.forEach((lane, i) => {
    if (lane.device || i === events.lane[step] || lane.title.startsWith('Python')) return;
    const { at, ids } = lane.strips[0];
    const during = ids.slice(upperBound(at, begin), upperBound(at, end));
    if (during.length === 0) return;
    const text = `${lane.title}, during the step: ${plural(during.length, 'top-level event')}`;
    nodes.push(expandable(view, text, Array.from(during)));
  });
  return nodes;
}

function tree(view) {
  const { events, steps } = view;
  if (steps.length > 0) {
    const step = steps[steps.length >> 1], root = treeNode(view, step);
    root.open = true;
    const note = steps.length > 1
      ? quiet(`One of ${steps.length} steps: epilogue tree --step N`) : null;
    return make('div', {}, root, ...otherThreads(view, step), note);
  }
  const roots = [];
  for (let id = 0; id < events.size; ++id) {
    const isOp = !events.isDevice(id) && events.text(events.kind[id]) !== 'python_function';
    if (isOp && events.parent[id] < 0) roots.push(id);
  }
  const more = roots.length - MAX_ROOTS;
  return make('div', {}, ...roots.slice(0, MAX_ROOTS).map((id) => treeNode(view, id)),
    more > 0 ? quiet(`${plural(more, 'more event')}: epilogue tree --full`) : null);
}

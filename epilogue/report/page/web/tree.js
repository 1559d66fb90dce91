// SPDX-License-Identifier: Apache-2.0
// A typical step as a tree, with repeated layers folded by C++. The trees of two files are one, with
// A next to B. Only the visible rows are in the document.
const TREE_ROW = 24, FIRST_ROWS = 36;
const [LEVEL, CALLS, NAME, DECODED, KIND, CPU, SELF, WORK, SLOWEST, FIRST, LEAST, MOST] =
  Array(12).keys();

// Rows in order, as nested nodes {row, children}.
function nestedRows(rows) {
  const roots = [], above = [];
  for (const row of rows) {
    const node = { row, children: [] };
    above.length = row[LEVEL];
    (above.at(-1)?.children ?? roots).push(node);
    above.push(node);
  }
  return roots;
}

// Numbers of steps, threads and compiled regions differ between two runs.
function pairKey({ row }) {
  return row[KIND] ? row[NAME] : row[NAME].replace(/\d+/g, '*');
}

// Pairs the nodes of two lists by name, the first with the first of that name. B's nodes without a
// partner follow A's. Appends to `out`.
function pairedNodes(listA, listB, level, out) {
  const waiting = new Map();
  for (const node of listB) {
    const key = pairKey(node);
    if (!waiting.has(key)) waiting.set(key, []);
    waiting.get(key).push(node);
  }
  const pairs = listA.map((a) => [a, waiting.get(pairKey(a))?.shift() ?? null]);
  const used = new Set(pairs.map(([, b]) => b));
  for (const b of listB) if (!used.has(b)) pairs.push([null, b]);
  for (const [a, b] of pairs) {
    out.push({ level, sides: [a?.row ?? null, b?.row ?? null] });
    pairedNodes(a?.children ?? [], b?.children ?? [], level + 1, out);
  }
  return out;
}

// Marks what both traces have, below different parents.
function markMoved(nodes) {
  const keys = [0, 1].map((side) => new Set(nodes.map(({ sides }) => sides)
    .filter((sides) => sides[side] && !sides[1 - side])
    .map((sides) => pairKey({ row: sides[side] }))));
  for (const node of nodes) {
    const key = pairKey({ row: node.sides.find((row) => row) });
    node.isMoved = node.sides.includes(null) && keys[0].has(key) && keys[1].has(key);
  }
}

function treeData() {
  const files = data.files.map((file, i) =>
    JSON.parse(document.getElementById(`tree-${i}`).textContent));
  const titles = files.map((file) => file.title).join(' and ');
  const leftOut = files.reduce((sum, file) => sum + (file.left_out ?? 0), 0);
  const nodes = isPair
    ? pairedNodes(nestedRows(files[0].rows), nestedRows(files[1].rows), 0, [])
    : files[0].rows.map((row) => ({ level: row[LEVEL], sides: [row] }));
  if (isPair) markMoved(nodes);
  return { titles, leftOut, nodes };
}

function cellTime(row, place) {
  return !row || row[place] < 0 ? '' : nanoseconds(row[place]);
}
// Columns of one file, and of two.
const ONE_TREE = [['CPU total', ([row]) => cellTime(row, CPU)],
  ['CPU self', ([row]) => cellTime(row, SELF)],
  [DEVICE, ([row]) => cellTime(row, WORK) || '-'],
  ['each', ([row]) => row[CALLS] > 1
    ? `${row[WORK] < 0 ? 'CPU' : DEVICE} ${nanoseconds(row[LEAST])} to ${nanoseconds(row[MOST])}` : '']];
function treeChange([a, b], isMoved) {
  if (isMoved) return 'moved';
  if (!a || !b) return a ? 'gone in B' : 'new in B';
  const ns = Math.max(0, b[WORK]) - Math.max(0, a[WORK]);
  return ns === 0 ? '' : (ns > 0 ? '+' : '-') + nanoseconds(Math.abs(ns));
}
const TWO_TREES = [['CPU A', ([a]) => cellTime(a, CPU)], ['CPU B', ([, b]) => cellTime(b, CPU)],
  [`${DEVICE} A`, ([a]) => cellTime(a, WORK)], [`${DEVICE} B`, ([, b]) => cellTime(b, WORK)],
  [`${DEVICE} B - A`, treeChange]];

class Tree {
  constructor() {
    const { titles, leftOut, nodes } = treeData();
    this.nodes = nodes;
    this.columns = isPair ? TWO_TREES : ONE_TREE;
    this.end = this.ends();  // index after the last descendant of each node
    this.open = new Set();
    this.active = 0;
    this.query = '';
    this.showsRaw = false;
    this.list = make('div', { class: 'tree-rows', role: 'tree', 'aria-label': `tree of ${titles}` });
    this.box = make('div', { class: 'scroll tree', onscroll: () => this.draw(),
      onkeydown: (event) => this.key(event) }, this.list);
    this.openFirst();
    const heads = this.columns.map(([title]) => make('span', {}, title));
    this.element = make('div', { class: isPair ? 'two-trees' : '' }, this.tools(),
      quiet(`${titles}. Repeated layers are one line. Click a line to show the slowest of its ` +
        'events in the timeline.'),
      make('div', { class: 'tree-row head', 'aria-hidden': 'true' }, make('span', {}), ...heads),
      this.box, leftOut > 0 ? quiet(`${plural(leftOut, 'line')} with little time left out: ` +
        'epilogue tree --full') : null);
    this.update();
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  tools() {
    const toggle = button('raw names', () => {
      this.showsRaw = !this.showsRaw;
      toggle.setAttribute('aria-pressed', this.showsRaw);
      this.draw();
    });
    toggle.setAttribute('aria-pressed', false);
    return make('div', { class: 'tools no-print' },
      button('unfold all', () => this.openAll(true)), button('fold all', () => this.openAll(false)),
      toggle);
  }

  ends() {
    const { nodes } = this, end = new Int32Array(nodes.length), waiting = [];
    nodes.forEach(({ level }, i) => {
      while (waiting.length > 0 && nodes[waiting.at(-1)].level >= level) end[waiting.pop()] = i;
      waiting.push(i);
    });
    for (const i of waiting) end[i] = nodes.length;
    return end;
  }
  hasChildren(i) { return this.end[i] > i + 1; }

  children(i) {
    const list = [];
    for (let child = i + 1; child < this.end[i]; child = this.end[child]) list.push(child);
    return list;
  }
  weight(i) {
    return Math.max(...this.nodes[i].sides.map((row) => row ? Math.max(row[CPU], row[WORK]) : 0));
  }
  // Self time of operators, and the time of kernels, in microseconds.
  times(i) {
    const sum = (place) => this.nodes[i].sides.reduce((total, row) =>
      total + Math.max(0, row?.[place] ?? 0), 0) / 1000;
    return { host: sum(SELF), device: this.row(i)[KIND] ? sum(WORK) : 0 };
  }
  row(i) { return this.nodes[i].sides.find((side) => side !== null); }

  // Opens the nodes with the most time, as long as they fit on a screen.
  openFirst() {
    let waiting = [];
    for (let i = 0; i < this.nodes.length; i = this.end[i]) waiting.push(i);
    let shown = waiting.length;
    while (waiting.length > 0) {
      const most = waiting.reduce((a, b) => this.weight(b) > this.weight(a) ? b : a);
      const children = this.children(most);
      waiting = waiting.filter((i) => i !== most);
      if (children.length === 0 || shown + children.length > FIRST_ROWS) continue;
      this.open.add(most);
      shown += children.length;
      waiting.push(...children);
    }
  }
  openAll(open) {
    this.open = new Set(open ? this.nodes.keys() : []);
    this.update();
  }

  matches(words) {
    const query = words.toLowerCase();
    return [...this.nodes.keys()].filter((i) =>
      `${this.row(i)[NAME]} ${this.row(i)[DECODED] || ''}`.toLowerCase().includes(query));
  }

  // A filter shows the matching lines and the lines above them.
  setFilter(words) {
    this.query = words;
    this.update();
  }

  update() {
    const shown = [], { nodes } = this;
    const keep = this.query === '' ? null : new Set(this.matches(this.query));
    if (keep) {
      const above = [];
      nodes.forEach(({ level }, i) => {
        above.length = level;
        above.push(i);
        if (keep.has(i)) for (const one of above) keep.add(one);
      });
    }
    for (let i = 0; i < nodes.length;) {
      if (!keep || keep.has(i)) shown.push(i);
      i = keep || this.open.has(i) ? i + 1 : this.end[i];
    }
    this.shown = shown;
    this.active = Math.min(this.active, Math.max(0, shown.length - 1));
    this.list.style.height = `${shown.length * TREE_ROW}px`;
    this.draw();
  }

  draw(focus = false, printing = false) {
    const [first, end] = printing ? [0, Math.min(this.shown.length, PRINTED_ROWS)]
      : visibleRows(this.box, this.shown.length, TREE_ROW);
    const hadFocus = focus || this.list.contains(document.activeElement);
    this.list.replaceChildren(...this.shown.slice(first, end).map((i, k) => this.line(i, first + k)));
    if (hadFocus) this.list.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  line(i, place) {
    const { level, sides, isMoved } = this.nodes[i], row = this.row(i), nested = this.hasChildren(i);
    const name = row[DECODED] && !this.showsRaw ? row[DECODED] : row[NAME];
    const isOpen = nested && (this.query !== '' || this.open.has(i));
    const calls = [...new Set(sides.filter((side) => side).map((side) => side[CALLS]))];
    const text = (calls.some((one) => one > 1) ? `${calls.join(' or ')} × ` : '') + name;
    const attributes = { class: 'tree-row' + (sides.includes(null) && !isMoved ? ' mark' : ''), role: 'treeitem',
      'aria-level': level + 1, tabindex: place === this.active ? 0 : -1,
      style: { top: `${place * TREE_ROW}px` },
      title: row[DECODED] ? `${row[DECODED]}\n${row[NAME]}` : row[NAME],
      onclick: (event) => this.click(place, event) };
    if (nested) attributes['aria-expanded'] = isOpen;
    return make('div', attributes,
      make('span', { class: 'tree-name', style: { paddingLeft: `${14 * Math.min(level, 30)}px` } },
        make('i', { class: 'twist', 'aria-hidden': 'true' }, nested ? (isOpen ? '▾' : '▸') : ''),
        row[KIND] ? swatch(row[KIND]) : null, text),
      ...this.columns.map(([, cell]) => make('span', {}, cell(sides, isMoved))));
  }

  click(place, event) {
    this.active = place;
    if (event.target.classList.contains('twist')) return this.toggle(place);
    this.go(place);
    this.draw();
  }
  toggle(place) {
    const i = this.shown[place];
    if (!this.hasChildren(i)) return;
    if (!this.open.delete(i)) this.open.add(i);
    this.update();
  }
  go(place) {
    const { sides } = this.nodes[this.shown[place]], file = sides.findIndex((side) => side);
    const row = sides[file];
    timelines?.showEvent(file, row[SLOWEST] >= 0 ? row[SLOWEST] : row[FIRST]);
  }

  // Arrow keys as in other trees: right opens, left closes or goes to the parent.
  key(event) {
    const i = this.shown[this.active];
    const actions = {
      ArrowDown: () => this.moveTo(this.active + 1), ArrowUp: () => this.moveTo(this.active - 1),
      Home: () => this.moveTo(0), End: () => this.moveTo(this.shown.length - 1),
      ArrowRight: () => this.open.has(i) || !this.hasChildren(i) ? this.moveTo(this.active + 1)
        : this.toggle(this.active),
      ArrowLeft: () => this.open.has(i) && this.hasChildren(i) ? this.toggle(this.active)
        : this.moveTo(this.parent(this.active)),
      Enter: () => this.go(this.active), ' ': () => this.toggle(this.active),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
  parent(place) {
    const { level } = this.nodes[this.shown[place]];
    for (let at = place - 1; at >= 0; --at) {
      if (this.nodes[this.shown[at]].level < level) return at;
    }
    return place;
  }
  moveTo(place) {
    this.active = Math.min(this.shown.length - 1, Math.max(0, place));
    const top = this.active * TREE_ROW, { box } = this;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + TREE_ROW > box.scrollTop + box.clientHeight) {
      box.scrollTop = top + TREE_ROW - box.clientHeight;
    }
    this.draw(true);
  }
}

function treeSection() {
  const tree = new Tree();
  return {
    element: tree.element,
    find: (text) => foundRows(tree.matches(text), (i) => tree.times(i)),
    filter: (text) => tree.setFilter(text),
    onShow: () => tree.draw(),
    print: (printing) => tree.draw(false, printing),
  };
}

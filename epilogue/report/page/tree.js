// SPDX-License-Identifier: Apache-2.0
// A typical step as a tree, with repeated layers folded by C++. Only the visible rows are in the
// document.
const TREE_ROW = 24, FIRST_ROWS = 40;
const [LEVEL, CALLS, NAME, DECODED, KIND, CPU, SELF, WORK, SLOWEST, FIRST, LEAST, MOST] =
  Array(12).keys();

class Tree {
  constructor(index) {
    this.index = index;
    const { rows, title, left_out: leftOut } =
      JSON.parse(document.getElementById(`tree-${index}`).textContent);
    this.rows = rows;
    this.title = title;
    this.leftOut = leftOut ?? 0;
    this.end = this.ends();  // index after the last descendant of each row
    this.open = new Set();
    this.active = 0;
    this.query = '';
    this.showsRaw = false;
    this.list = make('div', { class: 'tree-rows', role: 'tree', 'aria-label': `tree of ${title}` });
    this.box = make('div', { class: 'scroll tree', onscroll: () => this.draw(),
      onkeydown: (event) => this.key(event) }, this.list);
    this.openFirst();
    const toggle = button('raw names', () => {
      this.showsRaw = !this.showsRaw;
      toggle.setAttribute('aria-pressed', this.showsRaw);
      this.draw();
    });
    toggle.setAttribute('aria-pressed', false);
    const heads = ['CPU total', 'CPU self', DEVICE, 'each'].map((text) => make('span', {}, text));
    this.element = make('div', {}, make('div', { class: 'tools no-print' },
      button('unfold all', () => this.openAll(true)), button('fold all', () => this.openAll(false)),
      toggle), quiet(`${title}. Repeated layers are one line; "each" is the range of their times. ` +
        'Click a line to show the slowest in the timeline.'),
    make('div', { class: 'tree-row head', 'aria-hidden': 'true' }, make('span', {}), ...heads),
    this.box, this.leftOut > 0 ? quiet(`${plural(this.leftOut, 'line')} with little time left ` +
        'out: epilogue tree --full') : null);
    this.update();
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  ends() {
    const { rows } = this, end = new Int32Array(rows.length), waiting = [];
    rows.forEach((row, i) => {
      while (waiting.length > 0 && rows[waiting.at(-1)][LEVEL] >= row[LEVEL]) {
        end[waiting.pop()] = i;
      }
      waiting.push(i);
    });
    for (const i of waiting) end[i] = rows.length;
    return end;
  }
  hasChildren(i) { return this.end[i] > i + 1; }

  // Opens the levels that fit on a screen.
  openFirst() {
    for (let level = 0; level < 30; ++level) {
      const added = this.rows.filter((row) => row[LEVEL] <= level + 1).length;
      if (level > 0 && added > FIRST_ROWS) break;
      this.rows.forEach((row, i) => {
        if (row[LEVEL] === level && this.hasChildren(i)) this.open.add(i);
      });
    }
  }
  openAll(open) {
    this.open = new Set(open ? this.rows.keys() : []);
    this.update();
  }

  matches(words) {
    const query = words.toLowerCase();
    return [...this.rows.keys()].filter((i) => `${this.rows[i][NAME]} ${this.rows[i][DECODED] || ''}`
      .toLowerCase().includes(query));
  }

  // A filter shows the matching lines and the lines above them.
  setFilter(words) {
    this.query = words;
    this.update();
  }

  update() {
    const shown = [], { rows } = this;
    const keep = this.query === '' ? null : new Set(this.matches(this.query));
    if (keep) {
      const above = [];
      rows.forEach((row, i) => {
        above.length = row[LEVEL];
        above.push(i);
        if (keep.has(i)) for (const one of above) keep.add(one);
      });
    }
    for (let i = 0; i < rows.length;) {
      if (!keep || keep.has(i)) shown.push(i);
      i = keep || this.open.has(i) ? i + 1 : this.end[i];
    }
    this.shown = shown;
    this.active = Math.min(this.active, Math.max(0, shown.length - 1));
    this.list.style.height = `${shown.length * TREE_ROW}px`;
    this.draw();
  }

  draw(focus = false) {
    const [first, end] = visibleRows(this.box, this.shown.length, TREE_ROW);
    const hadFocus = focus || this.list.contains(document.activeElement);
    this.list.replaceChildren(...this.shown.slice(first, end).map((i, k) => this.line(i, first + k)));
    if (hadFocus) this.list.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  line(i, place) {
    const row = this.rows[i], nested = this.hasChildren(i);
    const name = row[DECODED] && !this.showsRaw ? row[DECODED] : row[NAME];
    const isOpen = nested && (this.query !== '' || this.open.has(i));
    const text = (row[CALLS] > 1 ? `${row[CALLS]} × ` : '') + name;
    const cell = (ns) => make('span', {}, ns < 0 ? '' : nanoseconds(ns));
    const each = row[CALLS] > 1 ? `${nanoseconds(row[LEAST])} to ${nanoseconds(row[MOST])}` : '';
    const attributes = { class: 'tree-row', role: 'treeitem', 'aria-level': row[LEVEL] + 1,
      tabindex: place === this.active ? 0 : -1, style: { top: `${place * TREE_ROW}px` },
      title: row[DECODED] ? `${row[DECODED]}\n${row[NAME]}` : row[NAME],
      onclick: (event) => this.click(place, event) };
    if (nested) attributes['aria-expanded'] = isOpen;
    return make('div', attributes,
      make('span', { class: 'tree-name', style: { paddingLeft: `${14 * Math.min(row[LEVEL], 30)}px` } },
        make('i', { class: 'twist', 'aria-hidden': 'true' }, nested ? (isOpen ? '▾' : '▸') : ''),
        row[KIND] ? swatch(row[KIND]) : null, text),
      cell(row[CPU]), cell(row[SELF]), make('span', {}, row[WORK] < 0 ? '-' : nanoseconds(row[WORK])),
      make('span', {}, each));
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
    const row = this.rows[this.shown[place]];
    timelines?.showEvent(this.index, row[SLOWEST] >= 0 ? row[SLOWEST] : row[FIRST]);
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
    const level = this.rows[this.shown[place]][LEVEL];
    for (let at = place - 1; at >= 0; --at) {
      if (this.rows[this.shown[at]][LEVEL] < level) return at;
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
  const trees = [];
  const element = sideBySide((file, index) => {
    const tree = new Tree(index);
    trees.push(tree);
    return tree.element;
  });
  return {
    element,
    find: (text) => ({ rows: trees.reduce((sum, tree) => sum + tree.matches(text).length, 0),
      us: null }),
    filter: (text) => trees.forEach((tree) => tree.setFilter(text)),
    onShow: () => trees.forEach((tree) => tree.draw()),
  };
}

// SPDX-License-Identifier: Apache-2.0
// Tables that sort on a click, filter by name and copy as Markdown. Only the visible rows are in
// the document, so that a table of many thousand rows scrolls smoothly.
const ROW_PIXELS = 26, PRINTED_ROWS = 100;

const MAX_BOX = 560;  // height of a box in page.css

// The part of a list that a scrolled box shows. The box may be about to grow to its largest height.
function visibleRows(box, total, rowPixels) {
  const height = Math.max(box.clientHeight, MAX_BOX);
  const first = Math.max(0, Math.floor(box.scrollTop / rowPixels) - 3);
  return [first, Math.min(total, first + Math.ceil(height / rowPixels) + 6)];
}

// columns: {title, text(row), value(row), right, mark(row)}. Rows are sorted by `value`.
// options, all of them optional:
//   label        what the table lists, for screen readers
//   sort         index of the column to sort by
//   filter       placeholder of the search field
//   search(row)  text that the search field looks at
//   go(row)      called by a click on the first cell
//   goLabel      what that does: "show in the timeline"
//   kind(row)    key of the color before the first cell
//   raw(row)     the raw name of a row, shown instead of the first cell on demand
//   mark(row)    true to highlight a row
class DataTable {
  constructor(columns, rows, options = {}) {
    Object.assign(this, { columns, rows, options });
    this.order = options.sort ?? -1;
    this.down = true;
    this.query = '';
    this.showsRaw = false;
    this.body = make('tbody');
    this.heads = columns.map((column, i) => this.head(column, i));
    const cols = columns.map((column, i) =>
      make('col', { class: i === 0 ? 'name' : column.right && !column.isWide ? 'number' : 'text' }));
    this.table = make('table', { 'aria-rowcount': rows.length + 1 },
      make('colgroup', {}, ...cols), make('thead', {}, make('tr', {}, ...this.heads)), this.body);
    this.box = make('div', {
      class: 'scroll', tabindex: 0, role: 'region', 'aria-label': options.label ?? 'table',
      onscroll: () => this.draw(), onkeydown: (event) => this.key(event),
    }, this.table);
    this.counted = make('span', { class: 'quiet small', role: 'status' });
    this.element = make('div', {}, this.tools(), this.box);
    this.update();
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  tools() {
    const { filter, raw } = this.options;
    const tools = make('div', { class: 'tools no-print' });
    if (filter) {
      this.field = make('input', { type: 'search', placeholder: filter, 'aria-label': filter,
        oninput: () => this.setFilter(this.field.value) });
      tools.append(this.field);
    }
    if (raw) {
      const toggle = button('raw names', () => {
        this.showsRaw = !this.showsRaw;
        toggle.setAttribute('aria-pressed', this.showsRaw);
        this.draw();
      });
      toggle.setAttribute('aria-pressed', false);
      tools.append(toggle);
    }
    const copy = button('copy as Markdown', () => copyText(this.markdown(), copy));
    tools.append(copy, this.counted);
    return tools;
  }

  head(column, i) {
    const sort = () => {
      this.down = this.order === i ? !this.down : true;
      this.order = i;
      this.update();
    };
    return make('th', { scope: 'col', class: column.right ? 'right' : '' },
      make('button', { type: 'button', onclick: sort }, column.title));
  }

  setFilter(words) {
    if (this.field && this.field.value !== words) this.field.value = words;
    this.query = words.toLowerCase();
    this.update();
  }

  matches(words) {
    const query = words.toLowerCase(), search = this.options.search ?? this.columns[0].text;
    return this.rows.filter((row) => search(row).toLowerCase().includes(query));
  }

  update() {
    this.list = this.matches(this.query);
    if (this.order >= 0) {
      const { value } = this.columns[this.order], sign = this.down ? -1 : 1;
      this.list.sort((a, b) => {
        const x = value(a), y = value(b);
        return sign * (x < y ? -1 : x > y ? 1 : 0);
      });
    }
    this.heads.forEach((head, i) => head.setAttribute('aria-sort',
      i !== this.order ? 'none' : this.down ? 'descending' : 'ascending'));
    const all = this.rows.length, shown = this.list.length;
    this.counted.textContent = shown === all ? plural(all, 'row') : `${shown} of ${plural(all, 'row')}`;
    this.box.scrollTop = 0;
    this.draw();
  }

  // Rows outside the visible part are two empty rows of their height.
  draw(printing = false) {
    const { list } = this;
    const [first, end] = printing ? [0, Math.min(list.length, PRINTED_ROWS)]
      : visibleRows(this.box, list.length, ROW_PIXELS);
    const space = (rows) => rows > 0 ? [make('tr', { 'aria-hidden': 'true', class: 'space' },
      make('td', { colspan: this.columns.length, style: { height: rows * ROW_PIXELS + 'px' } }))]
      : [];
    this.tabStop = Math.min(list.length - 1, Math.ceil(this.box.scrollTop / ROW_PIXELS));
    const focused = this.box.contains(document.activeElement)
      ? document.activeElement.closest('tr')?.getAttribute('aria-rowindex') : null;
    const shown = list.slice(first, end).map((row, i) => this.row(row, first + i));
    if (printing && end < list.length) {
      shown.push(make('tr', {}, make('td', { colspan: this.columns.length },
        plural(list.length - end, 'more row'))));
    }
    this.body.replaceChildren(...space(printing ? 0 : first), ...shown,
      ...space(printing ? 0 : list.length - end));
    if (focused) this.body.querySelector(`tr[aria-rowindex="${focused}"] button`)?.focus();
  }

  row(row, index) {
    const attributes = { 'aria-rowindex': index + 2 };
    if (this.options.mark?.(row)) attributes.class = 'mark';
    return make('tr', attributes,
      ...this.columns.map((column, i) => this.cell(column, row, i === 0, index === this.tabStop)));
  }

  // Only one row is reached with Tab. The arrow keys reach the others.
  cell(column, row, isFirst, isTabStop) {
    const { go, goLabel, kind, raw } = this.options, text = column.text(row);
    const classes = [column.right ? 'right' : '', column.mark?.(row) ?? ''].join(' ').trim();
    if (!isFirst) return make('td', classes ? { class: classes } : {}, text);
    const shown = raw && this.showsRaw ? raw(row) : text;
    const title = raw && raw(row) !== text ? `${text}\n${raw(row)}` : text;
    const inner = go ? make('button', { class: 'go', type: 'button', tabindex: isTabStop ? 0 : -1,
      title: goLabel ? `${title}\n(${goLabel})` : title, onclick: () => go(row) }, shown) : shown;
    return make('td', { title }, make('div', { class: 'cell' }, kind ? swatch(kind(row)) : null,
      make('span', {}, inner)));
  }

  // The up and down keys move between the buttons of the rows.
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest?.('tbody tr');
    if (!step || !row || !this.options.go) return;
    event.preventDefault();
    const next = Number(row.getAttribute('aria-rowindex')) - 2 + step;
    if (next < 0 || next >= this.list.length) return;
    const top = next * ROW_PIXELS, { box } = this;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + 2 * ROW_PIXELS > box.scrollTop + box.clientHeight) {
      box.scrollTop = top + 2 * ROW_PIXELS - box.clientHeight;
    }
    this.draw();
    this.body.querySelector(`tr[aria-rowindex="${next + 2}"] button`)?.focus();
  }

  markdown() {
    const escaped = (text) => text.replace(/\|/g, '\\|').replace(/\s+/g, ' ');
    const line = (cells) => `| ${cells.map(escaped).join(' | ')} |`;
    const rule = this.columns.map((column) => column.right ? '---:' : '---');
    const first = (row) => this.showsRaw && this.options.raw ? this.options.raw(row)
      : this.columns[0].text(row);
    return [line(this.columns.map((column) => column.title)), `| ${rule.join(' | ')} |`,
      ...this.list.map((row) => line(this.columns.map((column, i) =>
        i === 0 ? first(row) : column.text(row))))].join('\n') + '\n';
  }
}

// Columns for a table of the command line, {columns, rows} of text cells.
function textColumns(table) {
  return table.columns.map(({ title, right }, i) => ({
    title, right, text: (row) => row[i],
    value: (row) => {
      const number = cellValue(row[i]);
      return right ? (Number.isNaN(number) ? -Infinity : number) : row[i];
    },
  }));
}

// A short table of the command line, without controls.
function plainTable(table, options = {}) {
  const cell = (tag, text, i) => make(tag, { class: table.columns[i].right ? 'right' : '',
    ...(tag === 'th' ? { scope: 'col' } : {}) }, text);
  const first = (row, r) => options.go
    ? make('button', { class: 'go', type: 'button', onclick: () => options.go(row, r) }, row[0])
    : row[0];
  return make('table', { class: 'plain-table', ...(options.class ? { class: options.class } : {}) },
    make('thead', {}, make('tr', {}, ...table.columns.map(({ title }, i) => title === ''
      ? make('td') : cell('th', title, i)))),
    make('tbody', {}, ...table.rows.map((row, r) => make('tr', {},
      ...row.map((text, i) => cell('td', i === 0 ? first(row, r) : text, i))))));
}

function number(title, key, text) {
  const value = (row) => row[key] ?? -1;
  return { title, key, right: true, isSum: true, value,
    text: (row) => row[key] === null ? '-' : text(row[key]) };
}
// A text column. In a joined row, the text is the same in both files.
function words(title, text) {
  const textOf = (row) => text(row.a ?? row.b ?? row);
  return { title, isText: true, value: textOf, text: textOf };
}

function change(a, b) {
  const least = data.differences.min_change * Math.max(Math.abs(a), Math.abs(b));
  if (a === b || Math.abs(b - a) <= least) return '';
  return b > a ? 'more' : 'less';
}

// Columns for rows {a, b}: each number of A, then of B, marked if it differs. Text columns are the
// same in both files and appear once.
function pairColumns(columns) {
  return columns.flatMap((column) => column.isText ? [column] : bothSides(column));
}

function bothSides(column) {
  return ['a', 'b'].map((side) => ({
    title: `${column.title} ${side.toUpperCase()}`, right: column.right,
    value: (row) => row[side] ? column.value(row[side]) : -1,
    text: (row) => row[side] ? column.text(row[side]) : '–',
    mark: (row) => side === 'b' && row.a && row.b && column.isSum
      ? change(column.value(row.a), column.value(row.b)) : '',
  }));
}

// Joins the rows of both files by `key`: rows of A in order, then rows that only B has.
function joined(listA, listB, key) {
  const rows = new Map();
  for (const a of listA) rows.set(key(a), { a, b: null });
  for (const b of listB) {
    const row = rows.get(key(b));
    if (row) row.b = b;
    else rows.set(key(b), { a: null, b });
  }
  return [...rows.values()];
}

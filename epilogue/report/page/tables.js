// SPDX-License-Identifier: Apache-2.0
// Tables that sort on a click and filter by name. Rows of two files can be joined, with differences
// marked.
const MAX_ROWS = 300;

// columns: {title, value(row), text(row), mark(row)}. Rows are sorted by `value`.
// options, all of them optional:
//   sort         index of the column to sort by
//   filter       placeholder of the search field
//   search(row)  text that the search field looks at
//   go(row)      called by a click on the first cell
//   mark(row)    true to highlight a row
function sortable(columns, rows, options = {}) {
  const body = make('tbody');
  let order = options.sort ?? -1, down = true, query = '';
  const searchText = options.search ?? columns[0].text;

  function cell(column, row, isFirst) {
    const text = column.text(row);
    const inner = isFirst && options.go
      ? make('button', { class: 'go', type: 'button', onclick: () => options.go(row) }, text)
      : text;
    return make('td', { title: text, class: column.mark?.(row) ?? '' }, inner);
  }

  function draw() {
    const list = rows.filter((row) => searchText(row).toLowerCase().includes(query));
    if (order >= 0) {
      const value = columns[order].value, sign = down ? -1 : 1;
      list.sort((a, b) => {
        const x = value(a), y = value(b);
        return sign * (x < y ? -1 : x > y ? 1 : 0);
      });
    }
    body.replaceChildren(...list.slice(0, MAX_ROWS).map((row) =>
      make('tr', options.mark?.(row) ? { class: 'mark' } : {},
        ...columns.map((column, i) => cell(column, row, i === 0)))));
    if (list.length > MAX_ROWS) {
      const text = plural(list.length - MAX_ROWS, 'more row');
      body.append(make('tr', {}, make('td', { colspan: columns.length, class: 'quiet' }, text)));
    }
    heads.forEach((head, i) =>
      head.setAttribute('aria-sort', i !== order ? 'none' : down ? 'descending' : 'ascending'));
  }

  const heads = columns.map((column, i) => make('th', { scope: 'col' }, make('button', {
    type: 'button',
    onclick: () => {
      down = order === i ? !down : true;
      order = i;
      draw();
    },
  }, column.title)));
  draw();
  const head = make('thead', {}, make('tr', {}, ...heads));
  const table = make('div', { class: isPair ? 'scroll paired' : 'scroll' },
    make('table', {}, head, body));
  if (!options.filter) return table;
  const field = make('input', {
    type: 'search', placeholder: options.filter, 'aria-label': options.filter,
    oninput: () => {
      query = field.value.toLowerCase();
      draw();
    },
  });
  return make('div', {}, field, table);
}

function number(title, key, text) {
  const value = (row) => row[key] ?? 0;
  return { title, key, isSum: true, value, text: (row) => text(value(row)) };
}
// A text column. In a joined row, the text is the same in both files.
function words(title, text) {
  const textOf = (row) => text(row.a ?? row.b ?? row);
  return { title, isText: true, value: textOf, text: textOf };
}
function share(title, key) {
  return { ...number(title, key, percent), isSum: false };
}

// Smaller differences are noise.
const MIN_CHANGE = 0.05;

function change(a, b) {
  if (a === b || Math.abs(b - a) <= MIN_CHANGE * Math.max(Math.abs(a), Math.abs(b))) return '';
  return b > a ? 'more' : 'less';
}

// Columns for rows {a, b}: each number of A, then of B, marked if it differs. Text columns are the
// same in both files and appear once.
function pairColumns(columns) {
  return columns.flatMap((column) => column.isText ? [column] : bothSides(column));
}

function bothSides(column) {
  return ['a', 'b'].map((side) => ({
    title: `${column.title} ${side.toUpperCase()}`,
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

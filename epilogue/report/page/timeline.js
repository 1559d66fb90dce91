// SPDX-License-Identifier: Apache-2.0
// The timeline on a canvas, and the tree of one step: both from the same columns of events.

// All events of a file in one numbering, lanes one behind the other.
function unpack(timeline) {
  const events = [], lanes = [];
  for (const lane of timeline.lanes) {
    const first = events.length;
    let at = 0, rows = 1;
    const open = [];
    for (let i = 0; i < lane.dur.length; ++i) {
      at += lane.begin[i];
      const event = { at, dur: lane.dur[i], name: timeline.texts[lane.name[i]], lane: lanes.length, row: 0, id: events.length, parent: -1, device: lane.device,
        said: lane.said ? timeline.texts[lane.said[i]] : null, kind: lane.kind ? timeline.texts[lane.kind[i]] : 'kernel',
        shapes: lane.shapes && lane.shapes[i] >= 0 ? timeline.texts[lane.shapes[i]] : null,
        self: lane.self ? lane.self[i] : 0, gpu: lane.gpu ? lane.gpu[i] : 0, count: lane.works ? lane.works[i] : 0, color: hue(timeline.texts[lane.name[i]]), launch: lane.launch ? lane.launch[i] : -1, op: lane.op ? lane.op[i] : -1, works: [], children: [] };
      if (!lane.device) {
        while (open.length && open[open.length - 1].at + open[open.length - 1].dur <= at) open.pop();
        event.row = open.length;
        if (open.length) { event.parent = open[open.length - 1].id; open[open.length - 1].children.push(event.id); }
        rows = Math.max(rows, open.length + 1);
        open.push(event);
      }
      events.push(event);
    }
    lanes.push({ title: lane.title, rows: Math.min(rows, 40), first, end: events.length, device: lane.device, rest: lane.rest });
  }
  for (const event of events) {
    if (event.launch >= 0) events[event.launch].works.push(event.id);
    else if (event.op >= 0) events[event.op].works.push(event.id);
  }
  return { events, lanes };
}

function hue(text) {
  let hash = 0;
  for (let i = 0; i < text.length; ++i) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return `hsl(${hash % 360} 52% 58%)`;
}

// The event and what is under it, at most so many; no recursion: traces nest deeply.
function descendants(all, event, most) {
  const list = [event];
  for (let i = 0; i < list.length && list.length < most; ++i) for (const id of list[i].children) list.push(all.events[id]);
  return list;
}

class View {
  constructor(file, group) {
    this.timeline = file.timeline;
    this.all = unpack(file.timeline);
    this.group = group;
    this.canvas = make('canvas', { tabindex: 0, role: 'img', 'aria-label': `timeline of ${file.file}: W and S zoom, A and D move, arrow keys select` });
    this.selected = -1;
    const step = this.all.events.find((event) => event.name.startsWith('ProfilerStep'));
    this.origin = step ? step.at : 0;
    this.canvas.addEventListener('wheel', (event) => { event.preventDefault(); this.group.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, event.offsetX / this.canvas.clientWidth); }, { passive: false });
    this.canvas.addEventListener('pointerdown', (event) => { this.drag = { x: event.offsetX, moved: 0 }; this.canvas.setPointerCapture(event.pointerId); this.canvas.focus(); });
    this.canvas.addEventListener('pointermove', (event) => {
      if (!this.drag) return;
      this.drag.moved += Math.abs(event.offsetX - this.drag.x);
      this.group.move((this.drag.x - event.offsetX) / this.canvas.clientWidth);
      this.drag.x = event.offsetX;
    });
    this.canvas.addEventListener('pointerup', (event) => { if (this.drag && this.drag.moved < 4) this.group.select(this, this.hit(event.offsetX, event.offsetY)); this.drag = null; });
    this.canvas.addEventListener('pointercancel', () => { this.drag = null; });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
  }
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = { w: () => this.group.zoom(1 / 1.5, 0.5), s: () => this.group.zoom(1.5, 0.5), a: () => this.group.move(-0.2), d: () => this.group.move(0.2),
      arrowright: () => this.walk(1), arrowleft: () => this.walk(-1), arrowup: () => this.jump((one) => one.device ? (one.launch >= 0 ? one.launch : one.op) : one.parent),
      arrowdown: () => this.jump((one) => one.children[0] ?? one.works[0] ?? -1), escape: () => this.group.select(this, -1) };
    const action = keys[event.key.toLowerCase()];
    if (action) { event.preventDefault(); action(); }
  }
  walk(by) {
    const next = this.selected < 0 ? 0 : this.selected + by;
    if (next >= 0 && next < this.all.events.length) this.group.select(this, next, true);
  }
  jump(to) { if (this.selected >= 0) { const next = to(this.all.events[this.selected]); if (next >= 0) this.group.select(this, next, true); } }
  layout() {
    const row = 16, gap = 20;
    let y = 22;
    for (const lane of this.all.lanes) { lane.y = y + 14; y += lane.rows * row + gap; }
    this.row = row;
    return Math.min(Math.max(y + 6, 80), 6000);
  }
  hit(x, y) {
    const { begin, length } = this.group.range, at = begin + this.origin + x / this.canvas.clientWidth * length, near = length / this.canvas.clientWidth * 2;
    for (const lane of this.all.lanes) {
      const row = Math.floor((y - lane.y) / this.row);
      if (row < 0 || row >= lane.rows) continue;
      for (let i = lane.first; i < lane.end; ++i) {
        const event = this.all.events[i];
        if (event.row === row && event.at - near <= at && at <= event.at + event.dur + near) return i;
      }
    }
    return -1;
  }
  draw() {
    const height = this.layout(), width = this.canvas.clientWidth, scale = window.devicePixelRatio || 1;
    if (!width) return;
    this.canvas.style.height = height + 'px';
    this.canvas.width = width * scale; this.canvas.height = height * scale;
    const pen = this.canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue('--ink'), quiet = style.getPropertyValue('--quiet'), line = style.getPropertyValue('--line');
    pen.scale(scale, scale);
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    const { begin, length } = this.group.range, x = (ns) => (ns - this.origin - begin) / length * width;
    pen.fillStyle = quiet; pen.strokeStyle = line;
    const unit = 10 ** Math.floor(Math.log10(length / 4)), first = Math.ceil(begin / unit) * unit;
    for (let i = 0; i < 60; ++i) {
      const tick = first + i * unit;
      if (tick >= begin + length) break;
      const place = x(tick + this.origin);
      pen.beginPath(); pen.moveTo(place, 16); pen.lineTo(place, height); pen.stroke();
      if (Math.round(tick / unit) % 2 === 0) pen.fillText(time(tick / 1000), place + 3, 9);
    }
    for (const lane of this.all.lanes) {
      pen.fillStyle = quiet;
      pen.fillText(lane.title, 4, lane.y - 7);
      this.drawRest(pen, lane, x, width);
      let last = new Float64Array(lane.rows).fill(-10);
      for (let i = lane.first; i < lane.end; ++i) {
        const event = this.all.events[i], left = x(event.at), right = x(event.at + event.dur);
        if (right < 0 || left > width || event.row >= lane.rows) continue;
        const hit = this.group.found && this.group.matches(event);
        // Within a pixel that is drawn already, but for what is looked for.
        if (right < last[event.row] + 0.7 && !hit && i !== this.selected) continue;
        last[event.row] = right;
        const from = Math.max(left, -2), to = Math.min(right, width + 2), top = lane.y + event.row * this.row;
        pen.fillStyle = this.group.found && !hit ? line : event.color;
        pen.fillRect(from, top, Math.max(to - from, 0.8), this.row - 2);
        if (i === this.selected) { pen.strokeStyle = ink; pen.lineWidth = 2; pen.strokeRect(from, top, Math.max(to - from, 2), this.row - 2); pen.lineWidth = 1; pen.strokeStyle = line; }
        if (to - from > 34) {
          pen.fillStyle = '#111';
          pen.save(); pen.beginPath(); pen.rect(from, top, to - from - 3, this.row); pen.clip();
          pen.fillText(event.said ?? event.name, Math.max(from, 0) + 3, top + this.row / 2 - 1); pen.restore();
        }
      }
    }
    this.drawLinks(pen, x, ink);
  }
  drawRest(pen, lane, x, width) {
    const slice = this.timeline.length_ns / (lane.rest.length || 1);
    lane.rest.forEach((share, i) => {
      const left = x(i * slice), right = x((i + 1) * slice);
      if (share <= 0 || right < 0 || left > width) return;
      pen.globalAlpha = 0.15 + 0.4 * share;
      pen.fillRect(left, lane.y, Math.max(right - left, 1), this.row - 2);
      pen.globalAlpha = 1;
    });
  }
  drawLinks(pen, x, ink) {
    if (this.selected < 0) return;
    const one = this.all.events[this.selected], pairs = [], middle = (event) => [x(event.at + event.dur / 2), this.all.lanes[event.lane].y + event.row * this.row + this.row / 2];
    const below = (event) => {
      for (const under of descendants(this.all, event, 2000)) for (const id of under.works) pairs.push([under, this.all.events[id]]);
    };
    if (one.device) { const from = one.launch >= 0 ? one.launch : one.op; if (from >= 0) pairs.push([this.all.events[from], one]); } else below(one);
    pen.strokeStyle = ink; pen.globalAlpha = 0.6;
    for (const [from, to] of pairs) {
      const [ax, ay] = middle(from), [bx, by] = middle(to);
      pen.beginPath(); pen.moveTo(ax, ay); pen.bezierCurveTo(ax, (ay + by) / 2, bx, (ay + by) / 2, bx, by); pen.stroke();
    }
    pen.globalAlpha = 1;
  }
}

class Timelines {
  constructor(files) {
    this.views = files.map((file) => new View(file, this));
    const begin = Math.min(...this.views.map((view) => -view.origin)), end = Math.max(...this.views.map((view) => view.timeline.length_ns - view.origin));
    this.whole = { begin, length: Math.max(1, end - begin) };
    this.range = { ...this.whole };
    this.found = '';
    this.detail = make('div', { id: 'detail', 'aria-live': 'polite' }, make('span', { class: 'quiet' }, 'Click an event. W S zoom, A D move, arrows walk, / searches.'));
    this.search = make('input', { type: 'search', id: 'find', placeholder: 'find events', 'aria-label': 'find events',
      oninput: () => { this.found = this.search.value.toLowerCase(); this.known = new Map(); this.hits = -1; this.draw(); }, onkeydown: (event) => { if (event.key === 'Enter') this.next(); } });
    this.hits = -1;
    this.known = new Map();
    document.addEventListener('keydown', (event) => { if (event.key === '/' && document.activeElement !== this.search && document.activeElement.tagName !== 'INPUT') { event.preventDefault(); this.search.focus(); } });
    new ResizeObserver(() => this.draw()).observe(document.getElementById('main'));
  }
  matches(event) {
    const known = this.known.get(event.name);
    if (known !== undefined) return known;
    const found = event.name.toLowerCase().includes(this.found) || (event.said ?? '').toLowerCase().includes(this.found);
    this.known.set(event.name, found);
    return found;
  }
  // Through the events of all views, one behind the other.
  next() {
    const total = this.views.reduce((sum, view) => sum + view.all.events.length, 0);
    for (let i = 1; this.found && i <= total; ++i) {
      let at = (this.hits + i) % total;
      const hit = at;
      const view = this.views.find((one) => at < one.all.events.length || ((at -= one.all.events.length), false));
      if (this.matches(view.all.events[at])) { this.hits = hit; this.select(view, at, true); return; }
    }
    this.detail.replaceChildren(make('span', { class: 'quiet' }, `nothing is called ${this.found}`));
  }
  zoom(factor, around) {
    const { begin, length } = this.range, next = Math.min(this.whole.length * 1.1, Math.max(20, length * factor));
    this.range = { begin: begin + (length - next) * around, length: next };
    this.draw();
  }
  move(share) {
    const { begin, length } = this.range, last = this.whole.begin + this.whole.length - length / 2;
    this.range = { begin: Math.min(last, Math.max(this.whole.begin - length / 2, begin + share * length)), length };
    this.draw();
  }
  reset() { this.range = { ...this.whole }; this.draw(); }
  select(view, id, reveal = false) {
    for (const other of this.views) other.selected = -1;
    view.selected = id;
    if (id >= 0) {
      const event = view.all.events[id];
      if (reveal) { const length = Math.max(event.dur * 8, this.range.length > this.whole.length / 4 ? this.whole.length / 50 : this.range.length); this.range = { begin: event.at - view.origin - (length - event.dur) / 2, length }; }
      this.show(view, event);
    }
    this.draw();
  }
  show(view, event) {
    const line = (name, value) => value === null || value === undefined || value === '' ? null : make('div', {}, make('span', { class: 'quiet' }, name + ' '), value);
    const works = event.device ? [] : descendants(view.all, event, 5000).flatMap((one) => one.works.map((id) => view.all.events[id]));
    this.detail.replaceChildren(...[make('b', {}, event.name), line('is', event.said), line('kind', event.kind), line('at', time((event.at - view.origin) / 1000)),
      line(event.device ? 'took' : 'total', time(event.dur / 1000)), event.device ? null : line('self', time(event.self / 1000)), line('shapes', event.shapes),
      line('launched by', event.op >= 0 ? view.all.events[event.op].name : null),
      event.count ? line('on the device', `${event.count}, ${time(event.gpu / 1000)}: ${[...new Set(works.map((one) => one.said ?? one.name))].slice(0, 6).join('; ')}`) : null].filter((part) => part !== null));
  }
  draw() { if (!this.waiting) { this.waiting = true; requestAnimationFrame(() => { this.waiting = false; for (const view of this.views) view.draw(); }); } }
}

function timelines(group) {
  const notes = data.files.filter((file) => file.timeline.left_out > 0).map((file) => make('p', { class: 'quiet small' },
    `${file.file}: the ${group.views[data.files.indexOf(file)].all.events.length} longest events are drawn one by one; ${file.timeline.left_out} shorter ones are summed up as shades.`));
  section('timeline', 'Timeline', make('div', { class: 'no-print' }, group.search, ...[['all', () => group.reset()], ['+', () => group.zoom(1 / 2, 0.5)], ['−', () => group.zoom(2, 0.5)]]
    .map(([text, action]) => make('button', { class: 'plain', type: 'button', onclick: action }, text))),
    ...data.files.map((file, i) => make('div', {}, data.files.length > 1 ? make('h3', {}, file.file) : null, make('div', { class: 'lanes' }, group.views[i].canvas))), group.detail, ...notes);
  group.draw();
}

// One step, opened level by level.
function tree(group) {
  const build = (file, i) => {
    const view = group.views[i], events = view.all.events;
    const steps = events.filter((event) => !event.device && event.name.startsWith('ProfilerStep'));
    const roots = steps.length ? [steps[steps.length >> 1]] : events.filter((event) => !event.device && event.parent < 0 && event.kind !== 'python_function').slice(0, 40);
    const node = (event) => {
      const below = event.works.concat(event.children).map((id) => events[id]).sort((a, b) => a.at - b.at);
      const text = event.device ? `${event.said ?? event.name}  ${time(event.dur / 1000)}` : `${event.name}  CPU ${time(event.dur / 1000)}, device ${time(event.gpu / 1000)}${event.shapes ? '  ' + event.shapes : ''}`;
      if (!below.length) return make('div', { class: 'leaf' + (event.device ? ' kernel' : '') }, text);
      const box = make('details', { ontoggle: () => { if (box.open && box.children.length === 1) box.append(...below.map(node)); } }, make('summary', {}, text));
      return box;
    };
    const list = roots.map(node);
    if (list[0] && list[0].tagName === 'DETAILS') list[0].open = true;
    return make('div', {}, ...list);
  };
  section('tree', 'Tree', sideBySide(build));
}

verdict();
steps();
changes();
table();
kernels();
const group = new Timelines(data.files);
window.epilogue = group;  // for tests, and for the curious
tree(group);
idle();
advice();
timelines(group);

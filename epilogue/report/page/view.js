// SPDX-License-Identifier: Apache-2.0
// The lanes of one file on a canvas that covers only the visible part. Draws a level of detail, or
// individual events if the zoom can resolve them.
const ROW = 16, LANE_GAP = 20, TOP = 22, VISIBLE_HEIGHT = 640, PRINTED_HEIGHT = 3000;

function hue(text) {
  let hash = 0;
  for (let i = 0; i < text.length; ++i) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return `hsl(${hash % 360} 52% 58%)`;
}

class View {
  constructor(file, events, group) {
    this.events = events;
    this.cpuKernels = file.cpu_kernels;
    this.group = group;
    this.selected = -1;
    this.hits = [];
    this.steps = events.steps();
    this.colors = [];
    this.lone = [];  // for each text: whether it names work that only this file has
    let y = TOP + (events.path ? ROW + LANE_GAP : 0);
    for (const lane of events.lanes) {
      lane.y = y + 14;
      y += lane.rows * ROW + LANE_GAP;
    }
    this.total = Math.max(y + 6, 80);
    const keys = 'W and S zoom, A and D move, arrow keys select';
    this.canvas = make('canvas',
      { tabindex: 0, role: 'application', 'aria-label': `timeline of ${file.file}: ${keys}` });
    const content = make('div', { style: { height: this.total + 'px' } }, this.canvas);
    this.box = make('div', { class: 'lanes', onscroll: () => group.draw() }, content);
    new Input(this);
  }

  // The zero of the axis: the start of the step at which all files are aligned, or the end of the
  // last step if this file has fewer steps.
  get origin() {
    const { at, dur } = this.events, { step } = this.group, last = this.steps.at(-1);
    if (last === undefined) return 0;
    return step < this.steps.length ? at[this.steps[step]] : at[last] + dur[last];
  }

  // Updates the visible range, which stays the same while a frame is drawn.
  measure() {
    this.width = this.canvas.clientWidth;
    this.height = Math.min(this.total, this.group.printing ? PRINTED_HEIGHT : VISIBLE_HEIGHT);
    this.top = this.box.scrollTop;
    this.begin = this.group.range.begin + this.origin;
    this.pixel = this.group.range.length / this.width;
  }
  x(ns) { return (ns - this.begin) / this.pixel; }
  y(id) {
    return this.events.lanes[this.events.lane[id]].y + this.events.row[id] * ROW - this.top;
  }
  isVisible(y) { return y > TOP - ROW && y < this.height; }

  // Scrolls to where an event is drawn.
  show(id) {
    this.measure();
    const y = this.y(id);
    if (y < TOP || y + ROW > this.height) this.box.scrollTop += y - this.height / 2;
  }

  prepare() {
    const { canvas, width, height } = this, scale = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide;
      canvas.height = high;
      canvas.style.height = height + 'px';
    }
    const style = getComputedStyle(document.documentElement);
    for (const name of ['ink', 'quiet', 'line', 'bad', 'paper']) {
      this[name] = style.getPropertyValue('--' + name);
    }
    const pen = this.pen = canvas.getContext('2d');
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
  }

  draw() {
    this.measure();
    if (!this.width) return;
    this.prepare();
    const shown = ticks(this.group.range.begin, this.group.range.length, this.pixel);
    this.drawGrid(shown);
    const level = this.events.cells.findIndex((cell) => cell <= this.pixel);
    this.drawPath();
    for (const lane of this.events.lanes) this.drawLane(lane, level);
    this.drawHits();
    this.drawSelected();
    this.drawAxis(shown);
  }

  drawGrid(shown) {
    this.pen.fillStyle = this.line;
    for (const [ns] of shown) this.pen.fillRect(this.x(ns + this.origin), 0, 1, this.height);
  }

  // Drawn over the lanes, which scroll below it.
  drawAxis(shown) {
    const { pen } = this;
    pen.fillStyle = this.paper;
    pen.fillRect(0, 0, this.width, TOP - 4);
    pen.fillStyle = this.quiet;
    for (const [ns, text] of shown) pen.fillText(text, this.x(ns + this.origin) + 3, 9);
  }

  drawLane(lane, level) {
    const y = lane.y - this.top;
    if (y + lane.rows * ROW < 0 || y - LANE_GAP > this.height) return;
    this.pen.fillStyle = this.quiet;
    this.pen.fillText(lane.title, 4, y - 7);
    if (level >= 0) return this.drawStrips(y, lane.levels[level], 1);
    this.drawStrips(y, lane.levels.at(-1) ?? [], 0.5);
    this.drawStrips(y, lane.strips, 1);
  }

  // The critical path of the diagnosed step, above all lanes.
  drawPath() {
    const { path } = this.events, y = TOP + 14 - this.top;
    if (!path || !this.isVisible(y)) return;
    this.pen.fillStyle = this.quiet;
    this.pen.fillText(path.title, 4, y - 7);
    this.drawStrip(path.strip, y, 1);
  }

  color(name) {
    return this.colors[name] ??= hue(this.events.texts[name]);
  }

  drawStrips(top, strips, opacity) {
    strips.forEach((strip, row) => {
      const y = top + row * ROW;
      if (this.isVisible(y)) this.drawStrip(strip, y, opacity);
    });
  }

  drawStrip(strip, y, opacity) {
    const { pen, width, begin, pixel } = this, searching = this.group.words !== '';
    const { at, dur, busy } = strip;
    let drawnTo = -10;
    for (let i = strip.firstAfter(begin); i < at.length; ++i) {
      const left = (at[i] - begin) / pixel, right = left + dur[i] / pixel;
      if (left > width) break;
      if (right < drawnTo + 0.7) continue;  // in a pixel that is already drawn
      drawnTo = right;
      pen.globalAlpha = opacity * (busy ? 0.25 + 0.0075 * Math.min(busy[i], 100) : 1);
      pen.fillStyle = searching ? this.line : this.color(strip.name[i]);
      this.fill(left, right, y, ROW - 2);
      if (this.lone[strip.name[i]]) this.underline(left, right, y);
      if (!strip.count || strip.count[i] === 1) this.label(strip.name[i], left, right, y);
    }
    pen.globalAlpha = 1;
  }

  fill(left, right, y, height) {
    const from = Math.max(left, -2), to = Math.min(right, this.width + 2);
    this.pen.fillRect(from, y, Math.max(to - from, 0.8), height);
  }

  underline(left, right, y) {
    this.pen.fillStyle = this.bad;
    this.fill(left, right, y + ROW - 2, 3);
  }

  label(name, left, right, y) {
    const from = Math.max(left, 0), to = Math.min(right, this.width), { pen } = this;
    if (to - from < 34) return;
    pen.fillStyle = '#111';
    pen.save();
    pen.beginPath();
    pen.rect(from, y, to - from - 3, ROW);
    pen.clip();
    pen.fillText(this.events.texts[name], from + 3, y + ROW / 2 - 1);
    pen.restore();
  }

  // Draws search results over the gray events.
  drawHits() {
    const { events } = this, drawnTo = new Map();
    for (const id of this.hits) {
      const left = this.x(events.at[id]), right = left + events.dur[id] / this.pixel;
      if (right < 0 || left > this.width) continue;
      const y = this.y(id);
      if (!this.isVisible(y) || right < (drawnTo.get(y) ?? -10) + 0.7) continue;
      drawnTo.set(y, right);
      const name = events.label[id] >= 0 ? events.label[id] : events.name[id];
      this.pen.fillStyle = this.color(name);
      this.fill(left, right, y, ROW - 2);
      this.label(name, left, right, y);
    }
  }

  drawSelected() {
    if (this.selected < 0) return;
    const { pen, events, selected } = this;
    const left = this.x(events.at[selected]), right = left + events.dur[selected] / this.pixel;
    const from = Math.max(left, -2), to = Math.min(right, this.width + 2);
    pen.strokeStyle = this.ink;
    pen.lineWidth = 2;
    pen.strokeRect(from, this.y(selected), Math.max(to - from, 2), ROW - 2);
    pen.lineWidth = 1;
    pen.globalAlpha = 0.6;
    for (const [one, work] of this.links) this.drawLink(one, work);
    pen.globalAlpha = 1;
  }

  drawLink(from, to) {
    const middle = (id) => [this.x(this.events.at[id] + this.events.dur[id] / 2),
      this.y(id) + ROW / 2];
    const [ax, ay] = middle(from), [bx, by] = middle(to), half = (ay + by) / 2;
    this.pen.beginPath();
    this.pen.moveTo(ax, ay);
    this.pen.bezierCurveTo(ax, half, bx, half, bx, by);
    this.pen.stroke();
  }

  select(id) {
    this.selected = id;
    this.links = id >= 0 ? this.events.links(id) : [];
  }
}

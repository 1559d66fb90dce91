// SPDX-License-Identifier: Apache-2.0
// One file's lanes on a canvas. Draws what the zoom can tell apart: a level of detail, or events.
const ROW = 16, LANE_GAP = 20, TOP = 22, MOST_HEIGHT = 6000;

function hue(text) {
  let hash = 0;
  for (let i = 0; i < text.length; ++i) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return `hsl(${hash % 360} 52% 58%)`;
}

class View {
  constructor(file, events, group) {
    this.events = events;
    this.group = group;
    this.selected = -1;
    this.hits = [];
    this.steps = events.steps();
    this.colors = [];
    this.lone = [];  // of each text: whether it is work that the other file has not
    let y = TOP;
    for (const lane of events.lanes) {
      lane.y = y + 14;
      y += lane.rows * ROW + LANE_GAP;
    }
    this.height = Math.min(Math.max(y + 6, 80), MOST_HEIGHT);
    const keys = 'W and S zoom, A and D move, arrow keys select';
    this.canvas = make('canvas',
      { tabindex: 0, role: 'application', 'aria-label': `timeline of ${file.file}: ${keys}` });
    this.canvas.style.height = this.height + 'px';
    new Input(this);
  }

  // Where the axis is 0: the step that all files are aligned at.
  get origin() {
    const step = this.steps[Math.min(this.group.step, this.steps.length - 1)];
    return step === undefined ? 0 : this.events.at[step];
  }

  // What of the trace is on the canvas, for all that is drawn of a frame.
  measure() {
    this.width = this.canvas.clientWidth;
    this.begin = this.group.range.begin + this.origin;
    this.pixel = this.group.range.length / this.width;
  }
  x(ns) { return (ns - this.begin) / this.pixel; }

  draw() {
    this.measure();
    const { canvas, width, height } = this, scale = window.devicePixelRatio || 1;
    if (!width) return;
    if (canvas.width !== Math.round(width * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = height * scale;
    }
    const style = getComputedStyle(document.documentElement);
    this.ink = style.getPropertyValue('--ink');
    this.quiet = style.getPropertyValue('--quiet');
    this.line = style.getPropertyValue('--line');
    this.bad = style.getPropertyValue('--bad');
    const pen = this.pen = canvas.getContext('2d');
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    this.drawAxis();
    const level = this.events.cells.findIndex((cell) => cell <= this.pixel);
    for (const lane of this.events.lanes) {
      pen.fillStyle = this.quiet;
      pen.fillText(lane.title, 4, lane.y - 7);
      if (level >= 0) this.drawStrips(lane, lane.levels[level], 1);
      else {
        this.drawStrips(lane, lane.levels.at(-1) ?? [], 0.5);
        this.drawStrips(lane, lane.strips, 1);
      }
    }
    this.drawHits();
    this.drawSelected();
  }

  drawAxis() {
    const { pen } = this, { begin, length } = this.group.range;
    pen.fillStyle = this.quiet;
    pen.strokeStyle = this.line;
    const unit = 10 ** Math.floor(Math.log10(length / 4)), first = Math.ceil(begin / unit);
    for (let i = first; i * unit < begin + length && i < first + 60; ++i) {
      const x = this.x(i * unit + this.origin);
      pen.beginPath();
      pen.moveTo(x, 16);
      pen.lineTo(x, this.height);
      pen.stroke();
      if (i % 2 === 0) pen.fillText(time(i * unit / 1000), x + 3, 9);
    }
  }

  color(name) {
    return this.colors[name] ??= hue(this.events.texts[name]);
  }

  drawStrips(lane, strips, opacity) {
    strips.forEach((strip, row) => this.drawStrip(strip, lane.y + row * ROW, opacity));
  }

  drawStrip(strip, y, opacity) {
    const { pen, width, begin, pixel } = this, searching = this.group.words !== '';
    const { at, dur, busy } = strip;
    let drawnTo = -10;
    for (let i = strip.firstAfter(begin); i < at.length; ++i) {
      const left = (at[i] - begin) / pixel, right = left + dur[i] / pixel;
      if (left > width) break;
      if (right < drawnTo + 0.7) continue;  // within a pixel that is drawn already
      drawnTo = right;
      pen.globalAlpha = opacity * (busy ? 0.25 + 0.0075 * Math.min(busy[i], 100) : 1);
      pen.fillStyle = searching ? this.line : this.color(strip.name[i]);
      this.box(left, right, y);
      if (this.lone[strip.name[i]]) this.underline(left, right, y);
      if (!strip.count || strip.count[i] === 1) this.label(strip.name[i], left, right, y);
    }
    pen.globalAlpha = 1;
  }

  box(left, right, y, height = ROW - 2) {
    const from = Math.max(left, -2), to = Math.min(right, this.width + 2);
    this.pen.fillRect(from, y, Math.max(to - from, 0.8), height);
  }

  underline(left, right, y) {
    this.pen.fillStyle = this.bad;
    this.box(left, right, y + ROW - 2, 3);
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

  // Of what is searched for, over what is drawn grey.
  drawHits() {
    const { events } = this, drawnTo = new Map();
    for (const id of this.hits) {
      const left = this.x(events.at[id]), right = left + events.dur[id] / this.pixel;
      const y = this.y(id);
      if (right < 0 || left > this.width || right < (drawnTo.get(y) ?? -10) + 0.7) continue;
      drawnTo.set(y, right);
      const name = events.said[id] >= 0 ? events.said[id] : events.name[id];
      this.pen.fillStyle = this.color(name);
      this.box(left, right, y);
      this.label(name, left, right, y);
    }
  }

  y(id) {
    return this.events.lanes[this.events.lane[id]].y + this.events.row[id] * ROW;
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
    for (const [from, to] of this.links(selected)) this.drawLink(from, to);
    pen.globalAlpha = 1;
  }

  // Pairs of a launch, or an operator, and its work.
  links(id) {
    const { events } = this;
    if (!events.isDevice(id)) {
      const pairs = (one) => events.kernels(one).map((work) => [one, work]);
      return events.under(id, 2000).flatMap(pairs);
    }
    return events.starter(id) >= 0 ? [[events.starter(id), id]] : [];
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
}

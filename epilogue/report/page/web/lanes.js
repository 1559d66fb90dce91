// SPDX-License-Identifier: Apache-2.0
// The lanes of one file from top to bottom, and what is where: the critical path, each device's idle
// time and streams, threads, Python.
const HOST_ROW = 16, WORK_ROW = 24, TITLE = 15, LANE_GAP = 7, TOP = 22, PRINTED_HEIGHT = 3000;

class Lanes {
  constructor(file, events, group) {
    Object.assign(this, { file, events, group, cpuKernels: file.cpu_kernels });
    this.selected = -1;
    this.gap = null;  // the selected idle interval: {gaps, place}
    this.hits = [];
    this.links = [];
    this.steps = file.step_count > 0 ? file.step_ranges : [];
    this.lone = [];  // for each text: whether it names work that only this file has
    this.lanes = this.allLanes();
    const keys = 'W and S zoom, A and D move, arrow keys select, question mark lists all keys';
    this.canvas = make('canvas',
      { tabindex: 0, role: 'application', 'aria-label': `timeline of ${file.file}: ${keys}` });
    this.content = make('div', {}, this.canvas);
    this.box = make('div', { class: 'lanes', onscroll: () => group.draw() }, this.content);
    this.layout();
    new Input(this);
  }

  // What is drawn, from top to bottom. `lane` is set for streams and threads.
  allLanes() {
    const { events } = this, list = [], strip = (title, one, more) =>
      list.push({ title, strips: [one], rows: 1, rowHeight: HOST_ROW, levels: [], ...more });
    if (events.path) strip(events.path.title, events.path.strip, { isPath: true });
    const shownGaps = new Set();
    for (const lane of events.lanes) {
      const gaps = lane.device ? events.gaps.find((one) => one.pid === lane.pid) : null;
      if (gaps && !shownGaps.has(gaps)) {
        shownGaps.add(gaps);
        const title = this.cpuKernels ? 'why no kernel ran' : `GPU ${gaps.pid}: why it was idle`;
        if (gaps.strip.at.length > 0) strip(title, gaps.strip, { gaps });
      }
      list.push({ ...lane, lane, rowHeight: lane.device ? WORK_ROW : HOST_ROW,
        collapsed: lane.python || (isPair && !lane.device) });
    }
    return list;
  }

  layout() {
    let y = TOP;
    for (const lane of this.lanes) {
      lane.y = y + TITLE;
      lane.height = lane.collapsed ? 0 : lane.rows * lane.rowHeight;
      if (lane.lane) lane.lane.shown = lane;
      y = lane.y + lane.height + LANE_GAP;
    }
    this.total = Math.max(y + 4, 60);
    this.content.style.height = this.total + 'px';
  }
  toggle(lane) {
    lane.collapsed = !lane.collapsed;
    this.layout();
    this.group.draw();
  }

  // The zero of the axis: the diagnosed step, or the step at which all files are aligned.
  get origin() {
    const { step } = this.group, { steps } = this;
    if (step === null || steps.length === 0) return steps.length > 0 ? this.file.bar?.begin_ns ?? 0 : 0;
    const [begin, length] = steps[Math.min(step, steps.length - 1)];
    return step < steps.length ? begin : begin + length;
  }

  // Updates the visible range, which stays the same while a frame is drawn.
  measure() {
    this.width = this.canvas.clientWidth;
    this.height = Math.min(this.total, this.group.printing ? PRINTED_HEIGHT : this.box.clientHeight);
    this.top = this.box.scrollTop;
    this.begin = this.group.range.begin + this.origin;
    this.pixel = this.group.range.length / this.width;
  }
  x(ns) { return (ns - this.begin) / this.pixel; }
  laneOf(id) { return this.events.lanes[this.events.lane[id]].shown; }
  y(id) {
    const lane = this.laneOf(id);
    return lane.y - this.top + (lane.collapsed ? 0 : this.events.row[id] * lane.rowHeight);
  }
  isVisible(y, height) { return y > TOP - height && y < this.height; }

  // Scrolls to where an event is drawn, and opens its lane.
  show(id) {
    const lane = this.laneOf(id);
    this.showLane(lane, this.events.row[id]);
  }
  showLane(lane, row = 0) {
    if (!lane) return;
    if (lane.collapsed) this.toggle(lane);
    this.measure();
    const y = lane.y - this.top + row * lane.rowHeight;
    if (y < TOP || y + lane.rowHeight > this.height) this.box.scrollTop += y - this.height / 2;
  }

  select(id) {
    this.selected = id;
    this.gap = null;
    this.links = id >= 0 ? this.events.links(id) : [];
  }

  // What is at a position: {lane, title}, {id}, {gaps, place}, {strip, span}, or null.
  at(x, y) {
    const moment = this.begin + x * this.pixel, near = 2 * this.pixel;
    const lane = this.lanes.find((one) => y + this.top >= one.y - TITLE &&
      y + this.top < one.y + one.height + 2);
    if (!lane || y < TOP - 4) return null;
    const row = Math.floor((y + this.top - lane.y) / lane.rowHeight);
    if (row < 0) return x < 12 + this.pen.measureText(lane.title).width + 60 ? { lane, title: true } : null;
    if (lane.collapsed || row >= lane.rows) return null;
    const found = lane.strips[row]?.find(moment, near) ?? -1;
    if (lane.gaps) return found >= 0 ? { gaps: lane.gaps, place: found } : null;
    if (lane.isPath) return found >= 0 ? { path: found } : null;
    if (found >= 0) return { id: lane.strips[row].ids[found] };
    const strip = lane.levels.at(-1)?.[row], span = strip ? strip.find(moment, near) : -1;
    if (span >= 0) return { strip, span, row: `${lane.title} ${row}` };
    return lane.device ? this.gapAt(lane.pid, moment, near) : null;
  }
  gapAt(pid, moment, near) {
    const gaps = this.events.gaps.find((one) => one.pid === pid);
    const place = gaps ? gaps.strip.find(moment, near) : -1;
    return place >= 0 ? { gaps, place } : null;
  }
}

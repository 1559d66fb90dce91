// SPDX-License-Identifier: Apache-2.0
// Draws the lanes of one file on a canvas that covers only the visible part: a level of detail, or
// individual events if the zoom can resolve them.
class View extends Lanes {
  prepare() {
    const { canvas, width, height } = this, scale = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide;
      canvas.height = high;
      canvas.style.height = height + 'px';
    }
    this.pen = canvas.getContext('2d');
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.pen.clearRect(0, 0, width, height);
    this.pen.font = '11px system-ui, sans-serif';
    this.pen.textBaseline = 'middle';
  }

  draw() {
    this.measure();
    if (!this.width || !this.height) return;
    this.prepare();
    this.paint();
  }
  // The visible part as SVG.
  svg() {
    this.measure();
    const pen = this.pen;
    this.pen = new SvgPen(this.width, this.height + 18, theme.color('paper'));
    this.paint();
    this.drawLegend(this.height + 8);
    const text = this.pen.text(this.file.file);
    this.pen = pen;
    return text;
  }

  // The colors, for a picture without the page.
  drawLegend(y) {
    const kinds = new Set(this.events.kinds), idle = new Set(this.events.gaps.flatMap((one) => one.idle));
    let x = 4;
    for (const { key, what } of [...data.kinds.filter((one, i) => kinds.has(i)),
      ...data.idle.filter((one, i) => idle.has(i))]) {
      setFill(this.pen, theme.fill(key));
      this.pen.fillRect(x, y - 5, 10, 10);
      this.pen.fillStyle = theme.color('ink');
      this.pen.fillText(what, x + 14, y + 1);
      x += 26 + this.pen.measureText(what).width;
    }
  }

  paint() {
    const shown = ticks(this.group.range.begin, this.group.range.length, this.pixel);
    this.drawGrid(shown);
    const level = this.events.cells.findIndex((cell) => cell <= this.pixel);
    for (const lane of this.lanes) this.drawLane(lane, level);
    this.drawHits();
    this.drawPicked();
    this.drawSelected();
    this.drawAxis(shown);
  }

  drawGrid(shown) {
    this.pen.fillStyle = theme.color('line');
    for (const [ns] of shown) this.pen.fillRect(this.x(ns + this.origin), 0, 1, this.height);
  }

  // Drawn over the lanes, which scroll below it.
  drawAxis(shown) {
    const { pen } = this;
    pen.fillStyle = theme.color('paper');
    pen.fillRect(0, 0, this.width, TOP - 4);
    pen.fillStyle = theme.color('quiet');
    for (const [ns, text] of shown) pen.fillText(text, this.x(ns + this.origin) + 3, 9);
  }

  drawLane(lane, level) {
    const y = lane.y - this.top;
    if (y + lane.height < 0 || y - TITLE > this.height) return;
    this.drawTitle(lane, y);
    if (lane.collapsed) return;
    if (level >= 0 && lane.levels[level]) return this.drawStrips(lane, y, lane.levels[level], 1);
    this.drawStrips(lane, y, lane.levels.at(-1) ?? [], 0.5);
    this.drawStrips(lane, y, lane.strips, 1);
  }

  drawTitle(lane, y) {
    this.pen.fillStyle = theme.color('quiet');
    const mark = lane.collapsed ? '▸' : '▾';
    const rows = lane.collapsed && lane.rows > 1 ? ` (${lane.rows} rows)` : '';
    this.pen.fillText(`${mark} ${lane.title}${rows}`, 4, y - 7);
  }

  // The color key of an entry: its class of idle time, its kind of kernel, or the host.
  key(lane, strip, i) {
    if (strip.idle) return strip.idle[i] < 0 ? 'busy' : data.idle[strip.idle[i]].key;
    return lane.device ? KIND_KEYS[this.events.kinds[strip.name[i]]] ?? 'other' : 'host';
  }

  drawStrips(lane, top, strips, opacity) {
    strips.forEach((strip, row) => {
      const y = top + row * lane.rowHeight;
      if (!this.isVisible(y, lane.rowHeight)) return;
      if (lane.gaps) return this.drawGaps(strip, y, lane.rowHeight - 2);
      this.drawStrip(lane, strip, y, opacity);
    });
  }

  drawStrip(lane, strip, y, opacity) {
    const { pen, width, begin, pixel } = this, { at, dur, busy } = strip;
    const searching = this.group.words !== '', height = lane.rowHeight - 2;
    const gray = { color: theme.color('line'), style: theme.color('line') };
    let drawnTo = -10;
    for (let i = strip.firstAfter(begin); i < at.length; ++i) {
      const left = (at[i] - begin) / pixel, right = left + dur[i] / pixel;
      if (left > width) break;
      if (right < drawnTo + 0.7) continue;  // in a pixel that is already drawn
      drawnTo = right;
      pen.globalAlpha = opacity * (busy ? 0.25 + 0.0075 * Math.min(busy[i], 100) : 1);
      setFill(pen, searching ? gray : theme.fill(this.key(lane, strip, i)));
      this.fill(left, right, y, height);
      if (this.lone[strip.name[i]]) this.underline(left, right, y + height);
      if (!strip.count || strip.count[i] === 1) {
        pen.globalAlpha = 1;
        const isHatched = strip.idle && strip.idle[i] >= 0;
        this.label(this.events.texts[strip.name[i]], left, right, y, height,
          isHatched ? 'hatch' : searching ? 'gray' : 'fill');
      }
    }
    pen.globalAlpha = 1;
  }

  // Idle intervals shorter than a pixel are drawn as strongly as they fill it, in the color of the
  // class with the most time there.
  drawGaps(strip, y, height) {
    const { pen, width, begin, pixel } = this, { at, dur, idle, name } = strip;
    const inPixel = new Float64Array(data.idle.length);
    let column = -1;
    const flush = () => {
      const most = inPixel.indexOf(Math.max(...inPixel));
      const share = inPixel.reduce((sum, one) => sum + one, 0) / pixel;
      inPixel.fill(0);
      if (share <= 0) return;
      pen.globalAlpha = Math.min(1, share);
      setFill(pen, theme.fill(data.idle[most].key));
      pen.fillRect(column, y, 1, height);
    };
    for (let i = strip.firstAfter(begin); i < at.length; ++i) {
      const left = (at[i] - begin) / pixel, right = left + dur[i] / pixel;
      if (left > width) break;
      if (Math.floor(left) !== column) {
        if (column >= 0) flush();
        column = Math.floor(left);
      }
      if (right - left < 1) {
        inPixel[idle[i]] += dur[i];
        continue;
      }
      pen.globalAlpha = 1;
      setFill(pen, theme.fill(data.idle[idle[i]].key));
      this.fill(left, right, y, height);
      this.label(this.events.texts[name[i]], left, right, y, height, 'hatch');
    }
    if (column >= 0) flush();
    pen.globalAlpha = 1;
  }

  // Wide events leave a pixel free, so that neighbors of one color are distinct.
  fill(left, right, y, height) {
    const from = Math.max(left, -2), to = Math.min(right, this.width + 2);
    const space = right - left > 4 ? 1 : 0;
    this.pen.fillRect(from, y, Math.max(to - from - space, 0.8), height);
  }

  underline(left, right, y) {
    this.pen.fillStyle = theme.color('bad');
    this.fill(left, right, y - 2, 3);
  }

  // Text on a hatched fill gets a plain background. `on` is the fill: "fill", "hatch" or "gray".
  label(text, left, right, y, height, on) {
    const from = Math.max(left, 0), to = Math.min(right, this.width), { pen } = this;
    if (to - from < 34) return;
    pen.save();
    pen.beginPath();
    pen.rect(from, y, to - from - 3, height);
    pen.clip();
    if (on === 'hatch') {
      pen.fillStyle = theme.color('paper');
      pen.fillRect(from + 1, y + 1, pen.measureText(text).width + 5, height - 2);
    }
    pen.fillStyle = theme.color(on === 'fill' ? 'on-fill' : 'ink');
    pen.fillText(text, from + 3, y + height / 2 + 1);
    pen.restore();
  }

  // Draws search results over the gray events.
  drawHits() {
    const { events } = this, drawnTo = new Map();
    for (const id of this.hits) {
      const left = this.x(events.at[id]), right = left + events.dur[id] / this.pixel;
      const lane = this.laneOf(id), y = this.y(id);
      if (right < 0 || left > this.width || lane.collapsed) continue;
      if (!this.isVisible(y, lane.rowHeight) || right < (drawnTo.get(y) ?? -10) + 0.7) continue;
      drawnTo.set(y, right);
      const name = events.label[id] >= 0 ? events.label[id] : events.name[id];
      setFill(this.pen, theme.fill(lane.device ? KIND_KEYS[events.kinds[name]] ?? 'other' : 'host'));
      this.fill(left, right, y, lane.rowHeight - 2);
      this.label(events.texts[name], left, right, y, lane.rowHeight - 2, 'fill');
    }
  }

  // The range that is marked, with its length.
  drawPicked() {
    const { picked } = this.group, { pen } = this;
    if (!picked) return;
    const left = this.x(picked.begin + this.origin), right = this.x(picked.end + this.origin);
    const from = Math.max(left, -2), to = Math.min(right, this.width + 2);
    pen.globalAlpha = 0.16;
    pen.fillStyle = theme.color('accent');
    pen.fillRect(from, TOP - 4, to - from, this.height);
    pen.globalAlpha = 1;
    pen.fillRect(from, 0, 1.5, this.height);
    pen.fillRect(to - 1.5, 0, 1.5, this.height);
  }

  drawSelected() {
    this.frame(this.gapPlace());
    if (this.selected < 0) return;
    const { pen, events, selected } = this, lane = this.laneOf(selected);
    this.frame({ at: events.at[selected], dur: events.dur[selected], y: this.y(selected),
      height: lane.rowHeight - 2 });
    pen.globalAlpha = 0.6;
    for (const [one, work] of this.links) this.drawLink(one, work);
    pen.globalAlpha = 1;
  }
  gapPlace() {
    if (!this.gap) return null;
    const { gaps, place } = this.gap, lane = this.lanes.find((one) => one.gaps === gaps);
    if (!lane || lane.collapsed) return null;
    return { ...gaps.whole(place), y: lane.y - this.top, height: lane.rowHeight - 2 };
  }
  frame(place) {
    if (!place) return;
    const left = this.x(place.at), right = left + place.dur / this.pixel, { pen } = this;
    const from = Math.max(left, -2), to = Math.min(right, this.width + 2);
    pen.strokeStyle = theme.color('ink');
    pen.lineWidth = 2;
    pen.strokeRect(from, place.y, Math.max(to - from, 2), place.height);
    pen.lineWidth = 1;
  }

  drawLink(from, to) {
    const middle = (id) => [this.x(this.events.at[id] + this.events.dur[id] / 2),
      this.y(id) + this.laneOf(id).rowHeight / 2];
    const [ax, ay] = middle(from), [bx, by] = middle(to), half = (ay + by) / 2;
    this.pen.strokeStyle = theme.color('ink');
    this.pen.beginPath();
    this.pen.moveTo(ax, ay);
    this.pen.bezierCurveTo(ax, half, bx, half, bx, by);
    this.pen.stroke();
  }
}

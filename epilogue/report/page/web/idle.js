// SPDX-License-Identifier: Apache-2.0
// The idle map: a device over time, from left to right. Each column shows the busy share of a part
// of the window and the causes of its idle time. The map is also the overview of the timeline: a
// frame marks the visible range, a click or a drag changes it.
const MAP_HEIGHT = isPair ? 30 : 48, SHOWN_MAPS = 2;

class IdleMap {
  constructor(device, index) {
    this.map = device.map;
    this.index = index;
    this.title = (isPair ? `${'AB'[index]} · ` : '') + device.map.title;
    this.cursor = -1;
    this.caption = make('span', { class: 'quiet small' });
    this.hint();
    this.frame = make('div', { class: 'frame' });
    this.canvas = make('canvas', {
      class: 'map', style: { height: `${MAP_HEIGHT}px` }, tabindex: 0, role: 'slider', 'aria-label': device.map.title,
      'aria-valuemin': 0, 'aria-valuemax': Math.max(0, this.map.parts - 1), 'aria-valuenow': 0,
      onpointerdown: (event) => this.press(event),
      onpointermove: (event) => this.move(event),
      onpointerup: (event) => this.release(event),
      onpointercancel: () => { this.pressed = null; },
      onpointerleave: () => this.point(-1),
      onkeydown: (event) => this.key(event),
    });
    this.element = make('div', { class: 'idle-map' },
      this.caption, make('div', { class: 'map-box' }, this.canvas, this.frame));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    theme.onChange(() => this.draw());
  }

  hint() {
    this.caption.textContent = this.title;
  }

  partAt(event) {
    const place = Math.floor(event.offsetX / this.canvas.clientWidth * this.map.parts);
    return Math.min(this.map.parts - 1, Math.max(0, place));
  }

  press(event) {
    this.pressed = this.partAt(event);
    this.canvas.setPointerCapture(event.pointerId);
  }
  move(event) {
    const part = this.partAt(event);
    this.point(part);
    if (this.pressed === null || this.pressed === undefined || this.pressed === part) return;
    this.reveal(Math.min(this.pressed, part), Math.max(this.pressed, part) + 1);
  }
  release(event) {
    if (this.pressed === this.partAt(event)) this.go(this.pressed);
    this.pressed = null;
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20,
      Home: -this.map.parts, End: this.map.parts }[event.key];
    if (!step && event.key !== 'Enter') return;
    event.preventDefault();
    if (step) this.point(Math.min(this.map.parts - 1, Math.max(0, this.cursor + step)));
    else if (this.cursor >= 0) this.go(this.cursor);
  }

  // Describes a column.
  point(part) {
    this.cursor = part;
    if (part < 0) this.hint();
    else {
      const waits = this.map.idle.map(({ key, shares }) => [idleWords(key), shares[part]])
        .filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
      const busy = Math.max(0, 1 - waits.reduce((sum, [, share]) => sum + share, 0));
      const text = [['busy', busy], ...waits]
        .map(([what, share]) => `${what} ${percent(share)}`).join(', ');
      const origin = timelines?.views[this.index].origin ?? 0;
      const at = this.map.begin_ns + part * this.map.part_ns - origin;
      this.caption.textContent = `at ${nanoseconds(at)}: ${text}`;
      this.canvas.setAttribute('aria-valuenow', part);
      this.canvas.setAttribute('aria-valuetext', this.caption.textContent);
    }
    this.draw();
  }

  go(part) {
    this.reveal(part - 1, part + 2);
  }
  reveal(first, end) {
    const { begin_ns: begin, part_ns: length } = this.map;
    timelines?.reveal(timelines.views[this.index], begin + first * length, (end - first) * length);
  }

  // Moves the frame to the visible range, in nanoseconds of the trace.
  showRange(begin, length) {
    const whole = this.map.parts * this.map.part_ns;
    const left = Math.max(0, (begin - this.map.begin_ns) / whole);
    const right = Math.min(1, (begin + length - this.map.begin_ns) / whole);
    this.frame.style.display = right > left && right - left < 0.999 ? '' : 'none';
    this.frame.style.left = `${100 * left}%`;
    this.frame.style.width = `${100 * Math.max(0, right - left)}%`;
  }

  draw() {
    const { canvas } = this, { parts } = this.map, width = canvas.clientWidth;
    if (!width || parts === 0) return;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(MAP_HEIGHT * scale);
    const pen = canvas.getContext('2d'), wide = width / parts, top = new Float64Array(parts);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    setFill(pen, theme.fill('busy'));
    pen.fillRect(0, 0, width, MAP_HEIGHT);
    for (const { key, shares } of this.map.idle) {
      setFill(pen, theme.fill(key));
      shares.forEach((share, i) => {
        if (share > 0) pen.fillRect(i * wide, top[i], wide + 0.3, share * MAP_HEIGHT + 0.3);
        top[i] += share * MAP_HEIGHT;
      });
    }
    if (this.cursor < 0) return;
    pen.strokeStyle = theme.color('ink');
    pen.strokeRect(this.cursor * wide - 1, 0.5, wide + 2, MAP_HEIGHT - 1);
  }
}

function idleWords(key) {
  return data.idle.find((one) => one.key === key).what;
}

// The maps of all files. Those of further devices are folded.
function idleMaps() {
  const list = data.files.flatMap((file, index) => file.devices.map((device) =>
    ({ device, map: new IdleMap(device, index) })));
  const first = list.filter(({ device }, i) => isPair
    ? data.files.some((file) => file.devices[0] === device) : i < SHOWN_MAPS);
  const others = list.filter((one) => !first.includes(one));
  // The legend of the step bar, above, has the others.
  const known = new Set(data.files.flatMap((file) => (file.bar?.parts ?? [])
    .filter((part) => part.in_legend).map((part) => part.key)));
  const keys = data.idle.filter(({ key }) => !known.has(key) &&
    list.some(({ map }) => map.map.idle.some((one) => one.key === key)));
  const legend = make('div', { class: 'legend' },
    ...keys.map(({ key, letter, what }) => legendItem(key, letter, what)));
  const section = make('section', { id: 'idle', 'aria-label': 'Idle map' }, ...first.map(({ map }) => map.element),
    keys.length > 0 ? legend : null,
    others.length > 0 ? make('details', {}, make('summary', {},
      plural(others.length, 'further device')), ...others.map(({ map }) => map.element)) : null);
  return { section, maps: list.map(({ map }) => map) };
}

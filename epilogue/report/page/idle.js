// SPDX-License-Identifier: Apache-2.0
// Where a device's time goes: in sum, and over time.
const MAP_HEIGHT = 72;
const BUSY = 'busy';
const CAUSE_COLORS = {
  [BUSY]: '#4493f8',
  'CPU: dispatch': '#d29922',
  'CPU: runtime calls': '#f85149',
  'CPU: between ops': '#3fb950',
  'CPU: guards': '#39c5cf',
  'CPU: synchronising': '#db61a2',
  'CPU: data loading': '#7a5c00',
  'CPU: compiling': '#a371f7',
  'launch latency': '#8b949e',
  'between kernels': '#c9d1d9',
};

function causeColor(why) {
  return CAUSE_COLORS[why] ?? '#57606a';
}

// A map's device over time, from left to right: how much of each part it is busy, and what it waits
// for in the rest. A click, or Enter, goes there in the timeline.
class IdleMap {
  constructor(map, index) {
    this.map = map;
    this.index = index;
    this.parts = map.causes[0]?.shares.length ?? 0;
    this.cursor = -1;
    this.said = quiet('Each column is a part of the time; click one to see it in the timeline.');
    this.canvas = make('canvas', {
      class: 'map', tabindex: 0, role: 'slider', 'aria-label': 'idle time over time',
      'aria-valuemin': 0, 'aria-valuemax': this.parts - 1, 'aria-valuenow': 0,
      onpointermove: (event) => this.point(this.partAt(event)),
      onpointerleave: () => this.point(-1),
      onclick: (event) => this.go(this.partAt(event)),
      onkeydown: (event) => this.key(event),
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  partAt(event) {
    const place = Math.floor(event.offsetX / this.canvas.clientWidth * this.parts);
    return Math.min(this.parts - 1, Math.max(0, place));
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step && event.key !== 'Enter') return;
    event.preventDefault();
    if (step) this.point(Math.min(this.parts - 1, Math.max(0, this.cursor + step)));
    else if (this.cursor >= 0) this.go(this.cursor);
  }

  point(part) {
    this.cursor = part;
    if (part >= 0) {
      const waits = this.map.causes.map(({ why, shares: list }) => [why, list[part]])
        .filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
      const busy = 1 - waits.reduce((sum, [, share]) => sum + share, 0);
      const text = [[BUSY, Math.max(0, busy)], ...waits]
        .map(([why, share]) => `${why} ${percent(share)}`).join(', ');
      this.said.textContent = `${time(part * this.map.part_ns / 1000)} in: ${text}`;
      this.canvas.setAttribute('aria-valuenow', part);
      this.canvas.setAttribute('aria-valuetext', this.said.textContent);
    }
    this.draw();
  }

  go(part) {
    if (!timelines) return;
    const { begin_ns: begin, part_ns: length } = this.map;
    timelines.reveal(timelines.views[this.index], begin + (part - 1) * length, 3 * length);
    document.getElementById('timeline').scrollIntoView();
  }

  draw() {
    const { canvas, parts } = this, width = canvas.clientWidth;
    if (!width || parts === 0) return;
    canvas.width = width;
    canvas.height = MAP_HEIGHT;
    const pen = canvas.getContext('2d'), wide = width / parts;
    pen.fillStyle = causeColor(BUSY);
    pen.fillRect(0, 0, width, MAP_HEIGHT);
    const top = new Float64Array(parts);
    for (const { why, shares: list } of this.map.causes) {
      pen.fillStyle = causeColor(why);
      list.forEach((share, i) => {
        if (share > 0) pen.fillRect(i * wide, top[i], wide + 0.3, share * MAP_HEIGHT + 0.3);
        top[i] += share * MAP_HEIGHT;
      });
    }
    if (this.cursor < 0) return;
    pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--ink');
    pen.strokeRect(this.cursor * wide - 1, 0.5, wide + 2, MAP_HEIGHT - 1);
  }
}

function deviceTime(device, map, index) {
  const parts = [['compute', device.compute_us],
    ['communication alone', device.exposed_communication_us],
    ['copies alone', device.exposed_memory_us], ['idle', device.idle_us]];
  const activity = (key) => 'CPU: ' + key.replace(/_us$/, '').replace(/_/g, ' ');
  const own = ([key]) => key !== 'runtime_calls_us';  // the sum of three others
  const causes = [
    ...Object.entries(device.idle.cpu).filter(own).map(([key, us]) => [activity(key), us]),
    ['launch latency', device.idle.on_its_way_us],
    ['between kernels', device.idle.between_kernels_us],
    ['not in the file', device.idle.not_in_file_us], ['no launch', device.idle.unknown_us]];
  const shown = new IdleMap(map, index);
  return make('div', {},
    make('h3', {}, `device ${device.device}: ${time(device.window_us)}`), shares(parts),
    device.idle_us === 0 ? null : make('div', {},
      make('h3', {}, 'idle, because the next work waited for'),
      shares(causes.sort((a, b) => b[1] - a[1]), causeColor),
      make('h3', {}, 'over time'), shown.canvas, legend([[BUSY, causeColor(BUSY)]]), shown.said));
}

function idleSection() {
  section('idle', 'Where the time goes', sideBySide((file, index) => {
    const { devices } = file.breakdown;
    if (devices.length === 0) return quiet('No device work is recorded.');
    return make('div', {},
      ...devices.map((device, i) => deviceTime(device, file.idle_maps[i], index)));
  }));
}

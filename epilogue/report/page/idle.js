// SPDX-License-Identifier: Apache-2.0
// Where the time of each device goes: in total, by cause of idle time, and over time.
const MAP_HEIGHT = 72;
const BUSY = 'busy';
const CAUSE_COLORS = {
  [BUSY]: '#4493f8',
  'host: dispatch': '#d29922',
  'host: launching': '#f85149',
  'host: between ops': '#3fb950',
  'host: guards': '#39c5cf',
  'host: synchronizing': '#db61a2',
  'host: data loading': '#7a5c00',
  'host: compiling': '#a371f7',
  'launch latency': '#8b949e',
  'gap between two kernels': '#c9d1d9',
};

function causeColor(why) {
  return CAUSE_COLORS[why] ?? '#57606a';
}

// A device over time, from left to right. Each column shows the busy share of a part of the window,
// and the causes of its idle time. A click, or Enter, shows that part in the timeline.
class IdleMap {
  constructor(map, index) {
    this.map = map;
    this.index = index;
    this.parts = map.causes[0]?.shares.length ?? 0;
    this.cursor = -1;
    this.caption = quiet(`Each column is 1/${this.parts} of the time. Click one to show it ` +
      'in the timeline.');
    this.canvas = make('canvas', {
      class: 'map', tabindex: 0, role: 'slider', 'aria-label': 'busy and idle time over time',
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
      this.caption.textContent = `at ${time(part * this.map.part_ns / 1000)}: ${text}`;
      this.canvas.setAttribute('aria-valuenow', part);
      this.canvas.setAttribute('aria-valuetext', this.caption.textContent);
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

// "host: between ops" of "between_ops_us". JSON has the British spelling.
function hostActivity(key) {
  return 'host: ' + key.replace(/_us$/, '').replace(/_/g, ' ').replace(/ising$/, 'izing');
}

function deviceTime(device, map, index) {
  const parts = [['compute', device.compute_us],
    ['communication, exposed', device.exposed_communication_us],
    ['copies and memsets, exposed', device.exposed_memory_us], ['idle', device.idle_us]];
  const isSingle = ([key]) => key !== 'runtime_calls_us';  // the sum of three other activities
  // The same texts as in page_data.cpp, for the same colors.
  const causes = [
    ...Object.entries(device.idle.cpu).filter(isSingle).map(([key, us]) => [hostActivity(key), us]),
    ['launch latency', device.idle.on_its_way_us],
    ['gap between two kernels', device.idle.between_kernels_us],
    ['waiting for something not in the trace', device.idle.not_in_file_us],
    ['unknown: launch not in the trace', device.idle.unknown_us]];
  const cpuKernels = data.files[index].cpu_kernels, shown = new IdleMap(map, index);
  const name = cpuKernels ? 'CPU kernels' : `GPU ${device.device}`;
  return make('div', {},
    make('h3', {},
      `${name}: ${time(device.window_us)} from the first to the last event`),
    shares(parts),
    device.idle_us === 0 ? null : make('div', {},
      make('h3', {}, cpuKernels ? 'why no kernel ran' : 'why the GPU was idle'),
      shares(causes.sort((a, b) => b[1] - a[1]), causeColor),
      make('h3', {}, 'over time'), shown.canvas, legend([[BUSY, causeColor(BUSY)]]),
      shown.caption));
}

function idleSection() {
  section('idle', 'Where the time goes', sideBySide((file, index) => {
    const { devices } = file.breakdown;
    if (devices.length === 0) return quiet(NO_DEVICE_WORK);
    return make('div', {},
      ...devices.map((device, i) => deviceTime(device, file.idle_maps[i], index)));
  }));
}

// SPDX-License-Identifier: Apache-2.0
// The events of a file as columns. Ids number the events of all lanes, one lane after the other.
// Strips are what a row of a lane draws at each level of detail.

const MAX_DESCENDANTS = 50000, MAX_LINKS = 5000;  // links drawn at once

function cumulative(deltas) {
  const sums = new Float64Array(deltas.length);
  let sum = 0;
  for (let i = 0; i < deltas.length; ++i) sums[i] = sum += deltas[i];
  return sums;
}

// The index of the first larger value in a sorted column.
function upperBound(column, value) {
  let low = 0, high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The contents of one row, by start: events, which have ids, or spans of several events. `idle` has
// the class of each entry if the row shows idle time.
class Strip {
  constructor(at, dur, name, { ids = null, count = null, busy = null, idle = null } = {}) {
    Object.assign(this, { at, dur, name, ids, count, busy, idle });
  }
  static ofLevel(row) {
    const texts = Int32Array.from(row.name);
    return new Strip(cumulative(row.begin), Float64Array.from(row.dur), texts, row);
  }
  // The index of the first entry that ends at a moment or later.
  firstAfter(moment) {
    const before = Math.max(0, upperBound(this.at, moment) - 1);
    return before < this.at.length && this.at[before] + this.dur[before] < moment
      ? before + 1 : before;
  }
  // The index of the entry at a moment, or of the closest within `near`, or -1.
  find(moment, near) {
    let best = -1, distance = near;
    for (let i = this.firstAfter(moment - near); i < this.at.length; ++i) {
      if (this.at[i] > moment + near) break;
      const away = Math.max(this.at[i] - moment, moment - this.at[i] - this.dur[i], 0);
      if (away < distance || best < 0) {
        best = i;
        distance = away;
      }
    }
    return best;
  }
}

// The idle time of a device, in order of time. An idle interval has one part for each thing that the
// host did. Places are those of parts.
class Gaps {
  constructor(device) {
    this.pid = device.pid;
    this.strip = Strip.ofLevel({ ...device, name: device.cause, count: null, busy: null });
    [this.begin, this.length] = device.window;
    this.leftOut = device.left_out;  // by class: the time of short intervals in equal parts of the window
    for (const key of ['interval', 'idle', 'cause', 'host', 'host_name', 'python', 'module',
      'waiting', 'waiting_name']) {
      this[key] = device[key];
    }
  }

  // The parts of the interval with this part: {first, end, at, dur}.
  whole(place) {
    const { at, dur } = this.strip, number = this.interval[place];
    let first = place, end = place;
    while (first > 0 && this.interval[first - 1] === number) --first;
    while (end < at.length && this.interval[end] === number) ++end;
    return { first, end, at: at[first], dur: at[end - 1] + dur[end - 1] - at[first] };
  }

  // Idle nanoseconds in a range, by class.
  sums(begin, end) {
    const { at, dur } = this.strip, sums = new Float64Array(data.idle.length);
    for (let i = this.strip.firstAfter(begin); i < at.length && at[i] < end; ++i) {
      sums[this.idle[i]] += Math.min(end, at[i] + dur[i]) - Math.max(begin, at[i]);
    }
    this.leftOut.forEach((parts, idle) => { sums[idle] += this.leftOutIn(parts, begin, end); });
    return sums;
  }

  // Of a part that is only partly in the range, the same share of its time.
  leftOutIn(parts, begin, end) {
    if (parts.length === 0) return 0;
    const width = this.length / parts.length;
    const from = (begin - this.begin) / width, to = (end - this.begin) / width;
    let sum = 0;
    for (let i = Math.max(0, Math.floor(from)); i < Math.min(parts.length, to); ++i) {
      sum += parts[i] * (Math.min(to, i + 1) - Math.max(from, i));
    }
    return sum;
  }

  get leftOutNs() {
    return this.leftOut.flat().reduce((sum, ns) => sum + ns, 0);
  }

  // The interval in a range with the most time of a class, or of all: {place, ns}, or null.
  longest(idle, begin, end) {
    const { at, dur } = this.strip;
    let best = null, sum = null;
    for (let i = this.strip.firstAfter(begin); i < at.length && at[i] < end; ++i) {
      if (idle !== null && this.idle[i] !== idle) continue;
      const ns = Math.min(end, at[i] + dur[i]) - Math.max(begin, at[i]);
      const continues = sum && this.interval[sum.place] === this.interval[i];
      sum = continues ? { place: sum.place, ns: sum.ns + ns } : { place: i, ns };
      if (!best || sum.ns > best.ns) best = sum;
    }
    return best;
  }
}

class Events {
  constructor(timeline) {
    this.texts = timeline.texts;
    this.kinds = timeline.kinds;  // of each text: index of the kind of kernel, or -1
    this.gaps = timeline.idle.map((device) => new Gaps(device));
    this.cells = timeline.cells_ns;
    this.length = timeline.length_ns;
    this.path = timeline.path;
    if (this.path) {
      this.path.strip = Strip.ofLevel({ ...this.path, count: null, busy: null,
        idle: this.path.idle });
    }
    this.size = timeline.lanes.reduce((sum, lane) => sum + lane.dur.length, 0);
    for (const key of ['at', 'dur', 'self', 'gpu']) this[key] = new Float64Array(this.size);
    for (const key of ['name', 'lane', 'row', 'workCount']) this[key] = new Int32Array(this.size);
    // Ids, or indices of texts, or -1. Linked lists start at `first…` and continue at `next…`.
    for (const key of ['label', 'kind', 'shapes', 'launch', 'op', 'parent', 'firstChild',
      'nextChild', 'firstWork', 'nextWork']) {
      this[key] = new Int32Array(this.size).fill(-1);
    }
    let first = 0;
    this.lanes = timeline.lanes.map((lane, i) => {
      this.copy(lane, first, i);
      const made = this.addLane(lane, first);
      first = made.end;
      return made;
    });
    this.link();
  }

  copy(lane, first, index) {
    this.at.set(cumulative(lane.begin), first);
    this.lane.fill(index, first, first + lane.dur.length);
    for (const key of ['dur', 'name', 'row', 'kind', 'shapes', 'launch', 'op', 'self', 'gpu']) {
      if (lane[key]) this[key].set(lane[key], first);
    }
    if (lane.decoded) this.label.set(lane.decoded, first);
    if (lane.work_count) this.workCount.set(lane.work_count, first);
  }

  addLane(lane, first) {
    const end = first + lane.dur.length, ids = [], last = [];
    for (let id = first; id < end; ++id) {
      const row = this.row[id], above = row > 0 ? last[row - 1] : undefined;
      const covers = above !== undefined &&
        this.at[id] + this.dur[id] <= this.at[above] + this.dur[above];
      if (!lane.device && covers) this.parent[id] = above;
      last[row] = id;
      (ids[row] ??= []).push(id);
    }
    const levels = lane.levels.map((rows) => rows.map((row) => Strip.ofLevel(row)));
    const rows = Math.max(1, ids.length, ...levels.map((level) => level.length));
    const strips = Array.from({ length: rows }, (_, row) => {
      const list = Int32Array.from(ids[row] ?? []);
      return new Strip(Float64Array.from(list, (id) => this.at[id]),
        Float64Array.from(list, (id) => this.dur[id]),
        Int32Array.from(list, (id) => this.label[id] >= 0 ? this.label[id] : this.name[id]),
        { ids: list });
    });
    const { title, device, python, pid } = lane;
    return { title, device, python, pid, first, end, rows, strips, levels };
  }

  // Iterates backwards, so that the lists are in order.
  link() {
    for (let id = this.size - 1; id >= 0; --id) {
      const parent = this.parent[id];
      const launcher = this.launcher(id);
      if (parent >= 0) {
        this.nextChild[id] = this.firstChild[parent];
        this.firstChild[parent] = id;
      }
      if (launcher >= 0) {
        this.nextWork[id] = this.firstWork[launcher];
        this.firstWork[launcher] = id;
      }
    }
  }

  text(id) { return id >= 0 ? this.texts[id] : null; }
  nameOf(id) { return this.texts[this.name[id]]; }
  labelOf(id) { return this.text(this.label[id]) ?? this.nameOf(id); }
  isDevice(id) { return this.lanes[this.lane[id]].device; }
  launcher(id) { return this.launch[id] >= 0 ? this.launch[id] : this.op[id]; }
  children(id) { return this.list(this.firstChild[id], this.nextChild); }
  kernels(id) { return this.list(this.firstWork[id], this.nextWork); }
  list(id, next) {
    const ids = [];
    for (; id >= 0; id = next[id]) ids.push(id);
    return ids;
  }

  // The event and its descendants, stopping at `limit`. Not recursive, because traces nest deeply.
  descendants(id, limit) {
    const list = [id];
    for (let i = 0; i < list.length && list.length < limit; ++i) {
      for (const child of this.children(list[i])) list.push(child);
    }
    return list;
  }

  // Pairs of a launch or operator and the work it launched, for an event and its descendants.
  allLinks(id) {
    if (this.isDevice(id)) return this.launcher(id) >= 0 ? [[this.launcher(id), id]] : [];
    const pairs = (one) => this.kernels(one).map((work) => [one, work]);
    return this.descendants(id, MAX_DESCENDANTS).flatMap(pairs);
  }
  // Those that are drawn.
  links(id) {
    return this.allLinks(id).slice(0, MAX_LINKS);
  }

  // The decoded names of all device work.
  deviceLabels() {
    const labels = new Set();
    for (const lane of this.lanes.filter((one) => one.device)) {
      for (const strip of [lane.strips, ...lane.levels].flat()) {
        for (const name of strip.name) labels.add(this.texts[name]);
      }
    }
    return labels;
  }

  // Sums of the work in a range, by decoded name, longest first: [[name, count, nanoseconds]].
  workIn(begin, end) {
    const sums = new Map();
    for (const lane of this.lanes.filter((one) => one.device)) {
      for (const { at, dur, name } of lane.strips) {
        for (let i = upperBound(at, begin - 1) - 1; i < at.length && !(at[i] >= end); ++i) {
          const ns = i < 0 ? 0 : Math.min(end, at[i] + dur[i]) - Math.max(begin, at[i]);
          if (i < 0 || ns < 0 || at[i] + dur[i] <= begin) continue;
          const sum = sums.get(name[i]) ?? [name[i], 0, 0];
          sums.set(name[i], [name[i], sum[1] + 1, sum[2] + ns]);
        }
      }
    }
    return [...sums.values()].sort((a, b) => b[2] - a[2]);
  }

  // The longest kernel of one of the kinds that starts in a range, or -1. All kinds if none given.
  longestWork(kinds, begin, end) {
    let best = -1;
    for (const lane of this.lanes.filter((one) => one.device)) {
      for (let id = lane.first; id < lane.end; ++id) {
        const kind = this.kinds[this.label[id] >= 0 ? this.label[id] : this.name[id]];
        const fits = this.at[id] >= begin && this.at[id] < end && (!kinds || kinds.has(kind));
        if (fits && (best < 0 || this.dur[id] > this.dur[best])) best = id;
      }
    }
    return best;
  }

  // Ids of the events whose raw or decoded name contains the words.
  search(words) {
    const query = words.toLowerCase();
    const has = this.texts.map((text) => text.toLowerCase().includes(query));
    const ids = [];
    for (let id = 0; id < this.size; ++id) {
      if (has[this.name[id]] || (this.label[id] >= 0 && has[this.label[id]])) ids.push(id);
    }
    return ids;
  }

  // Nanoseconds of events: work, and host events that are not inside another one of them.
  times(ids) {
    const among = new Uint8Array(this.size), sums = { device: 0, host: 0 };
    for (const id of ids) among[id] = 1;
    for (const id of ids) {
      let above = this.parent[id];
      while (above >= 0 && !among[above]) above = this.parent[above];
      if (this.isDevice(id)) sums.device += this.dur[id];
      else if (above < 0) sums.host += this.dur[id];
    }
    return sums;
  }
}

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

// The contents of one row, by start: events, which have ids, or spans of several events.
class Strip {
  constructor(at, dur, name, { ids = null, count = null, busy = null } = {}) {
    Object.assign(this, { at, dur, name, ids, count, busy });
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

class Events {
  constructor(timeline) {
    this.texts = timeline.texts;
    this.cells = timeline.cells_ns;
    this.length = timeline.length_ns;
    this.path = timeline.path;
    if (this.path) this.path.strip = Strip.ofLevel({ ...this.path, count: null, busy: null });
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
    if (lane.said) this.label.set(lane.said, first);
    if (lane.works) this.workCount.set(lane.works, first);
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
    return { title: lane.title, device: lane.device, first, end, rows, strips, levels };
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
  links(id) {
    if (this.isDevice(id)) return this.launcher(id) >= 0 ? [[this.launcher(id), id]] : [];
    const pairs = (one) => this.kernels(one).map((work) => [one, work]);
    return this.descendants(id, MAX_DESCENDANTS).flatMap(pairs).slice(0, MAX_LINKS);
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

  // Ids of the steps marked by a profiler, in order.
  steps() {
    const isStep = this.texts.map((text) => text.startsWith('ProfilerStep#'));
    const ids = [];
    for (const lane of this.lanes) {
      for (let id = lane.first; id < lane.end && !lane.device; ++id) {
        if (isStep[this.name[id]]) ids.push(id);
      }
    }
    return ids.sort((a, b) => this.at[a] - this.at[b]);
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
}

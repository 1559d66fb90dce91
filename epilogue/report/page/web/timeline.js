// SPDX-License-Identifier: Apache-2.0
// The timelines of all files on one axis: visible range, search, selection.

const MAX_STEP_RATIO = 20;

class Timelines {
  constructor(files, maps) {
    this.maps = maps;
    this.step = null;  // files are aligned at the diagnosed step, or at the step with this index
    this.shownStep = -1;
    this.printing = false;
    this.words = '';
    this.hit = -1;
    this.picked = null;  // the marked range: {begin, end}
    this.views = files.map((file, i) => {
      const timeline = JSON.parse(document.getElementById(`timeline-${i}`).textContent);
      const view = new View(file, new Events(timeline), this);
      return Object.assign(view, { timeline, index: i });
    });
    if (this.views.length === 2) this.markLone();
    this.detail = make('div', { id: 'detail', 'aria-live': 'polite', hidden: '' });
    this.tip = make('div', { id: 'tip', role: 'presentation', hidden: '' });
    this.stepName = make('span', { class: 'quiet small' });
    this.range = { ...this.first };
    const [{ steps, origin }] = this.views;
    this.shownStep = steps.findIndex(([begin]) => begin === origin);
    window.addEventListener('beforeprint', () => this.print(true));
    window.addEventListener('afterprint', () => this.print(false));
    theme.onChange(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(document.getElementById('main'));
  }

  // Underlines work that only one of the two files has.
  markLone() {
    const labels = this.views.map((view) => view.events.deviceLabels());
    this.views.forEach((view, i) => {
      const { texts } = view.events, mine = labels[i], others = labels[1 - i];
      view.lone = texts.map((text) => mine.has(text) && !others.has(text));
    });
  }

  get whole() {
    const begin = Math.min(...this.views.map((view) => -view.origin));
    const end = Math.max(...this.views.map((view) => view.events.length - view.origin));
    return { begin, length: Math.max(1, end - begin) };
  }
  // What the page shows first: the diagnosed step, with a margin.
  get first() {
    const bars = this.views.filter((view) => view.file.bar && view.steps.length > 0)
      .map((view) => ({ begin: view.file.bar.begin_ns - view.origin, ...view.file.bar }));
    if (bars.length < this.views.length) return this.whole;
    // A step that is much shorter than the other would not be visible.
    const lengths = bars.map((bar) => bar.length_ns), shortest = Math.min(...lengths);
    if (Math.max(...lengths) > MAX_STEP_RATIO * shortest) {
      return { begin: -0.03 * shortest, length: 3 * Math.max(1, shortest) };
    }
    const begin = Math.min(...bars.map((bar) => bar.begin));
    const end = Math.max(...bars.map((bar) => bar.begin + bar.length_ns));
    return { begin: begin - 0.03 * (end - begin), length: 1.06 * Math.max(1, end - begin) };
  }

  // Prints on white, even if the screen is dark.
  print(printing) {
    this.printing = printing;
    document.documentElement.toggleAttribute('data-print', printing);
    theme.change();
    this.drawNow();
  }

  setRange(begin, length) {
    this.range = { begin, length: Math.max(20, length) };
    this.draw();
  }
  zoom(factor, around) {
    const { begin, length } = this.range;
    const next = Math.min(this.whole.length * 1.1, Math.max(20, length * factor));
    this.setRange(begin + (length - next) * around, next);
  }
  move(share) {
    const { begin, length } = this.range, { whole } = this;
    const last = whole.begin + whole.length - length / 2;
    const next = Math.max(whole.begin - length / 2, begin + share * length);
    this.setRange(Math.min(last, next), length);
  }
  reset() {
    this.setRange(this.whole.begin, this.whole.length);
  }
  // Shows a range of one view, in nanoseconds from its start.
  reveal(view, at, length) {
    this.setRange(at - view.origin, length);
  }

  alignAt(step) {
    const most = Math.max(...this.views.map((view) => view.steps.length));
    if (most === 0) return;
    this.clear();  // a marked range and "at" count from the step
    this.step = this.shownStep = Math.min(Math.max(0, step), most - 1);
    const names = this.views.map((view) => this.step < view.steps.length
      ? view.file.steps.rows[this.step][0] : 'no such step');
    this.stepName.textContent = [...new Set(names)].join(' vs ');
  }
  // Aligns all files at the step with this index, and shows it.
  goToStep(step) {
    this.alignAt(step);
    if (this.step === null) return;
    const longest = Math.max(...this.views.map((view) => view.steps[this.step]?.[1] ?? 0));
    this.setRange(-0.05 * longest, 1.2 * Math.max(longest, 1));
  }
  showStep(step) {
    this.goToStep(step);
    this.scrollHere();
  }
  scrollHere() {
    document.getElementById('timeline').scrollIntoView({ block: 'nearest' });
  }

  // Highlights events whose name contains the words, and grays out the others.
  look(words) {
    this.words = words;
    this.hit = -1;
    for (const view of this.views) view.hits = words === '' ? [] : view.events.search(words);
    this.draw();
  }
  find(words) {
    this.search.show(words);
    this.next(1);
    this.scrollHere();
  }
  hitCount() {
    return this.views.reduce((sum, view) => sum + view.hits.length, 0);
  }
  hitTimes() {
    const times = this.views.map((view) => view.events.times(view.hits));
    return { device: times.reduce((sum, one) => sum + one.device, 0),
      host: times.reduce((sum, one) => sum + one.host, 0) };
  }
  // Goes to the next match, through all views.
  next(by) {
    const total = this.hitCount(), { found } = this.search;
    if (total === 0) {
      found.textContent = this.words === '' ? '' : 'no individually drawn event matches';
      return;
    }
    this.hit = (Math.max(this.hit, by > 0 ? -1 : 0) + by + total) % total;
    found.textContent = `${this.hit + 1} of ${total.toLocaleString('en-US')}`;
    let place = this.hit;
    for (const view of this.views) {
      if (place < view.hits.length) return this.select(view, view.hits[place], true);
      place -= view.hits.length;
    }
  }

  select(view, id, reveal = false) {
    for (const other of this.views) other.select(-1);
    this.picked = null;
    view.select(id);
    this.show(id < 0 ? [] : describeEvent(view, id));
    if (id >= 0 && reveal) this.revealEvent(view, id);
    this.draw();
  }
  selectGap(view, gaps, place, reveal = false) {
    this.select(view, -1);
    view.gap = { gaps, place };
    this.show(describeGap(view, gaps, place));
    if (reveal) {
      const { at, dur } = gaps.whole(place);
      this.reveal(view, at - 0.5 * dur, 2 * Math.max(dur, 10));
      view.showLane(view.lanes.find((lane) => lane.gaps === gaps));
      this.scrollHere();
    }
  }
  // Marks a range, and shows its sums. What is selected stays selected.
  pick(begin, end) {
    this.picked = { begin: Math.min(begin, end), end: Math.max(begin, end) };
    const { begin: from, end: to } = this.picked;
    this.show([make('b', {}, `range of ${nanoseconds(to - from)}`), ...this.views.map((view, i) =>
      make('div', {}, isPair ? make('h3', {}, fileTitle(i)) : null,
        describeRange(view, from + view.origin, to + view.origin)))]);
    this.draw();
  }
  // The span of what is selected, on the axis.
  get selectedSpan() {
    if (this.picked) return this.picked;
    for (const view of this.views) {
      const { events, selected, gap } = view;
      const { at, dur } = gap ? gap.gaps.whole(gap.place)
        : { at: events.at[selected], dur: events.dur[selected] };
      if (gap || selected >= 0) return { begin: at - view.origin, end: at - view.origin + dur };
    }
    return null;
  }
  // F: zooms to what is selected. M: marks it as a range.
  focusSelected() {
    const span = this.selectedSpan;
    if (!span) return this.reset();
    const length = Math.max(20, span.end - span.begin);
    this.setRange(span.begin - 0.1 * length, 1.2 * length);
  }
  markSelected() {
    const span = this.selectedSpan;
    if (span) this.pick(span.begin, Math.max(span.end, span.begin + 1));
  }
  clear() {
    this.select(this.views[0], -1);
  }

  // Shows the event with some context around it.
  revealEvent(view, id) {
    const { whole, range } = this, at = view.events.at[id], dur = view.events.dur[id];
    const wide = range.length > whole.length / 4 ? whole.length / 50 : range.length;
    const length = Math.max(dur * 8, Math.min(wide, 1e6 * Math.max(dur, 1)));
    this.reveal(view, at - (length - dur) / 2, length);
    view.show(id);
  }
  showEvent(index, id) {
    if (id < 0) return;
    this.select(this.views[index], id, true);
    this.scrollHere();
  }
  // Shows the longest part of the diagnosed step with a color of its bar.
  showLongest(index, key) {
    const view = this.views[index], { begin_ns: begin, length_ns: length } = view.file.bar;
    const idle = data.idle.findIndex((one) => one.key === key);
    if (idle < 0) {
      const kinds = key === 'busy' ? null : new Set([KIND_KEYS.indexOf(key)]);
      return this.showEvent(index, view.events.longestWork(kinds, begin, begin + length));
    }
    this.showLongestGap(view, idle, begin, begin + length);
  }
  // Selects the idle interval with the most time of a class, or the longest of the trace.
  showLongestGap(view, idle = null, begin = -Infinity, end = Infinity) {
    const [found] = view.events.gaps.map((gaps) => ({ gaps, ...gaps.longest(idle, begin, end) }))
      .filter(({ ns }) => ns > 0).sort((a, b) => b.ns - a.ns);
    if (found) this.selectGap(view, found.gaps, found.place, true);
  }

  show(parts) {
    const shown = parts.filter((part) => part !== null);
    this.detail.hidden = shown.length === 0;
    const close = make('button', { type: 'button', class: 'close', 'aria-label': 'close',
      onclick: () => this.clear() }, '×');
    this.detail.replaceChildren(...(shown.length > 0 ? [close, ...shown] : []));
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.drawNow());
  }
  drawNow() {
    this.waiting = false;
    for (const view of this.views) view.draw();
    for (const map of this.maps) {
      const { origin } = this.views[map.index];
      map.showRange(this.range.begin + origin, this.range.length);
    }
    this.onDraw?.();
  }
}

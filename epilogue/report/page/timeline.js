// SPDX-License-Identifier: Apache-2.0
// The timelines of all files on one axis: visible range, search and selection.

const MAX_NAMES = 6;

// "5 events, 234.3 us: …": all work that an event launched. For an annotation, this includes
// launches of other threads. Names are listed for work that is drawn and connected by lines.
function launchedWork(view, id) {
  const { events, links } = view, all = events.workCount[id];
  if (all === 0) return '';
  const names = [...new Set(links.map(([, work]) => events.labelOf(work)))];
  const more = all - links.length;
  return `${plural(all, 'event')}, ${time(events.gpu[id] / 1000)}: ` +
    [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ['…'] : [])].join('; ') +
    (more > 0 ? `; ${more} launched by other threads or too short to draw individually` : '');
}

class Timelines {
  constructor(files) {
    this.step = 0;  // files are aligned at the start of this step
    this.shownStep = -1;
    this.printing = false;
    this.words = '';
    this.hit = -1;
    this.views = files.map((file, i) => {
      const text = document.getElementById(`timeline-${i}`).textContent;
      return new View(file, new Events(file.timeline = JSON.parse(text)), this);
    });
    if (this.views.length === 2) this.markLone();
    this.range = { ...this.whole };
    this.detail = make('div', { id: 'detail', 'aria-live': 'polite' });
    this.found = make('span', { class: 'quiet small', role: 'status' });
    this.stepName = make('span', { class: 'quiet small' });
    this.search = make('input', {
      type: 'search', id: 'find', placeholder: 'find events', 'aria-label': 'find events',
      oninput: () => this.look(this.search.value),
      onkeydown: (event) => { if (event.key === 'Enter') this.next(event.shiftKey ? -1 : 1); },
    });
    this.showHint();
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || document.activeElement.tagName === 'INPUT') return;
      event.preventDefault();
      this.search.focus();
    });
    window.addEventListener('beforeprint', () => this.print(true));
    window.addEventListener('afterprint', () => this.print(false));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
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

  showText(text) {
    this.detail.replaceChildren(make('span', { class: 'quiet' }, text));
  }
  showHint() {
    this.showText('Click an event to select it. Zoom: W, S or the mouse wheel. Move: A, D or ' +
      'drag. Next event: arrow keys. Search: /');
  }

  // Prints on white, even if the screen is dark.
  print(printing) {
    this.printing = printing;
    document.documentElement.toggleAttribute('data-print', printing);
    this.drawNow();
  }

  zoom(factor, around) {
    const { begin, length } = this.range;
    const next = Math.min(this.whole.length * 1.1, Math.max(20, length * factor));
    this.range = { begin: begin + (length - next) * around, length: next };
    this.draw();
  }

  move(share) {
    const { begin, length } = this.range, { whole } = this;
    const last = whole.begin + whole.length - length / 2;
    const next = Math.max(whole.begin - length / 2, begin + share * length);
    this.range = { begin: Math.min(last, next), length };
    this.draw();
  }

  reset() {
    this.range = { ...this.whole };
    this.draw();
  }

  // Shows a range of one view, in nanoseconds from its start.
  reveal(view, at, length) {
    this.range = { begin: at - view.origin, length };
    this.draw();
  }

  // Aligns all files at the step with this index, and shows it.
  goToStep(step) {
    const most = Math.max(...this.views.map((view) => view.steps.length));
    if (most === 0) return;
    this.step = this.shownStep = Math.min(Math.max(0, step), most - 1);
    const places = this.views.map((view) => view.steps[this.step]);
    const longest = Math.max(...this.views.map((view, i) => view.events.dur[places[i]] ?? 0));
    this.range = { begin: -0.05 * longest, length: 1.2 * Math.max(longest, 1) };
    const names = this.views.map((view, i) => places[i] === undefined ? 'no such step'
      : view.events.nameOf(places[i]));
    this.stepName.textContent = [...new Set(names)].join(' vs ');
    this.draw();
  }

  showStep(step) {
    this.goToStep(step);
    document.getElementById('timeline').scrollIntoView();
  }

  // Highlights events whose name contains the words, and grays out the others.
  look(words) {
    this.words = words;
    this.hit = -1;
    for (const view of this.views) view.hits = words === '' ? [] : view.events.search(words);
    this.found.textContent = words === '' ? ''
      : plural(this.hitCount(), 'match', 'matches');
    this.draw();
  }

  find(words) {
    this.search.value = words;
    this.look(words);
    this.next(1);
    document.getElementById('timeline').scrollIntoView();
  }

  hitCount() {
    return this.views.reduce((sum, view) => sum + view.hits.length, 0);
  }

  // Goes to the next match, through all views.
  next(by) {
    const total = this.hitCount();
    if (total === 0) {
      if (this.words !== '') {
        this.showText(`No individually drawn event matches "${this.words}".`);
      }
      return;
    }
    this.hit = (Math.max(this.hit, by > 0 ? -1 : 0) + by + total) % total;
    this.found.textContent = `${this.hit + 1} of ${total}`;
    let place = this.hit;
    for (const view of this.views) {
      if (place < view.hits.length) return this.select(view, view.hits[place], true);
      place -= view.hits.length;
    }
  }

  select(view, id, reveal = false) {
    for (const other of this.views) other.select(-1);
    view.select(id);
    if (id < 0) this.showHint();
    else this.show(view, id);
    if (id >= 0 && reveal) this.revealEvent(view, id);
    this.draw();
  }

  // Shows the event with some context around it.
  revealEvent(view, id) {
    const { whole, range } = this, at = view.events.at[id], dur = view.events.dur[id];
    const wide = range.length > whole.length / 4 ? whole.length / 50 : range.length;
    const length = Math.max(dur * 8, Math.min(wide, 1e6 * Math.max(dur, 1)));
    this.reveal(view, at - (length - dur) / 2, length);
    view.show(id);
  }

  show(view, id) {
    const { events } = view, isDevice = events.isDevice(id);
    const line = (name, value) => value === null || value === ''
      ? null : make('div', {}, make('span', { class: 'quiet' }, name + ' '), value);
    this.detail.replaceChildren(...[
      make('b', {}, events.nameOf(id)),
      line('decoded', events.labelOf(id) === events.nameOf(id) ? null : events.labelOf(id)),
      line('category', events.text(events.kind[id])),
      line('lane', events.lanes[events.lane[id]].title),
      line('at', time((events.at[id] - view.origin) / 1000)),
      line(isDevice ? 'duration' : 'CPU total', time(events.dur[id] / 1000)),
      isDevice ? null : line('CPU self', time(events.self[id] / 1000)),
      line('shapes', events.text(events.shapes[id])),
      isDevice && events.op[id] >= 0 ? line('launched by', events.nameOf(events.op[id])) : null,
      line(view.cpuKernels ? 'kernels' : 'GPU work', launchedWork(view, id)),
    ].filter((part) => part !== null));
  }

  // Describes a span of events that are not drawn individually.
  showSpan(view, strip, place) {
    const longest = view.events.texts[strip.name[place]];
    this.showText(`${plural(strip.count[place], 'short event')} in ` +
      `${time(strip.dur[place] / 1000)}, busy ${Math.min(100, strip.busy[place])} %; ` +
      `longest: ${longest}`);
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.waiting = false;
    for (const view of this.views) view.draw();
  }
}

// Lanes that the timeline does not have.
function laneNotes(timeline) {
  const { streams_left_out: streams, left_out_stream_ns: ns, stream_ns: allNs } = timeline;
  const notes = [];
  if (streams > 0) {
    notes.push(`only the busiest streams are shown; ${plural(streams, 'further stream')} with ` +
      `${percent(ns / Math.max(1, allNs))} of the GPU time left out`);
  }
  if (timeline.threads_left_out > 0) {
    notes.push(`${plural(timeline.threads_left_out, 'further thread')} with less time left out`);
  }
  return notes;
}

function timelineNote(file, view) {
  const { left_out: leftOut, too_deep: tooDeep } = file.timeline;
  const notes = laneNotes(file.timeline);
  if (leftOut > 0) {
    notes.push(`${plural(view.events.size, 'event')} drawn individually: the longest kernels ` +
      'with the events that launched them, and the longest other events',
    `${plural(leftOut, 'shorter event')} merged into spans, shaded by how busy they are`);
  }
  if (tooDeep > 0) notes.push(`${plural(tooDeep, 'event')} nested too deeply to be drawn`);
  return notes.length > 0 ? quiet(`${file.file}: ${notes.join('; ')}.`) : null;
}

function timelineSection(group) {
  const hasSteps = group.views.some((view) => view.steps.length > 0);
  const tools = make('div', { class: 'tools no-print' }, group.search, group.found,
    button('all', () => group.reset(), 'show everything'),
    button('+', () => group.zoom(1 / 2, 0.5), 'zoom in'),
    button('−', () => group.zoom(2, 0.5), 'zoom out'));
  if (hasSteps) {
    tools.append(button('‹ step', () => group.goToStep(group.shownStep - 1), 'previous step'),
      button('step ›', () => group.goToStep(group.shownStep + 1), 'next step'),
      group.stepName);
  }
  const lanes = data.files.map((file, i) => make('div', {},
    isPair ? make('h3', {}, `${'AB'[i]}: ${file.file}`) : null,
    group.views[i].box));
  const notes = data.files.map((file, i) => timelineNote(file, group.views[i]));
  if (isPair) notes.push(quiet('Kernels that only one of the two traces has are underlined.'));
  section('timeline', 'Timeline', tools, ...lanes, group.detail, ...notes);
  group.draw();
}

// SPDX-License-Identifier: Apache-2.0
// Search over the timeline and all tabs, with counts and total times. Enter steps through the
// events in the timeline.
class Search {
  constructor(tabs) {
    this.tabs = tabs;
    this.filtered = new Set();  // tabs that were opened from the results
    this.field = make('input', {
      type: 'search', id: 'find', placeholder: 'search everything  ( / )',
      'aria-label': 'search everything', autocomplete: 'off',
      oninput: () => this.look(this.field.value),
      onkeydown: (event) => this.key(event),
    });
    this.found = make('span', { class: 'quiet small', role: 'status' });
    this.results = make('div', { id: 'results', hidden: '' });
    this.element = make('div', { class: 'search no-print', role: 'search' }, this.field, this.found,
      this.results);
    document.addEventListener('keydown', (event) => {
      const inField = ['INPUT', 'TEXTAREA'].includes(document.activeElement.tagName);
      if (event.key !== '/' || inField) return;
      event.preventDefault();
      this.field.focus();
      this.field.select();
    });
    document.addEventListener('click', (event) => {
      if (!this.element.contains(event.target)) this.results.hidden = true;
    });
  }

  // Escape closes the results, then clears the search.
  key(event) {
    if (event.key === 'Enter') {
      timelines?.next(event.shiftKey ? -1 : 1);
      this.results.hidden = true;
    }
    if (event.key !== 'Escape') return;
    event.preventDefault();
    if (this.results.hidden) this.set('');
    else this.results.hidden = true;
  }

  set(words) {
    this.field.value = words;
    this.look(words);
    this.results.hidden = true;
  }
  // The same without changing the filters of the tabs.
  show(words) {
    this.filtered.clear();
    this.set(words);
  }

  look(words) {
    timelines?.look(words);
    this.found.textContent = '';
    this.results.hidden = words === '';
    for (const id of this.filtered) this.tabs.get(id).filter(words);
    if (words === '') {
      this.filtered.clear();
      return;
    }
    const sections = this.tabs.tabs.map(({ id, title }) =>
      ({ id, title, ...this.tabs.get(id).find(words) }));
    this.results.replaceChildren(this.timelineResult(words),
      ...sections.map((one) => this.result(one, words)));
  }

  timelineResult(words) {
    const events = timelines?.hitCount() ?? 0, sums = timelines?.hitTimes() ?? { device: 0, host: 0 };
    return make('button', { type: 'button', onclick: () => timelines?.find(words) },
      make('b', {}, 'Timeline'), [plural(events, 'event'),
        ...this.times(sums.device / 1000, sums.host / 1000)].join(', '));
  }
  times(device, host) {
    return [device > 0 ? `${time(device)} ${DEVICE}` : '', host > 0 ? `${time(host)} CPU` : '']
      .filter((text) => text !== '');
  }

  result({ id, title, rows, device, host }, words) {
    const open = () => {
      this.filtered.add(id);
      this.tabs.get(id).filter(words);
      this.tabs.open(id, { scroll: true });
      this.results.hidden = true;
    };
    const attributes = { type: 'button', onclick: open };
    if (rows === 0) attributes.disabled = '';
    return make('button', attributes, make('b', {}, title),
      [plural(rows, 'match', 'matches'), ...this.times(device, host)].join(', '));
  }
}

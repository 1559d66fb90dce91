// SPDX-License-Identifier: Apache-2.0
// Search over the timeline and all tabs, with counts and total times. Enter steps through the
// events in the timeline.
class Search {
  constructor(tabs) {
    this.tabs = tabs;
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

  key(event) {
    if (event.key === 'Enter') timelines?.next(event.shiftKey ? -1 : 1);
    if (event.key === 'Escape') this.set('');
  }

  set(words) {
    this.field.value = words;
    this.look(words);
    this.results.hidden = true;
  }

  look(words) {
    timelines?.look(words);
    this.results.hidden = words === '';
    if (words === '') {
      for (const { built } of this.tabs.tabs) built?.filter('');
      this.found.textContent = '';
      return;
    }
    const sections = this.tabs.tabs.map(({ id, title }) =>
      ({ id, title, ...this.tabs.get(id).find(words) }));
    this.results.replaceChildren(this.timelineResult(words),
      ...sections.map((one) => this.result(one, words)));
  }

  timelineResult(words) {
    const events = timelines?.hitCount() ?? 0, sums = timelines?.hitTimes() ?? { device: 0, host: 0 };
    const times = [sums.device > 0 ? `${nanoseconds(sums.device)} on the ${DEVICE === 'GPU'
      ? 'GPU' : 'kernel lane'}` : '', sums.host > 0 ? `${nanoseconds(sums.host)} on threads` : ''];
    return make('button', { type: 'button', onclick: () => timelines?.find(words) },
      make('b', {}, 'Timeline'),
      [plural(events, 'event'), ...times.filter((text) => text !== '')].join(', '));
  }

  result({ id, title, rows, us }, words) {
    const open = () => {
      this.tabs.open(id, { scroll: true });
      this.tabs.get(id).filter(words);
      this.results.hidden = true;
    };
    const attributes = { type: 'button', onclick: open };
    if (rows === 0) attributes.disabled = '';
    return make('button', attributes, make('b', {}, title),
      plural(rows, 'match', 'matches') + (us === null || rows === 0 ? '' : `, ${time(us)}`));
  }
}

// SPDX-License-Identifier: Apache-2.0
// Tabs below the timeline. A panel is built when it is first shown.
class Tabs {
  constructor() {
    this.tabs = [];
    this.current = null;
    this.list = make('div', { class: 'tabs no-print', role: 'tablist', 'aria-label': 'Sections',
      onkeydown: (event) => this.key(event) });
    this.element = make('div', { id: 'sections' }, this.list);
  }

  // `build` returns the content, see sections.js.
  add(id, title, build) {
    const panel = make('section', { id, role: 'tabpanel', 'aria-label': title, hidden: '' });
    const tab = make('button', { type: 'button', role: 'tab', id: `tab-${id}`, 'aria-controls': id,
      'aria-selected': false, tabindex: -1, onclick: () => this.open(id) }, title);
    this.tabs.push({ id, title, tab, panel, build, built: null });
    this.list.append(tab);
    this.element.append(panel);
  }

  get(id) {
    const one = this.tabs.find((tab) => tab.id === id);
    if (!one.built) {
      one.built = one.build();
      one.panel.append(make('h2', { class: 'print-only' }, one.title), one.built.element);
    }
    return one.built;
  }

  // Prints all panels.
  print(printing) {
    for (const { id } of this.tabs) this.get(id).print?.(printing);
  }

  open(id, options = {}) {
    if (!this.tabs.some((tab) => tab.id === id)) return;
    for (const { id: other, tab, panel } of this.tabs) {
      const selected = other === id;
      tab.setAttribute('aria-selected', selected);
      tab.tabIndex = selected ? 0 : -1;
      panel.toggleAttribute('hidden', !selected);
    }
    this.current = id;
    this.get(id).onShow?.();
    if (options.scroll) this.list.scrollIntoView({ block: 'start' });
    this.onChange?.();
  }

  key(event) {
    const at = this.tabs.findIndex(({ tab }) => tab === document.activeElement);
    const last = this.tabs.length - 1;
    const next = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1,
      Home: 0, End: last }[event.key];
    if (next === undefined || at < 0) return;
    event.preventDefault();
    this.open(this.tabs[next].id);
    this.tabs[next].tab.focus();
  }
}

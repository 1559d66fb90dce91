// SPDX-License-Identifier: Apache-2.0
// The keys of the timeline. They work everywhere on the page, except where keys have another
// meaning: in fields, tabs, tables, the tree and open dialogs.
class Keys {
  constructor(group) {
    this.group = group;
    document.addEventListener('keydown', (event) => this.press(event));
  }

  // The view with the focus, or with the selection, or the first.
  get view() {
    const { views } = this.group;
    return views.find((view) => view.canvas === document.activeElement) ??
      views.find((view) => view.selected >= 0 || view.gap) ?? views[0];
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { activeElement } = document, isArrow = event.key.startsWith('Arrow');
    if (activeElement.matches('input, textarea, select') || this.group.help.open) return;
    const hasArrows = activeElement.closest('.scroll, .tabs, canvas.map');
    if (isArrow && hasArrows) return;
    const { group } = this;
    const keys = {
      w: () => group.zoom(1 / 1.5, 0.5), s: () => group.zoom(1.5, 0.5),
      a: () => group.move(-0.2), d: () => group.move(0.2),
      f: () => group.focusSelected(), m: () => group.markSelected(),
      arrowright: () => this.walk(1), arrowleft: () => this.walk(-1),
      arrowup: () => this.jump((events, id) =>
        events.isDevice(id) ? events.launcher(id) : events.parent[id]),
      arrowdown: () => this.jump((events, id) =>
        events.firstChild[id] >= 0 ? events.firstChild[id] : events.firstWork[id]),
      escape: () => group.clear(), '?': () => group.help.showModal(),
    };
    const action = keys[event.key.toLowerCase()];
    if (!action || (isArrow && activeElement === document.body && !this.group.selectedSpan)) return;
    event.preventDefault();
    action();
  }

  // Selects the next event or idle interval, at first the first event in the visible range.
  walk(by) {
    const { view, group } = this, { events, selected, gap } = view;
    if (gap) return this.walkGaps(by, gap);
    const begin = group.range.begin + view.origin, end = begin + group.range.length;
    const next = selected >= 0 ? selected + by
      : events.at.findIndex((at) => at >= begin && at < end);
    if (next >= 0 && next < events.size) group.select(view, next, true);
  }
  walkGaps(by, { gaps, place }) {
    const { first, end } = gaps.whole(place), next = by > 0 ? end : first - 1;
    if (next >= 0 && next < gaps.strip.at.length) {
      this.group.selectGap(this.view, gaps, next, true);
    }
  }
  jump(to) {
    const { view, group } = this, { selected } = view;
    const next = selected < 0 ? -1 : to(view.events, selected);
    if (next >= 0) group.select(view, next, true);
  }
}

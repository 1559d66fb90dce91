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
      views.find((view) => view.selected >= 0) ?? views[0];
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { activeElement } = document, isArrow = event.key.startsWith('Arrow');
    if (activeElement.matches('input, textarea, select') || this.group.help.open) return;
    if (isArrow && !activeElement.matches('body, .lanes canvas, button.plain')) return;
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
    if (!action || (isArrow && this.view.selected < 0 && activeElement === document.body)) return;
    event.preventDefault();
    action();
  }

  // Selects the next event, at first the first one in the visible range.
  walk(by) {
    const { view, group } = this, { events, selected } = view;
    let next = selected + by;
    if (selected < 0) {
      const begin = group.range.begin + view.origin;
      next = Math.max(0, events.at.findIndex((at) => at >= begin));
    }
    if (next >= 0 && next < events.size) group.select(view, next, true);
  }
  jump(to) {
    const { view, group } = this, { selected } = view;
    const next = selected < 0 ? -1 : to(view.events, selected);
    if (next >= 0) group.select(view, next, true);
  }
}

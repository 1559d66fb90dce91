// SPDX-License-Identifier: Apache-2.0
// Mouse, touch and keyboard input on the canvas of a view.

class Input {
  constructor(view) {
    this.view = view;
    this.drag = null;
    const listen = (type, action) =>
      view.canvas.addEventListener(type, action, { passive: false });
    listen('wheel', (event) => this.wheel(event));
    listen('keydown', (event) => this.key(event));
    listen('pointerdown', (event) => this.down(event));
    listen('pointermove', (event) => this.pull(event));
    listen('pointerup', (event) => {
      if (this.drag && this.drag.moved < 4) this.click(event.offsetX, event.offsetY);
      this.drag = null;
    });
    listen('pointercancel', () => { this.drag = null; });
  }

  down(event) {
    const { canvas } = this.view;
    this.drag = { x: event.offsetX, y: event.clientY, moved: 0 };
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
  }

  pull(event) {
    if (!this.drag) return;
    const right = event.offsetX - this.drag.x, down = event.clientY - this.drag.y;
    this.drag = { x: event.offsetX, y: event.clientY,
      moved: this.drag.moved + Math.abs(right) + Math.abs(down) };
    this.view.box.scrollTop -= down;
    this.view.group.move(-right / this.view.width);
  }

  // Zooms with Ctrl, or if the timeline has the focus. Otherwise the page scrolls.
  wheel(event) {
    const { canvas, group, width } = this.view;
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    const across = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX
      : event.shiftKey ? event.deltaY : 0;
    if (across !== 0) group.move(across / width);
    else group.zoom(1.002 ** event.deltaY, event.offsetX / width);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { events, group } = this.view;
    const keys = {
      w: () => group.zoom(1 / 1.5, 0.5), s: () => group.zoom(1.5, 0.5),
      a: () => group.move(-0.2), d: () => group.move(0.2),
      arrowright: () => this.walk(1), arrowleft: () => this.walk(-1),
      arrowup: () => this.jump((id) =>
        events.isDevice(id) ? events.launcher(id) : events.parent[id]),
      arrowdown: () => this.jump((id) =>
        events.firstChild[id] >= 0 ? events.firstChild[id] : events.firstWork[id]),
      escape: () => group.select(this.view, -1),
    };
    const action = keys[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }

  walk(by) {
    const { events, group, selected } = this.view, next = selected < 0 ? 0 : selected + by;
    if (next >= 0 && next < events.size) group.select(this.view, next, true);
  }

  jump(to) {
    const { group, selected } = this.view, next = selected < 0 ? -1 : to(selected);
    if (next >= 0) group.select(this.view, next, true);
  }

  // Selects the event at a position, or describes the span of short events there.
  click(x, y) {
    const { events, group, begin, pixel, top } = this.view;
    const moment = begin + x * pixel, near = 2 * pixel;
    for (const lane of events.lanes) {
      const row = Math.floor((y + top - lane.y) / ROW);
      if (row < 0 || row >= lane.rows) continue;
      const event = lane.strips[row].find(moment, near);
      if (event >= 0) return group.select(this.view, lane.strips[row].ids[event]);
      const strip = lane.levels.at(-1)?.[row], span = strip ? strip.find(moment, near) : -1;
      if (span >= 0) return group.showSpan(this.view, strip, span);
    }
    group.select(this.view, -1);
  }
}

// SPDX-License-Identifier: Apache-2.0
// Mouse, touch and keyboard input on the canvas of a view. A mouse marks a range by dragging, a
// finger moves the timeline.
const CLICK_PIXELS = 4;

class Input {
  constructor(view) {
    this.view = view;
    this.drag = null;
    const listen = (type, action) =>
      view.canvas.addEventListener(type, action, { passive: false });
    listen('wheel', (event) => this.wheel(event));
    listen('pointerdown', (event) => this.down(event));
    listen('pointermove', (event) => this.drag ? this.pull(event) : this.hover(event));
    listen('pointerleave', () => this.hideTip());
    listen('pointerup', (event) => this.up(event));
    listen('pointercancel', () => { this.drag = null; });
  }

  moment(event) {
    const { group, width } = this.view;
    return group.range.begin + event.offsetX / width * group.range.length;
  }

  down(event) {
    const { canvas } = this.view;
    if (event.button > 1) return;
    const moves = event.pointerType === 'touch' || event.shiftKey || event.button === 1;
    this.drag = { x: event.offsetX, y: event.clientY, far: 0, moves, from: this.moment(event) };
    this.hideTip();
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
  }

  pull(event) {
    const { drag, view } = this;
    const right = event.offsetX - drag.x, down = event.clientY - drag.y;
    drag.far += Math.abs(right) + Math.abs(down);
    drag.x = event.offsetX;
    drag.y = event.clientY;
    if (drag.moves) {
      view.box.scrollTop -= down;
      view.group.move(-right / view.width);
    } else if (drag.far >= CLICK_PIXELS) {
      view.group.picked = { begin: Math.min(drag.from, this.moment(event)),
        end: Math.max(drag.from, this.moment(event)) };
      view.group.draw();
    }
  }

  up(event) {
    const { drag, view } = this;
    this.drag = null;
    if (!drag) return;
    if (drag.far < CLICK_PIXELS) this.click(event.offsetX, event.offsetY);
    else if (!drag.moves) view.group.pick(drag.from, this.moment(event));
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

  // Selects what is at a position, or folds the lane whose title is there.
  click(x, y) {
    const { view } = this, found = view.at(x, y);
    if (!found) return view.group.clear();
    if (found.title) return view.toggle(found.lane);
    if (found.id !== undefined) return view.group.select(view, found.id);
    if (found.gaps) return view.group.selectGap(view, found.gaps, found.place);
    view.group.clear();
    view.group.show(this.describe(found));
  }

  describe(found) {
    const { view } = this;
    if (found.id !== undefined) return describeEvent(view, found.id);
    if (found.gaps) return describeGap(view, found.gaps, found.place);
    if (found.path !== undefined) return describePath(view, found.path);
    return describeSpan(view, found.strip, found.span);
  }

  hover(event) {
    const { view } = this;
    if (event.pointerType === 'touch' || !view.pen) return;
    const found = view.at(event.offsetX, event.offsetY);
    view.canvas.style.cursor = found ? 'pointer' : 'crosshair';
    const key = found ? [found.id, found.place, found.span, found.path, found.row].join(' ') : '';
    if (!found || found.title) return this.hideTip();
    const { tip } = view.group;
    if (key !== this.tipKey) {
      this.tipKey = key;
      tip.replaceChildren(...this.describe(found).filter((part) => part !== null));
    }
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - width - 8);
    const below = event.clientY + 18 + height < window.innerHeight;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${below ? event.clientY + 18 : Math.max(4, event.clientY - height - 10)}px`;
  }
  hideTip() {
    this.tipKey = null;
    this.view.group.tip.hidden = true;
  }
}

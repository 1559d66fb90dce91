// SPDX-License-Identifier: Apache-2.0
// The state of the page in its address: "#t=BEGIN,LENGTH&sel=FILE.EVENT&tab=tree". Times are
// nanoseconds from the start of the trace A. A link restores the view.
class DeepLink {
  constructor(tabs, search) {
    Object.assign(this, { tabs, search });
    this.restoring = false;
    window.addEventListener('hashchange', () => {
      if (location.hash !== this.last) this.restore();
    });
  }

  // The address is replaced, so that the back button leaves the page.
  save() {
    if (this.restoring) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.last = this.hash();
      history.replaceState(null, '', this.last);
    }, 200);
  }

  hash() {
    const [view] = timelines.views, { range, picked } = timelines;
    const parts = [`t=${Math.round(range.begin + view.origin)},${Math.round(range.length)}`];
    const selected = timelines.views.findIndex((one) => one.selected >= 0);
    if (selected >= 0) parts.push(`sel=${selected}.${timelines.views[selected].selected}`);
    if (picked) {
      parts.push(`range=${Math.round(picked.begin + view.origin)},` +
        `${Math.round(picked.end - picked.begin)}`);
    }
    if (timelines.step !== null) parts.push(`step=${timelines.step}`);
    if (this.tabs.current) parts.push(`tab=${this.tabs.current}`);
    if (timelines.words !== '') parts.push(`q=${encodeURIComponent(timelines.words)}`);
    return '#' + parts.join('&');
  }

  // Unknown or malformed parts are ignored.
  restore() {
    const values = new Map(location.hash.slice(1).split('&').map((part) => {
      const at = part.indexOf('=');
      return [part.slice(0, at), part.slice(at + 1)];
    }));
    const numbers = (key, separator) => {
      const list = (values.get(key) ?? '').split(separator).map((text) => Number(text || NaN));
      return list.length === 2 && list.every(Number.isFinite) ? list : null;
    };
    this.restoring = true;
    const step = Number(values.get('step') ?? NaN);
    if (Number.isInteger(step)) timelines.alignAt(step);
    if (values.has('tab')) this.tabs.open(values.get('tab'));
    try {
      if (values.has('q')) this.search.set(decodeURIComponent(values.get('q')));
    } catch { /* a malformed escape */ }
    const [view] = timelines.views, shown = numbers('t', ','), event = numbers('sel', '.');
    const marked = numbers('range', ',');
    if (event && timelines.views[event[0]]?.events.size > event[1] && event[1] >= 0) {
      timelines.select(timelines.views[event[0]], event[1]);
    }
    if (marked) timelines.pick(marked[0] - view.origin, marked[0] + marked[1] - view.origin);
    if (shown && shown[1] > 0) timelines.setRange(shown[0] - view.origin, shown[1]);
    this.restoring = false;
    this.save();
  }
}

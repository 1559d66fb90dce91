// SPDX-License-Identifier: Apache-2.0
// The state of the page in its address: "#t=START,LENGTH&sel=FILE.EVENT&tab=tree". Times are
// nanoseconds from the start of trace A. A link restores the view.
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
    const gapView = timelines.views.findIndex((one) => one.gap);
    if (gapView >= 0) {
      const { gaps, place } = timelines.views[gapView].gap;
      parts.push(`gap=${gapView}.${timelines.views[gapView].events.gaps.indexOf(gaps)}.${place}`);
    }
    if (picked) {
      parts.push(`range=${Math.round(picked.begin + view.origin)},` +
        `${Math.round(picked.end - picked.begin)}`);
    }
    if (timelines.step !== null) parts.push(`step=${timelines.step}`);
    if (this.tabs.current) parts.push(`tab=${this.tabs.current}`);
    if (timelines.words !== '') parts.push(`q=${encodeURIComponent(timelines.words)}`);
    return '#' + parts.join('&');
  }

  // Unknown and malformed parts are ignored, and ranges outside the trace.
  restore() {
    const values = new Map(location.hash.slice(1).split('&').map((part) => {
      const at = part.indexOf('=');
      return [part.slice(0, at), part.slice(at + 1)];
    }));
    this.restoring = true;
    try {
      this.restoreFrom(values);
    } finally {
      this.restoring = false;
    }
    this.save();
  }

  restoreFrom(values) {
    const integers = (key, count) => {
      const list = (values.get(key) ?? '').split(/[.,]/);
      return list.length === count && list.every((text) => /^-?\d{1,15}$/.test(text))
        ? list.map(Number) : null;
    };
    timelines.clear();
    this.search.set('');
    timelines.step = null;
    timelines.range = { ...timelines.first };
    const [step] = integers('step', 1) ?? [];
    if (step !== undefined) timelines.alignAt(step);
    if (values.has('tab')) this.tabs.open(values.get('tab'));
    const words = decoded(values.get('q') ?? '');
    if (words !== '') this.search.set(words);
    const [file, id] = integers('sel', 2) ?? [];
    if (timelines.views[file]?.events.size > id && id >= 0) {
      timelines.select(timelines.views[file], id);
    }
    const [gapFile, device, place] = integers('gap', 3) ?? [];
    const gaps = timelines.views[gapFile]?.events.gaps[device];
    if (gaps?.strip.at.length > place && place >= 0) {
      timelines.selectGap(timelines.views[gapFile], gaps, place);
    }
    const { origin } = timelines.views[0];
    const marked = integers('range', 2), shown = integers('t', 2);
    if (marked && isInside(marked[0] - origin, marked[1])) {
      timelines.pick(marked[0] - origin, marked[0] + marked[1] - origin);
    }
    if (shown && isInside(shown[0] - origin, shown[1])) {
      timelines.setRange(shown[0] - origin, shown[1]);
    }
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {  // a malformed escape
    return '';
  }
}

// Whether a range of the axis has a part of a trace, and is not much longer than all of them.
function isInside(begin, length) {
  const { whole } = timelines;
  return length > 0 && length <= 1.2 * whole.length && begin < whole.begin + whole.length &&
    begin + length > whole.begin;
}

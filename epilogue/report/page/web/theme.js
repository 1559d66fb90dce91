// SPDX-License-Identifier: Apache-2.0
// Colors: one per kind of kernel and one per class of idle time, defined in page.css for light and
// dark. Idle time is hatched, so that it differs from work without color.
const KIND_KEYS = data.kinds.map((one) => one.key);

// The keys of classes of idle time and of kinds are custom properties of page.css.
function isIdle(key) {
  return key.startsWith('idle-');
}

class Theme {
  constructor() {
    this.probe = make('span', { hidden: '' });
    document.body.append(this.probe);
    this.listeners = [];
    this.forget();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.change());
    this.set(this.stored());
  }

  // A page from a file may have no storage.
  stored() {
    try { return localStorage.getItem('epilogue-theme'); } catch { return null; }
  }
  // "light", "dark", or "system" for the system's setting.
  set(name) {
    this.name = name === 'light' || name === 'dark' ? name : 'system';
    if (this.name === 'system') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.setAttribute('data-theme', this.name);
    this.change();
  }
  next() {
    const names = ['system', 'dark', 'light'];
    this.set(names[(names.indexOf(this.name) + 1) % names.length]);
    try { localStorage.setItem('epilogue-theme', this.name); } catch { /* not kept */ }
  }
  onChange(action) { this.listeners.push(action); }
  change() {
    this.forget();
    for (const action of this.listeners) action();
  }
  forget() {
    this.colors = new Map();
    this.fills = new Map();
  }

  // A custom property of page.css as "rgb(…)". `light-dark()` is resolved.
  color(name) {
    let color = this.colors.get(name);
    if (!color) {
      this.probe.style.color = `var(--${name})`;
      color = getComputedStyle(this.probe).color;
      this.colors.set(name, color);
    }
    return color;
  }

  // The fill of a kind or of a class of idle time: {color, style}. `style` may be a pattern.
  fill(key) {
    let fill = this.fills.get(key);
    if (!fill) {
      const color = this.color(key);
      fill = { color, style: isIdle(key) ? this.hatch(color) : color };
      this.fills.set(key, fill);
    }
    return fill;
  }

  // Stripes of 5 pixels with gaps of 2: with wider gaps, colors are harder to tell apart.
  hatch(color) {
    const size = 7, tile = document.createElement('canvas');
    tile.width = tile.height = size;
    const pen = tile.getContext('2d');
    pen.fillStyle = color;
    pen.fillRect(0, 0, size, size);
    pen.fillStyle = this.color('paper');
    for (let i = 0; i < size; ++i) {
      pen.fillRect((size - i) % size, i, 1, 1);
      pen.fillRect((size - i + 1) % size, i, 1, 1);
    }
    return pen.createPattern(tile, 'repeat');
  }
}

const theme = new Theme();

function setFill(pen, fill) {
  pen.fillStyle = !pen.isSvg ? fill.style : fill.style === fill.color ? fill.color
    : pen.hatch(fill.color);
}

function themeButton() {
  const toggle = button('', () => theme.next());
  toggle.classList.add('no-print');
  const show = () => { toggle.textContent = `colors: ${theme.name}`; };
  theme.onChange(show);
  show();
  return toggle;
}

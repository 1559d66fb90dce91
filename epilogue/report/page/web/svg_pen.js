// SPDX-License-Identifier: Apache-2.0
// The part of a canvas context that a view draws with, writing SVG. So the exported picture is drawn
// by the same code as the screen.
class SvgPen {
  constructor(width, height, paper) {
    Object.assign(this, { width, height, isSvg: true, parts: [], clips: 0, groups: 0 });
    Object.assign(this, { fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1 });
    this.path = '';
    this.saved = [];
    this.paper = paper;
    this.patterns = new Map();
    this.parts.push(`<rect width="${width}" height="${height}" fill="${paper}"/>`);
  }

  static escaped(text) {
    return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
  }
  number(value) { return Math.round(value * 100) / 100; }
  box(x, y, width, height) {
    return `x="${this.number(x)}" y="${this.number(y)}" width="${this.number(width)}" ` +
      `height="${this.number(height)}"`;
  }
  get alpha() { return this.globalAlpha < 1 ? ` opacity="${this.number(this.globalAlpha)}"` : ''; }

  // A hatched fill, like the pattern on the screen.
  hatch(color) {
    if (!this.patterns.has(color)) {
      const id = `hatch${this.patterns.size}`;
      this.patterns.set(color, `url(#${id})`);
      this.parts.push(`<pattern id="${id}" width="7" height="7" patternUnits="userSpaceOnUse" ` +
        `patternTransform="rotate(45)"><rect width="7" height="7" fill="${this.paper}"/>` +
        `<rect width="5" height="7" fill="${color}"/></pattern>`);
    }
    return this.patterns.get(color);
  }

  setTransform() {}
  clearRect() {}
  measureText(text) { return { width: 6 * text.length }; }
  fillRect(x, y, width, height) {
    this.parts.push(`<rect ${this.box(x, y, width, height)} fill="${this.fillStyle}"${this.alpha}/>`);
  }
  strokeRect(x, y, width, height) {
    this.parts.push(`<rect ${this.box(x, y, width, height)} fill="none" ` +
      `stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"/>`);
  }
  fillText(text, x, y) {
    this.parts.push(`<text x="${this.number(x)}" y="${this.number(y)}" fill="${this.fillStyle}" ` +
      `dominant-baseline="middle">${SvgPen.escaped(text)}</text>`);
  }
  save() { this.saved.push(this.groups); }
  restore() {
    const before = this.saved.pop() ?? 0;
    for (; this.groups > before; --this.groups) this.parts.push('</g>');
  }
  beginPath() { this.path = ''; }
  rect(x, y, width, height) { this.clipBox = this.box(x, y, Math.max(0, width), height); }
  clip() {
    const id = `clip${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><rect ${this.clipBox}/></clipPath>`,
      `<g clip-path="url(#${id})">`);
    ++this.groups;
  }
  moveTo(x, y) { this.path += `M${this.number(x)} ${this.number(y)}`; }
  bezierCurveTo(...points) { this.path += `C${points.map((one) => this.number(one)).join(' ')}`; }
  stroke() {
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}"${this.alpha}/>`);
  }

  text(title) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" ` +
      `font-family="system-ui, sans-serif" font-size="11">\n<title>${SvgPen.escaped(title)}</title>\n${this.parts.join('\n')}\n</svg>\n`;
  }
}

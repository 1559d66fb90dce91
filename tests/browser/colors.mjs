// SPDX-License-Identifier: Apache-2.0
// Checks the colors of the report: labels and fills have enough contrast, and colors that appear
// side by side stay distinct for readers with a color vision deficiency.
// Distances are Euclidean in OKLab, where black and white are 1 apart.
import assert from 'node:assert';

export const KINDS = ['--gemm', '--attention', '--convolution', '--pointwise', '--norm',
  '--communication', '--copy', '--other', '--host'];
export const IDLE = ['--busy', '--idle-host', '--idle-input', '--idle-sync', '--idle-compile',
  '--idle-alloc', '--idle-startup', '--idle-gap', '--idle-unknown'];
const PAPERS = ['--paper', '--raised'];

// Machado, Oliveira and Fernandes 2009, severity 1.0, for linear RGB.
export const VISIONS = {
  'normal vision': [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.303900]],
};

const times = (matrix, v) => matrix.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);

export function linearRgb(hex) {
  return [1, 3, 5].map((at) => {
    const c = parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
}

// The linear RGB that a reader with this vision perceives.
export function simulate(rgb, vision) {
  return times(VISIONS[vision], rgb).map((c) => Math.min(1, Math.max(0, c)));
}

// Björn Ottosson's OKLab.
export function okLab(rgb) {
  const cones = times([[0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005]], rgb);
  return times([[0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660]], cones.map(Math.cbrt));
}

export function distance(one, other, vision) {
  const [a, b] = [one, other].map((hex) => okLab(simulate(linearRgb(hex), vision)));
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// WCAG 2 contrast ratio.
export function contrast(one, other) {
  const [a, b] = [one, other].map((hex) => times([[0.2126, 0.7152, 0.0722]], linearRgb(hex))[0]);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

const LABEL_CONTRAST = 4.5;  // WCAG 2 AA for text below 18 pt.
const FILL_CONTRAST = 3;     // WCAG 2 AA for graphics.
const GAP_CONTRAST = 1.6;    // Gaps are light on purpose, and the hatch outlines them.
// About 0.02 is just noticeable for large patches that touch. Blocks are a few pixels wide and are
// matched with a distant legend, so kinds need three times that. The hatch mixes the color of an
// idle cause with the paper, so causes need four times that.
const KIND_DISTANCE = 0.06;
const IDLE_DISTANCE = 0.08;

// Pairs that are far apart in normal vision and that a reader with the deficiency confuses.
const CONFUSED = {
  protanopia: ['#ff0000', '#006b00'],
  deuteranopia: ['#ff0000', '#00af00'],
  tritanopia: ['#ff80c0', '#ff960f'],
};

function checkSimulation() {
  for (const [vision, [one, other]] of Object.entries(CONFUSED)) {
    const normal = distance(one, other, 'normal vision'), seen = distance(one, other, vision);
    assert.ok(normal > 0.2, `${one} and ${other} are ${normal.toFixed(3)} apart in normal vision`);
    assert.ok(seen < 0.05, `${one} and ${other} are ${seen.toFixed(3)} apart under ${vision}`);
    const gray = okLab(simulate(linearRgb('#808080'), vision));
    assert.ok(Math.hypot(gray[1], gray[2]) < 0.001, `${vision} keeps grays gray`);
  }
  assert.ok(Math.abs(distance('#000000', '#ffffff', 'normal vision') - 1) < 0.001);
  assert.ok(Math.abs(contrast('#000000', '#ffffff') - 21) < 0.001);
}

function checkContrast(theme, name, fill, against, color, minimum) {
  const ratio = contrast(fill, color);
  assert.ok(ratio >= minimum, `${theme}: ${name} ${fill} has a contrast of ${ratio.toFixed(2)} ` +
    `with ${against} ${color}, at least ${minimum} is required`);
}

function checkFormat(theme, colors) {
  for (const name of ['--on-fill', ...PAPERS, ...KINDS, ...IDLE]) {
    assert.match(colors[name] ?? '', /^#[0-9a-f]{6}$/i,
      `${theme}: ${name} is "${colors[name]}", which is not a #rrggbb color`);
  }
}

function checkContrasts(theme, colors) {
  for (const name of KINDS) {
    const ink = colors['--on-fill'];
    checkContrast(theme, name, colors[name], '--on-fill', ink, LABEL_CONTRAST);
  }
  for (const name of [...KINDS, ...IDLE]) {
    const minimum = name === '--idle-gap' ? GAP_CONTRAST : FILL_CONTRAST;
    for (const against of PAPERS) {
      checkContrast(theme, name, colors[name], against, colors[against], minimum);
    }
  }
}

// The pairs of a group, closest first.
export function pairs(colors, group, vision) {
  return group.flatMap((one, i) => group.slice(i + 1).map((other) =>
    ({ one, other, apart: distance(colors[one], colors[other], vision) })))
    .sort((a, b) => a.apart - b.apart);
}

function checkDistances(theme, colors, group, minimum) {
  for (const vision of Object.keys(VISIONS)) {
    const { one, other, apart } = pairs(colors, group, vision)[0];
    assert.ok(apart >= minimum, `${theme}, ${vision}: ${one} ${colors[one]} and ` +
      `${other} ${colors[other]} are ${apart.toFixed(3)} apart, at least ${minimum} is required`);
  }
}

// Checks both themes. Each argument maps the custom properties of page.css to #rrggbb.
export function checkColors(light, dark) {
  checkSimulation();
  for (const [theme, colors] of Object.entries({ light, dark })) {
    checkFormat(theme, colors);
    checkContrasts(theme, colors);
    checkDistances(theme, colors, KINDS, KIND_DISTANCE);
    checkDistances(theme, colors, IDLE, IDLE_DISTANCE);
  }
}

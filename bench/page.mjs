// SPDX-License-Identifier: Apache-2.0
// Measures the time until a report is interactive, and the time per frame of its timeline and of its
// tables. Usage: node page.mjs PAGE.html
import { chromium } from 'playwright-core';
import { statSync } from 'node:fs';

const [file] = process.argv.slice(2);
const LOADS = 5, FRAMES = 40;
const MAX_MS = 2000, MAX_BYTES = 25e6, MAX_FRAME_MS = 16;

function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(1);
  return `${at(0.5)} ms (p10 ${at(0.1)}, p90 ${at(0.9)})`;
}

const browser = await chromium.launch(
  { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

// The time from opening the page to the frame after the one that drew the timeline.
async function load() {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const start = performance.now();
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => window.epilogue !== undefined);
  await page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page, ms: performance.now() - start };
}

// The script's time to draw frames at a zoom level while moving through the trace.
async function frames(page, zoom) {
  return page.evaluate(([factor, count]) => {
    const group = window.epilogue, { whole } = group, times = [];
    for (let i = 0; i < count; ++i) {
      const length = whole.length / factor;
      group.range = { begin: whole.begin + (whole.length - length) * i / count, length };
      const start = performance.now();
      group.drawNow();
      times.push(performance.now() - start);
    }
    return times;
  }, [zoom, FRAMES]);
}

// The time to scroll a list to different places, layout included.
async function scrolls(page, tab, selector) {
  await page.getByRole('tab', { name: tab, exact: true }).click();
  return page.evaluate(([query, count]) => {
    const box = document.querySelector(query), times = [];
    for (let i = 0; i < count; ++i) {
      const start = performance.now();
      box.scrollTop = box.scrollHeight * i / count;
      box.dispatchEvent(new Event('scroll'));
      box.getBoundingClientRect();
      times.push(performance.now() - start);
    }
    return times;
  }, [selector, FRAMES]);
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const bytes = statSync(file).size, loads = [], medians = [];
let last = null;
for (let i = 0; i < LOADS; ++i) {
  await last?.page.close();
  last = await load();
  loads.push(last.ms);
}
console.log(`${(bytes / 1e6).toFixed(1)} MB (at most ${MAX_BYTES / 1e6})`);
console.log(`interactive after ${spread(loads)} (at most ${MAX_MS} ms)`);
const report = (what, times) => {
  medians.push(median(times));
  console.log(`${what}: ${spread(times)} (at most ${MAX_FRAME_MS} ms)`);
};
for (const zoom of [1, 10, 100, 1000, 10000]) {
  report(`a frame at zoom ${zoom}`, await frames(last.page, zoom));
}
report('scrolling the profiler table', await scrolls(last.page, 'Profiler table', '#table .scroll'));
report('scrolling the tree', await scrolls(last.page, 'Tree', '#tree .scroll'));
const hits = await last.page.evaluate(() => {
  const start = performance.now();
  window.epilogue.look(data.files[0].kernels[0].name);
  window.epilogue.drawNow();
  return [window.epilogue.hitCount(), performance.now() - start];
});
console.log(`finding ${hits[0]} events: ${hits[1].toFixed(1)} ms`);
await browser.close();
const isFast = median(loads) <= MAX_MS && medians.every((ms) => ms <= MAX_FRAME_MS);
process.exit(bytes <= MAX_BYTES && isFast ? 0 : 1);

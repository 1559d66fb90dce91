// SPDX-License-Identifier: Apache-2.0
// Measures the time until a report is interactive, and the time per frame of its timeline. Usage:
// node page.mjs PAGE.html
import { chromium } from 'playwright-core';
import { statSync } from 'node:fs';

const [file] = process.argv.slice(2);
const LOADS = 5, FRAMES = 40;
const MAX_MS = 2000, MAX_BYTES = 25e6;

function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(1);
  return `${at(0.5)} ms (p10 ${at(0.1)}, p90 ${at(0.9)})`;
}

const browser = await chromium.launch(
  { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

// The time from opening the page to the frame after the one that drew the timeline.
async function load() {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
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

const bytes = statSync(file).size, loads = [];
let last = null;
for (let i = 0; i < LOADS; ++i) {
  await last?.page.close();
  last = await load();
  loads.push(last.ms);
}
console.log(`${(bytes / 1e6).toFixed(1)} MB (at most ${MAX_BYTES / 1e6})`);
console.log(`interactive after ${spread(loads)} (at most ${MAX_MS} ms)`);
for (const zoom of [1, 10, 100, 1000, 10000]) {
  console.log(`a frame at zoom ${zoom}: ${spread(await frames(last.page, zoom))}`);
}
const hits = await last.page.evaluate(() => {
  const start = performance.now();
  window.epilogue.look('aten::mm');
  window.epilogue.drawNow();
  return [window.epilogue.hitCount(), performance.now() - start];
});
console.log(`finding ${hits[0]} events: ${hits[1].toFixed(1)} ms`);
await browser.close();
process.exit(bytes <= MAX_BYTES && loads.sort((a, b) => a - b)[LOADS >> 1] <= MAX_MS ? 0 : 1);

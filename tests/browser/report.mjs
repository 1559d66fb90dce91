// SPDX-License-Identifier: Apache-2.0
// Opens reports in Chromium and checks drawing, zoom, search and selection. The page must not send
// requests, and text of a trace must not run as script.
// Usage: node report.mjs EPILOGUE TRACES OUT. Screenshots are written to OUT.
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import assert from 'node:assert';
import * as checks from './checks.mjs';
import { TIMELINE, frame } from './page.mjs';
import { hostileTrace, largeTrace, streamsTrace, threadsTrace, writeTrace } from './traces.mjs';

const [epilogue, traces, out] = process.argv.slice(2);

const recorded = (name) => `${traces}/${name}`;
const REPORTS = {
  mlp_eager: [recorded('mlp_eager.json')],
  mlp_compared: [recorded('mlp_eager.json'), recorded('mlp_compile.json')],
  llama_train: [recorded('llama_train.json.gz')],
  hostile: [writeTrace(out, 'hostile', hostileTrace())],
  large: [writeTrace(out, 'large', largeTrace())],
  threads: [writeTrace(out, 'threads', threadsTrace())],
};

const browser = await chromium.launch(
  { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

// Opens a report. The page must not send requests or log to the console.
async function openReport(name, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const seen = { problems: [], requests: [] };
  page.on('console', (message) => seen.problems.push(message.text()));
  page.on('pageerror', (error) => seen.problems.push(error.message));
  page.on('request', (request) => seen.requests.push(request.url()));
  const url = `file://${out}/${name}.html`;
  await page.goto(url);
  await page.waitForFunction(() => window.epilogue !== undefined);
  await frame(page);
  assert.deepEqual(seen.problems, [], `${name}: no console message`);
  assert.deepEqual(seen.requests, [url], `${name}: no request leaves the page`);
  return { page, seen };
}

const MORE_CHECKS = {
  mlp_eager: [checks.checkSelect, checks.checkLinks, checks.checkIdleMap, checks.checkTree],
  mlp_compared: [checks.checkCompared, checks.checkPairRows],
  large: [checks.checkLarge],
  threads: [checks.checkScroll, checks.checkFacts],
};

async function check(name, scheme) {
  const { page, seen } = await openReport(name, { colorScheme: scheme });
  await checks.checkHostile(page, name);
  assert.equal(await page.locator(TIMELINE).count(), REPORTS[name].length);
  const verdict = await page.locator('.verdict').last().textContent();
  assert.match(verdict, /torch\.compile: (no|may help|likely to help|not conclusive)/);
  await checks.checkZoom(page);
  if (name !== 'threads') await checks.checkFind(page, name);
  await checks.checkTable(page, name);
  await checks.checkNamesAreFound(page, name);
  await checks.checkAxis(page);
  for (const one of MORE_CHECKS[name] ?? []) await one(page);
  await checks.checkHostile(page, name);
  await page.getByRole('button', { name: 'show everything' }).click();
  await frame(page);
  await page.screenshot({ path: `${out}/${name}_${scheme}.png`, fullPage: true });
  assert.deepEqual(seen.problems, [], `${name}: no console message`);
  assert.equal(seen.requests.length, 1, `${name}: no request leaves the page`);
  await page.close();
  console.log(`${name}, ${scheme}: passed`);
}

function writeReport(name, files) {
  execFileSync(epilogue, ['report', ...files, '-o', `${out}/${name}.html`], { stdio: 'ignore' });
}

// The page states how many streams it does not show.
async function checkStreams() {
  writeReport('streams', [writeTrace(out, 'streams', streamsTrace())]);
  const { page } = await openReport('streams');
  assert.match(await page.locator('#timeline').textContent(),
    /36 further streams with 36\.0 % of the GPU time left out/);
  await page.close();
}

async function checkPhone() {
  const { page } = await openReport('mlp_eager', { viewport: { width: 390, height: 800 } });
  const fits = await page.evaluate(() =>
    document.documentElement.scrollWidth <= window.innerWidth + 1);
  assert.ok(fits, 'the page does not scroll sideways on a phone');
  await page.screenshot({ path: `${out}/phone.png`, fullPage: true });
}

// Print uses the light colours, on the canvas as well, and hides the controls.
async function checkPrint() {
  const { page } = await openReport('mlp_compared', { colorScheme: 'dark' });
  const corner = (event) => page.evaluate(([type, timeline]) => {
    window.dispatchEvent(new Event(type));
    return [...document.querySelector(timeline).getContext('2d').getImageData(1, 1, 1, 1).data];
  }, [event, TIMELINE]);
  assert.deepEqual(await corner('beforeprint'), [255, 255, 255, 255], 'the printed page is white');
  assert.notDeepEqual(await corner('afterprint'), [255, 255, 255, 255], 'the dark screen is not white');
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const style = await page.evaluate(() => ({
    paper: getComputedStyle(document.body).backgroundColor,
    tools: getComputedStyle(document.querySelector('.tools')).display,
  }));
  assert.deepEqual(style, { paper: 'rgb(255, 255, 255)', tools: 'none' });
  await page.pdf({ path: `${out}/print.pdf` });
}

for (const [name, files] of Object.entries(REPORTS)) {
  writeReport(name, files);
  for (const scheme of ['light', 'dark']) await check(name, scheme);
}
await checkStreams();
await checkPhone();
await checkPrint();
await browser.close();
console.log('all reports passed');

// SPDX-License-Identifier: Apache-2.0
// Opens reports in Chromium and checks them. The page must not send requests, and text of a trace
// must not run as script.
// Usage: node report.mjs EPILOGUE TRACES OUT. Screenshots are written to OUT.
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import assert from 'node:assert';
import { checkAccessibility } from './axe.mjs';
import * as pages from './checks_page.mjs';
import * as sections from './checks_sections.mjs';
import * as timeline from './checks_timeline.mjs';
import { firefoxIsInstalled, openFirefox } from './firefox.mjs';
import { TIMELINE, frame, showAll } from './page.mjs';
import * as made from './traces.mjs';
import { checkWords } from './words.mjs';

const [epilogue, traces, out] = process.argv.slice(2);
const DESKTOP = { width: 1440, height: 900 }, PHONE = { width: 390, height: 844 };

const recorded = (name) => `${traces}/${name}`;
const written = (name, events) => made.writeTrace(out, name, events);

// A trace of Epilogue's own CPU backend.
function ownTrace() {
  const file = `${out}/own_cpu.trace.json`;
  execFileSync(epilogue, ['run', 'mlp', '--batch', '2', '--seq', '32', '--device', 'cpu', '--trace', file, '--force'],
    { stdio: 'ignore', cwd: out });
  return file;
}

// A public trace that is not part of the project. Null where it is not available.
const owl = `${traces}/../../../../shared/data/peers/tracelens_h100_owlv2.json.gz`;

const REPORTS = {
  mlp_eager: [recorded('mlp_eager.json')],
  mlp_compared: [recorded('mlp_eager.json'), recorded('mlp_compile.json')],
  llama_train: [recorded('llama_train.json.gz')],
  mlp_cudagraph: [recorded('mlp_cudagraph.json')],
  own_cpu: [ownTrace()],
  two_streams: [written('two_streams', made.twoStreamsTrace())],
  hostile: [written('hostile', made.hostileTrace())],
  large: [written('large', made.largeTrace())],
  threads: [written('threads', made.threadsTrace())],
  million: [written('million', made.millionTrace())],
};
if (existsSync(owl)) REPORTS.owlv2 = [owl];
else console.log('owlv2: skipped, the trace is not available');

const LARGE = new Set(['large', 'million']);

let browser = await chromium.launch(
  { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

// Opens a report. The page must not send requests or log to the console.
async function openReport(name, options = {}) {
  const page = await browser.newPage({ viewport: DESKTOP, ...options });
  const seen = { problems: [], requests: [] };
  page.on('console', (message) => seen.problems.push(message.text()));
  page.on('pageerror', (error) => seen.problems.push(error.message));
  page.on('request', (request) => seen.requests.push(request.url()));
  const url = `file://${out}/${name}.html`;
  await page.goto(url);
  await page.waitForFunction(() => window.epilogue !== undefined);
  await frame(page);
  const check = () => {
    assert.deepEqual(seen.problems, [], `${name}: no console message`);
    assert.deepEqual(seen.requests.filter((one) => !one.startsWith(url) && !one.startsWith('blob:')),
      [], `${name}: no request leaves the page`);
  };
  check();
  return { page, check };
}

const ALL = [timeline.checkLanes, timeline.checkZoom, timeline.checkFind, sections.checkTable, timeline.checkNamesAreFound,
  timeline.checkAxis, sections.checkTabs];
const MORE = {
  mlp_eager: [timeline.checkSelect, timeline.checkHover, timeline.checkRange, timeline.checkGap,
    timeline.checkLinks, timeline.checkIdleMap, timeline.checkBar, sections.checkTree,
    sections.checkRawNames, sections.checkSearchSections, sections.checkAnnotations,
    sections.checkSteps, pages.checkTheme, pages.checkDeepLink],
  mlp_compared: [sections.checkCompared, sections.checkPairRows, sections.checkPairTree],
  llama_train: [sections.checkVirtual, sections.checkTableKeys, sections.checkFolded],
  large: [timeline.checkLarge],
  threads: [timeline.checkScroll],
};
// Their traces have no device work with a launch, or too little of it for a map and a bar.
const WITHOUT_STEP = new Set(['hostile', 'large', 'threads']);

async function check(name, scheme) {
  const { page, check: checkQuiet } = await openReport(name, { colorScheme: scheme });
  await pages.checkHostile(page, name);
  assert.equal(await page.locator(TIMELINE).count(), REPORTS[name].length);
  if (!WITHOUT_STEP.has(name)) await pages.checkFirstViewport(page, name);
  await page.screenshot({ path: `${out}/${name}_${scheme}.png` });
  await checkAccessibility(page, `${name}, ${scheme}`);
  for (const one of [...ALL, ...MORE[name] ?? []]) await one(page, name, REPORTS[name][0]);
  if (scheme === 'light') await pages.checkSvg(page, name);
  await pages.checkHostile(page, name);
  await checkAccessibility(page, `${name}, ${scheme}, all sections`);
  await showAll(page);
  await page.screenshot({ path: `${out}/${name}_${scheme}_full.png`, fullPage: true });
  checkQuiet();
  await page.close();
  console.log(`${name}, ${scheme}: passed`);
}

function writeReport(name, files) {
  execFileSync(epilogue, ['report', ...files, '-o', `${out}/${name}.html`], { stdio: 'ignore' });
}

// The page states how many streams it does not show.
async function checkStreams() {
  writeReport('streams', [written('streams', made.streamsTrace())]);
  const { page } = await openReport('streams');
  await page.getByRole('tab', { name: 'Trace quality' }).click();
  assert.match(await page.locator('#quality').textContent(),
    /36 further streams with 36\.0 % of the GPU time left out/);
  await page.close();
}

async function checkPhone() {
  for (const name of ['mlp_eager', 'mlp_compared', 'llama_train',
    ...(REPORTS.owlv2 ? ['owlv2'] : [])]) {
    const { page } = await openReport(name, { viewport: PHONE, hasTouch: true });
    await pages.checkFirstViewport(page, `${name} on a phone`);
    await checkAccessibility(page, `${name} on a phone`);
    await page.screenshot({ path: `${out}/${name}_phone.png` });
    await page.close();
  }
}

// The words and numbers are those of the command line, on all traces with one file.
async function checkVocabulary() {
  const files = { ...REPORTS };
  for (const name of ['linear_eager', 'linear_compile', 'mlp_compile', 'mlp_liger', 'matmul_add_64',
    'matmul_add_4096']) {
    files[name] = [recorded(`${name}.json`)];
    writeReport(name, files[name]);
  }
  const names = Object.keys(files).filter((name) => files[name].length === 1 && !LARGE.has(name));
  for (const name of names) {
    const { page } = await openReport(name);
    await checkWords(page, name, epilogue, files[name][0]);
    await page.close();
  }
  console.log(`vocabulary: ${names.length} traces passed`);
}

async function checkMore() {
  const { page } = await openReport('mlp_eager');
  await pages.checkPalette(page);
  await sections.checkCopy(page);
  await page.close();
  const dark = await openReport('mlp_compared', { colorScheme: 'dark' });
  await pages.checkPrint(dark.page, out);
  await dark.page.close();
}

// The same checks in Firefox, for one report. It has no emulation of color schemes and print.
async function checkFirefox() {
  if (!firefoxIsInstalled()) return console.log('firefox: skipped, firefox-esr is not installed');
  await browser.close();
  browser = await openFirefox('dark');
  for (const name of ['mlp_eager', 'mlp_compared']) {
    const { page } = await openReport(name);
    await checkAccessibility(page, `${name}, Firefox`);
    for (const one of [pages.checkFirstViewport, ...ALL, ...MORE[name]]) {
      await one(page, name, REPORTS[name][0]);
    }
    await page.screenshot({ path: `${out}/${name}_firefox.png` });
    await page.close();
  }
  console.log('firefox: passed');
}

for (const [name, files] of Object.entries(REPORTS)) {
  writeReport(name, files);
  for (const scheme of name === 'million' ? ['light'] : ['light', 'dark']) await check(name, scheme);
}
await checkStreams();
await checkPhone();
await checkVocabulary();
await checkMore();
await checkFirefox();
await browser.close();
console.log('all reports passed');

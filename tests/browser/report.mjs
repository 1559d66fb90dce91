// SPDX-License-Identifier: Apache-2.0
// Opens reports in Chromium: they draw, zoom, find and select; no request leaves the page, nothing
// of a trace runs. Usage: node report.mjs EPILOGUE TRACES OUT; leaves screenshots in OUT.
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import assert from 'node:assert';
import { hostileTrace, largeTrace, written } from './traces.mjs';

const [epilogue, traces, out] = process.argv.slice(2);

const recorded = (name) => `${traces}/${name}`;
const REPORTS = {
  mlp_eager: [recorded('mlp_eager.json')],
  mlp_compared: [recorded('mlp_eager.json'), recorded('mlp_compile.json')],
  llama_train: [recorded('llama_train.json.gz')],
  hostile: [written(out, 'hostile', hostileTrace())],
  large: [written(out, 'large', largeTrace())],
};

const browser = await chromium.launch(
  { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

// A page that must not ask for anything, nor complain.
async function opened(name, options = {}) {
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

async function frame(page) {
  await page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
}

// What is on a canvas, as text; empty where nothing is drawn.
async function drawn(page, selector) {
  await frame(page);
  return page.locator(selector).first().evaluate((canvas) => {
    const blank = document.createElement('canvas');
    blank.width = canvas.width;
    blank.height = canvas.height;
    const picture = canvas.toDataURL();
    return picture === blank.toDataURL() ? '' : picture;
  });
}
const TIMELINE = '#timeline canvas';

async function changes(page, what, action) {
  const before = await drawn(page, TIMELINE);
  assert.notEqual(before, '', 'the timeline is drawn');
  await action();
  assert.ok(await drawn(page, TIMELINE) !== before, `${what} changes the picture`);
}

async function detail(page) {
  await frame(page);
  return page.locator('#detail').textContent();
}

async function checkHostile(page, name) {
  assert.equal(await page.evaluate(() => window.hacked), undefined, `${name}: nothing of it ran`);
  const markup = page.locator('main img, main svg, main script');
  assert.equal(await markup.count(), 0, `${name}: nothing of the trace is markup`);
}

async function checkZoom(page) {
  const canvas = page.locator(TIMELINE).first();
  await canvas.scrollIntoViewIfNeeded();
  await canvas.focus();
  for (const key of ['w', 'd', 'a', 's']) {
    await changes(page, key, () => page.keyboard.press(key));
  }
  await canvas.hover();
  await changes(page, 'the wheel', () => page.mouse.wheel(0, -300));
  await changes(page, 'dragging', async () => {
    await page.mouse.down();
    await page.mouse.move(300, 400, { steps: 3 });
    await page.mouse.up();
  });
  await changes(page, 'all', () => page.getByRole('button', { name: 'show everything' }).click());
}

async function checkFind(page, name) {
  const wanted = name === 'hostile' ? '<img' : 'aten::mm';
  await page.locator('h1').click();
  await page.keyboard.press('/');
  await page.keyboard.type(wanted);
  await page.keyboard.press('Enter');
  assert.ok((await detail(page)).includes(wanted), `${name}: it finds and selects`);
  await page.locator('#find').fill('nothing is called so');
  await page.keyboard.press('Enter');
  assert.match(await detail(page), /nothing that is drawn/);
  await page.locator('#find').fill('');
}

// From the operator down to its kernel and up again, by keys.
async function checkSelect(page) {
  await page.locator('#find').fill('aten::mm');
  await page.keyboard.press('Enter');
  const text = await detail(page);
  assert.match(text, /cuBLAS GEMM bf16 tn/, 'an operator shows its kernels');
  assert.match(text, /shapes \[\[8192, ?768\]/, 'and its shapes');
  await page.locator(TIMELINE).first().focus();
  await page.keyboard.press('ArrowDown');
  assert.match(await detail(page), /cuda_runtime/, 'down to the first call');
  await page.keyboard.press('ArrowDown');
  assert.match(await detail(page), /launched by aten::mm/, 'down to what it launched');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  assert.match(await detail(page), /^aten::mm/, 'and up again');
  await page.keyboard.press('Escape');
  await page.locator('#find').fill('');
  await page.getByRole('button', { name: 'show everything' }).click();
  await frame(page);
  const place = await page.evaluate(() => {
    const view = window.epilogue.views[0], { events } = view;
    const id = events.search('nvjet')[0];
    return { x: view.x(events.at[id] + events.dur[id] / 2), y: view.y(id) + 7 };
  });
  await page.locator(TIMELINE).first().click({ position: place });
  assert.match(await detail(page), /nvjet/, 'a click selects what is drawn there');
}

async function checkTable(page, name) {
  const rows = page.locator('#table tbody tr'), all = await rows.count();
  await page.locator('#table input').fill('nothing is called so');
  assert.equal(await rows.count(), 0, `${name}: the filter filters`);
  await page.locator('#table input').fill('');
  assert.equal(await rows.count(), all);
  const firstCell = () => rows.first().locator('td').first().textContent();
  await page.getByRole('button', { name: 'name', exact: true }).first().click();
  const last = await firstCell();
  await page.getByRole('button', { name: 'name', exact: true }).first().click();
  const first = await firstCell();
  assert.ok(all < 2 || first < last, `${name}: a click on a head sorts, and another turns it`);
}

async function checkIdleMap(page) {
  const map = page.locator('#idle canvas').first();
  assert.notEqual(await drawn(page, '#idle canvas'), '', 'the idle map is drawn');
  await map.focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('#idle .small').last().textContent(), /in: busy [0-9.]+ %/);
  await changes(page, 'the idle map', () => page.keyboard.press('Enter'));
}

// Each step of B beside that of A, at 0 of one axis.
async function checkCompared(page) {
  assert.match(await page.locator('.verdict').first().textContent(), /gelu and mul became/);
  assert.ok(await page.locator('#table tr.mark').count() > 0, 'rows that one lacks are marked');
  assert.ok(await page.locator('#steps td.less').count() > 0, 'numbers that differ are marked');
  const lone = await page.evaluate(() => window.epilogue.views.map((view) =>
    view.events.texts.filter((text, i) => view.lone[i])));
  assert.deepEqual(lone, [['ATen pointwise: gelu, bf16', 'ATen pointwise: mul, bf16'],
    ['Triton pointwise: _unsafe_view, gelu, mul']], 'kernels that one lacks are marked');
  for (const step of [1, 2]) {
    await page.getByRole('button', { name: 'the next step' }).click();
    await frame(page);
    const begins = await page.evaluate((i) => window.epilogue.views.map((view) =>
      view.x(view.events.at[view.steps[i]])), step);
    assert.ok(Math.abs(begins[0] - begins[1]) < 0.01, 'steps are aligned');
  }
  await page.getByRole('button', { name: 'show everything' }).click();
}

async function checkTree(page) {
  await page.locator('#tree summary', { hasText: 'mlp_fwd' }).first().click();
  await page.locator('#tree summary', { hasText: 'aten::linear' }).first().waitFor();
}

// Short events are summed up when far, one by one where they are kept, and the page says so.
async function checkLarge(page) {
  assert.match(await page.locator('#timeline').textContent(), /shorter ones are summed up/);
  const sums = await page.evaluate(() => window.epilogue.views[0].events.lanes.map((lane) =>
    lane.levels.map((level) => level.reduce((sum, strip) =>
      sum + strip.count.reduce((all, count) => all + count, 0), 0))));
  assert.ok(sums.length === 2 && sums[1].length > 1, 'it has levels');
  for (const level of sums[1]) assert.equal(level, 250000, 'a level holds every event');
  await page.evaluate(() => window.epilogue.reveal(window.epilogue.views[0], 8e6, 4e5));
  await page.locator(TIMELINE).first().click({ position: { x: 300, y: 80 } });
  assert.match(await detail(page), /short/, 'an event, or a span of short ones, tells of itself');
}

async function check(name, scheme) {
  const { page, seen } = await opened(name, { colorScheme: scheme });
  await checkHostile(page, name);
  assert.equal(await page.locator(TIMELINE).count(), REPORTS[name].length);
  const verdict = await page.locator('.verdict').last().textContent();
  assert.match(verdict, /torch\.compile: (no|maybe|likely)/);
  await checkZoom(page);
  await checkFind(page, name);
  await checkTable(page, name);
  if (name === 'mlp_eager') {
    await checkSelect(page);
    await checkIdleMap(page);
    await checkTree(page);
  }
  if (name === 'mlp_compared') await checkCompared(page);
  if (name === 'large') await checkLarge(page);
  await checkHostile(page, name);
  await page.getByRole('button', { name: 'show everything' }).click();
  await frame(page);
  await page.screenshot({ path: `${out}/${name}_${scheme}.png`, fullPage: true });
  assert.deepEqual(seen.problems, [], `${name}: no console message`);
  assert.equal(seen.requests.length, 1, `${name}: no request leaves the page`);
  await page.close();
  console.log(`${name}, ${scheme}: holds`);
}

async function checkPhone() {
  const { page } = await opened('mlp_eager', { viewport: { width: 390, height: 800 } });
  const fits = await page.evaluate(() =>
    document.documentElement.scrollWidth <= window.innerWidth + 1);
  assert.ok(fits, 'a phone does not scroll sideways');
  await page.screenshot({ path: `${out}/phone.png`, fullPage: true });
}

// On paper colours are those of light, and what only a screen needs is gone.
async function checkPrint() {
  const { page } = await opened('mlp_compared', { colorScheme: 'dark' });
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const style = await page.evaluate(() => ({
    paper: getComputedStyle(document.body).backgroundColor,
    tools: getComputedStyle(document.querySelector('.tools')).display,
  }));
  assert.deepEqual(style, { paper: 'rgb(255, 255, 255)', tools: 'none' });
  await page.pdf({ path: `${out}/print.pdf` });
}

for (const [name, files] of Object.entries(REPORTS)) {
  execFileSync(epilogue, ['report', ...files, '-o', `${out}/${name}.html`], { stdio: 'ignore' });
  for (const scheme of ['light', 'dark']) await check(name, scheme);
}
await checkPhone();
await checkPrint();
await browser.close();
console.log('the reports hold');

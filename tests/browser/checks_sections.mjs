// SPDX-License-Identifier: Apache-2.0
// Checks of the tabs of an open report: tables, tree, differences.
import assert from 'node:assert';
import { TIMELINE, detail, frame, openTab, showAll } from './page.mjs';

export async function checkTable(page, name) {
  await openTab(page, 'Profiler table');
  const rows = page.locator('#table tbody tr:not(.space)'), all = await rows.count();
  await page.locator('#table input').fill('nothing is called so');
  assert.equal(await rows.count(), 0, `${name}: the filter hides rows without a match`);
  await page.locator('#table input').fill('');
  assert.equal(await rows.count(), all);
  const head = page.locator('#table').getByRole('button', { name: 'name', exact: true });
  const names = () => rows.locator('td:first-child').allTextContents();
  const sorted = (list) => [...list].sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
  await head.click();
  const down = await names();
  assert.deepEqual(down, sorted(down).reverse(), `${name}: a click on a column header sorts the rows`);
  await head.click();
  const up = await names();
  assert.deepEqual(up, sorted(up), `${name}: a second click reverses them`);
  assert.ok(up[0] !== down[0] || new Set(up).size === 1, `${name}: the order has changed`);
}

// Annotations span the work of other rows, so they have no self time on the device.
export async function checkAnnotations(page) {
  const rows = await page.evaluate(() => data.files.flatMap((file) => file.table)
    .filter((row) => row.annotation));
  assert.ok(rows.length > 0);
  for (const row of rows) assert.equal(row.self_device_us, null);
}

// Only the visible rows of a long table are in the document. Scrolling shows the others.
export async function checkVirtual(page) {
  await openTab(page, 'Profiler table');
  const box = page.locator('#table .scroll');
  const rows = page.locator('#table tbody tr:not(.space)');
  const total = await page.evaluate(() => data.files[0].table.length);
  assert.ok(total > 100 && await rows.count() < 60, 'only visible rows are in the document');
  await box.evaluate((element) => { element.scrollTop = element.scrollHeight; });
  await frame(page);
  const last = await rows.last().getAttribute('aria-rowindex');
  assert.equal(Number(last), total + 1, 'the last row is shown at the end');
  await box.evaluate((element) => { element.scrollTop = 0; });
}

// The arrow keys reach every row.
export async function checkTableKeys(page) {
  await openTab(page, 'Profiler table');
  await page.locator('#table tbody tr:not(.space) button').first().focus();
  for (let i = 0; i < 40; ++i) await page.keyboard.press('ArrowDown');
  const index = await page.evaluate(() =>
    document.activeElement.closest('tr').getAttribute('aria-rowindex'));
  assert.equal(index, '42');
}

// Kernels have decoded names. The raw ones are shown on demand.
export async function checkRawNames(page) {
  await openTab(page, 'Kernels');
  const text = () => page.locator('#kernels tbody').textContent();
  assert.ok(!(await text()).includes('nvjet') && (await text()).includes('cuBLAS GEMM'));
  const raw = page.locator('#kernels').getByRole('button', { name: 'raw names' });
  await raw.click();
  assert.ok((await text()).includes('nvjet'));
  const cut = await page.locator('#kernels tbody .cell > span').evaluateAll((list) =>
    list.every((cell) => cell.getBoundingClientRect().width > 100));
  assert.ok(cut, 'a name that is cut shows its start');
  await raw.click();
}

export async function checkCopy(page) {
  await openTab(page, 'Kernels');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('#kernels').getByRole('button', { name: 'copy as Markdown' }).click();
  const markdown = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(markdown, /^\| kernel \| count \| time \| share \| of peak \|\n\| --- \| ---: \|/);
  assert.match(markdown, /\| cuBLAS GEMM bf16 tn[^|]*\| \d+ \| [0-9.]+ us \|/);
}

// Layers are one line. Lines fold, and select the slowest of their events.
export async function checkTree(page) {
  await openTab(page, 'Tree');
  const rows = page.locator('#tree [role=treeitem]');
  await rows.filter({ hasText: 'mlp_fwd' }).first().waitFor();
  await rows.filter({ hasText: 'aten::linear' }).first().click();
  assert.match(await detail(page), /aten::linear/, 'a click selects an event');
  await page.keyboard.press('Escape');
  const active = page.locator('#tree [role=treeitem][tabindex="0"]');
  await active.focus();
  await page.keyboard.press('Home');
  const before = await rows.count();
  await page.keyboard.press('ArrowLeft');
  assert.ok(await rows.count() < before, 'ArrowLeft folds');
  await page.keyboard.press('ArrowRight');
  assert.equal(await rows.count(), before, 'ArrowRight unfolds');
}

export async function checkFolded(page) {
  await openTab(page, 'Tree');
  const [lines, events] = await page.evaluate(() =>
    [JSON.parse(document.getElementById('tree-0').textContent).rows.map((row) => row[1]),
      data.files[0].events / data.files[0].step_count]);
  assert.ok(lines.length < events / 10, `${lines.length} lines for ${events} events`);
  assert.ok(lines.some((calls) => calls >= 8), 'repeated layers are one line');
}

// A search lists all sections and opens them filtered.
export async function checkSearchSections(page) {
  await page.locator('#find').fill('gelu');
  const result = page.locator('#results button', { hasText: 'Kernels' });
  assert.match(await result.textContent(), /Kernels[1-9]\d* match(es)?, [0-9.]+ us GPU/);
  await result.click();
  assert.equal(await page.getByRole('tab', { name: 'Kernels' }).getAttribute('aria-selected'), 'true');
  const rows = page.locator('#kernels tbody tr:not(.space)');
  for (const text of await rows.allTextContents()) assert.match(text, /gelu/i);
  await page.locator('#find').fill('cublas');
  for (const text of await rows.allTextContents()) assert.match(text, /cublas/i);
  await page.locator('#find').fill('');
}

// Steps of A and B are aligned on a common axis.
export async function checkCompared(page) {
  assert.match(await page.locator('.verdict').first().textContent(), /gelu and mul became/);
  const changes = await page.locator('#answers .plain-table').first().textContent();
  for (const part of [/new in B/, /gone in B/]) assert.match(changes, part);
  await openTab(page, 'Profiler table');
  assert.ok(await page.locator('#table tr.mark').count() > 0, 'rows of one trace only are marked');
  const lone = await page.evaluate(() => window.epilogue.views.map((view) =>
    view.events.texts.filter((text, i) => view.lone[i])));
  assert.deepEqual(lone, [['ATen pointwise: gelu, bf16', 'ATen pointwise: mul, bf16'],
    ['Triton pointwise: _unsafe_view, gelu, mul']], 'kernels of one trace only are marked');
  for (let i = 0; i < 3; ++i) await page.getByRole('button', { name: 'previous' }).click();
  for (const step of [0, 1, 2]) {
    if (step > 0) await page.getByRole('button', { name: 'next step' }).click();
    await frame(page);
    const begins = await page.evaluate((i) => window.epilogue.views.map((view) =>
      view.x(view.steps[i][0])), step);
    assert.ok(Math.abs(begins[0] - begins[1]) < 0.01, 'steps are aligned');
  }
  await showAll(page);
}

// Events with the same name on the CPU and on the device have separate rows.
export async function checkPairRows(page) {
  await openTab(page, 'Profiler table');
  await page.locator('#table input').fill('triton_poi_fused__unsafe_view');
  const rows = page.locator('#table tbody tr:not(.space)');
  const cells = await rows.evaluateAll((list) => list.map((row) =>
    [...row.cells].slice(1, 6).map((cell) => cell.textContent)));
  assert.deepEqual(cells.sort(), [['CPU', '–', '3', '–', '82.22 us'],
    ['GPU', '–', '3', '–', '0 ns']]);
  await page.locator('#table input').fill('');
}

// The trees of two traces are one: the same operators are paired, although their steps differ.
export async function checkPairTree(page) {
  await openTab(page, 'Tree');
  const cells = await page.locator('#tree [role=treeitem]').evaluateAll((list) =>
    list.map((row) => [...row.children].map((cell) => cell.textContent)));
  const [step] = cells;
  assert.match(step[0], /ProfilerStep#4/);
  assert.deepEqual(step.slice(3), ['235.5 us', '202.0 us', '-33.60 us']);
  const change = (name) => cells.find((row) => row[0].includes(name)).at(-1);
  assert.equal(change('aten::gelu'), 'gone in B');
  assert.equal(change('cuBLAS GEMM'), 'moved', 'the GEMMs are the same');
  assert.equal(change('Torch-Compiled Region'), 'new in B');
}

// Tabs follow the arrow keys.
export async function checkTabs(page) {
  const selected = () => page.locator('[role=tab][aria-selected=true]').textContent();
  await page.locator('[role=tab][aria-selected=true]').focus();
  const names = await page.locator('[role=tab]').allTextContents();
  await page.keyboard.press('Home');
  for (const name of names) {
    assert.equal(await selected(), name);
    assert.equal(await page.locator('[role=tabpanel]:not([hidden])').count(), 1);
    await page.keyboard.press('ArrowRight');
  }
  assert.equal(await selected(), names[0]);
}

// A click on a step shows it.
export async function checkSteps(page) {
  await openTab(page, 'Steps');
  await page.locator('#steps tbody button').first().click();
  await page.locator(TIMELINE).first().waitFor();
  const [begin, length] = await page.evaluate(() =>
    [window.epilogue.range.begin, window.epilogue.range.length]);
  assert.ok(begin < 0 && begin > -0.1 * length, 'the step starts at the left');
  await showAll(page);
}

// SPDX-License-Identifier: Apache-2.0
// Checks of an open report.
import assert from 'node:assert';
import { TIMELINE, expectChange, detail, canvasImage, frame } from './page.mjs';

export async function checkHostile(page, name) {
  const hacked = await page.evaluate(() => window.hacked);
  assert.equal(hacked, undefined, `${name}: no script of the trace ran`);
  const markup = page.locator('main img, main svg, main script');
  assert.equal(await markup.count(), 0, `${name}: no text of the trace becomes markup`);
}

export async function checkZoom(page) {
  const canvas = page.locator(TIMELINE).first();
  await canvas.scrollIntoViewIfNeeded();
  await canvas.focus();
  for (const key of ['w', 'd', 'a', 's']) {
    await expectChange(page, key, () => page.keyboard.press(key));
  }
  await canvas.hover();
  await expectChange(page, 'the wheel', () => page.mouse.wheel(0, -300));
  await expectChange(page, 'dragging', async () => {
    await page.mouse.down();
    await page.mouse.move(300, 400, { steps: 3 });
    await page.mouse.up();
  });
  await expectChange(page, 'show everything',
    () => page.getByRole('button', { name: 'show everything' }).click());
}

export async function checkFind(page, name) {
  const text = name === 'hostile' ? '<img' : 'aten::mm';
  await page.locator('h1').click();
  await page.keyboard.press('/');
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
  assert.ok((await detail(page)).includes(text), `${name}: search selects the match`);
  await page.locator('#find').fill('nothing is called so');
  await page.keyboard.press('Enter');
  assert.match(await detail(page), /No individually drawn event matches/);
  await page.locator('#find').fill('');
}

// Moves from an operator to its kernel and back with the arrow keys.
export async function checkSelect(page) {
  await page.locator('#find').fill('aten::mm');
  await page.keyboard.press('Enter');
  const text = await detail(page);
  assert.match(text, /cuBLAS GEMM bf16 tn/, 'an operator shows its kernels');
  assert.match(text, /shapes \[\[8192, ?768\]/, 'an operator shows its shapes');
  await page.locator(TIMELINE).first().focus();
  await page.keyboard.press('ArrowDown');
  assert.match(await detail(page), /cuda_runtime/, 'ArrowDown selects the first call');
  await page.keyboard.press('ArrowDown');
  assert.match(await detail(page), /launched by aten::mm/, 'ArrowDown selects the launched kernel');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  assert.match(await detail(page), /^aten::mm/, 'ArrowUp returns to the operator');
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
  assert.match(await detail(page), /nvjet/, 'a click selects the event under the pointer');
}

export async function checkTable(page, name) {
  const rows = page.locator('#table tbody tr'), all = await rows.count();
  await page.locator('#table input').fill('nothing is called so');
  assert.equal(await rows.count(), 0, `${name}: the filter hides rows without a match`);
  await page.locator('#table input').fill('');
  assert.equal(await rows.count(), all);
  const firstCell = () => rows.first().locator('td').first().textContent();
  await page.getByRole('button', { name: 'name', exact: true }).first().click();
  const last = await firstCell();
  await page.getByRole('button', { name: 'name', exact: true }).first().click();
  const first = await firstCell();
  assert.ok(all < 2 || first < last, `${name}: clicks on a column header sort and reverse the rows`);
}

export async function checkIdleMap(page) {
  const map = page.locator('#idle canvas').first();
  assert.notEqual(await canvasImage(page, '#idle canvas'), '', 'the idle map is drawn');
  await map.focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('#idle .small').last().textContent(), /at [0-9.]+ [num]?s: busy [0-9.]+ %/);
  await expectChange(page, 'the idle map', () => page.keyboard.press('Enter'));
}

// Steps of A and B are aligned on a common axis.
export async function checkCompared(page) {
  assert.match(await page.locator('.verdict').first().textContent(), /gelu and mul became/);
  assert.ok(await page.locator('#table tr.mark').count() > 0, 'rows of one trace only are marked');
  assert.ok(await page.locator('#steps td.less').count() > 0, 'numbers that differ are marked');
  const lone = await page.evaluate(() => window.epilogue.views.map((view) =>
    view.events.texts.filter((text, i) => view.lone[i])));
  assert.deepEqual(lone, [['ATen pointwise: gelu, bf16', 'ATen pointwise: mul, bf16'],
    ['Triton pointwise: _unsafe_view, gelu, mul']], 'kernels of one trace only are marked');
  for (const step of [0, 1, 2]) {
    await page.getByRole('button', { name: 'next step' }).click();
    await frame(page);
    const begins = await page.evaluate((i) => window.epilogue.views.map((view) =>
      view.x(view.events.at[view.steps[i]])), step);
    assert.ok(Math.abs(begins[0] - begins[1]) < 0.01, 'steps are aligned');
  }
  await page.getByRole('button', { name: 'show everything' }).click();
}

export async function checkTree(page) {
  await page.locator('#tree summary', { hasText: 'mlp_fwd' }).first().click();
  await page.locator('#tree summary', { hasText: 'aten::linear' }).first().waitFor();
}

// Short events are aggregated when zoomed out, and the page says so.
export async function checkLarge(page) {
  assert.match(await page.locator('#timeline').textContent(), /shorter events merged into spans/);
  const sums = await page.evaluate(() => window.epilogue.views[0].events.lanes.map((lane) =>
    lane.levels.map((level) => level.reduce((sum, strip) =>
      sum + strip.count.reduce((all, count) => all + count, 0), 0))));
  assert.ok(sums.length === 2 && sums[1].length > 1, 'the device lane has levels');
  for (const level of sums[1]) assert.equal(level, 350000, 'each level contains every event');
  await page.evaluate(() => window.epilogue.reveal(window.epilogue.views[0], 8e6, 4e5));
  await page.locator(TIMELINE).first().click({ position: { x: 300, y: 80 } });
  assert.match(await detail(page), /short/, 'a click shows an event or a span of short events');
}

// Events with the same name on the CPU and on the device have separate rows.
export async function checkPairRows(page) {
  const rows = page.locator('#table tbody tr', { hasText: 'triton_poi_fused__unsafe_view' });
  const cells = await rows.evaluateAll((list) => list.map((row) =>
    [...row.cells].slice(1, 6).map((cell) => cell.textContent)));
  assert.deepEqual(cells.sort(), [['CPU', '–', '3', '–', '82.22 us'],
    ['GPU', '–', '3', '–', '0 ns']]);
}

// Search finds events for every name in the tables and in the advice.
export async function checkNamesAreFound(page, name) {
  const lost = await page.evaluate(() => {
    const [file] = data.files, { events } = window.epilogue.views[0];
    const names = [...file.table.rows, ...file.summary.kernels,
      ...file.advice.advice.flatMap((one) => one.events)].map((row) => row.name);
    return names.filter((one) =>
      events.search(one.slice(0, MAX_SEARCH_LENGTH).replace(/\*$/, '')).length === 0);
  });
  assert.deepEqual(lost, [], `${name}: all names are found in the timeline`);
}

// Every kernel of the annotation is connected to its launch.
export async function checkLinks(page) {
  const [links, works] = await page.evaluate(() => {
    const view = window.epilogue.views[0], id = view.events.search('mlp_fwd')[0];
    window.epilogue.select(view, id);
    return [view.links.length, view.events.workCount[id]];
  });
  assert.ok(links === works && works > 0, 'lines connect an annotation and its kernels');
  assert.ok(!(await detail(page)).includes('too short'));
}

// At every zoom level, tick labels are distinct and do not overlap.
export async function checkAxis(page) {
  const overlaps = await page.evaluate(() => {
    const view = window.epilogue.views[0], { whole } = window.epilogue;
    const bad = [];
    for (let length = whole.length; length > 20; length /= 3) {
      const shown = ticks(whole.length / 3, length, length / view.width);
      const widths = shown.map(([, text]) => view.pen.measureText(text).width);
      const apart = (shown[1]?.[0] - shown[0]?.[0]) / (length / view.width);
      if (new Set(shown.map(([, text]) => text)).size < shown.length) bad.push(shown);
      if (shown.length > 1 && Math.max(...widths) > apart) bad.push(shown);
    }
    return bad;
  });
  assert.deepEqual(overlaps, []);
}

// Search scrolls to the match.
export async function checkScroll(page) {
  await page.locator('#find').fill('op_of_39');
  await page.keyboard.press('Enter');
  await frame(page);
  const place = await page.evaluate(() => {
    const view = window.epilogue.views[0];
    return { y: view.y(view.selected), height: view.height, top: view.top };
  });
  assert.ok(place.top > 0 && place.y > 0 && place.y < place.height, 'the selected event is visible');
}

export async function checkFacts(page) {
  const facts = await page.locator('.fact').allTextContents();
  assert.ok(facts.includes('CPU time per step1.500 ms'), 'the median of two steps is their mean');
}


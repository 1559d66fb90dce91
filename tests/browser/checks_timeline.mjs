// SPDX-License-Identifier: Apache-2.0
// Checks of the timeline of an open report: drawing, keys, search, selection, ranges, idle gaps.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { TIMELINE, canvasImage, detail, expectChange, frame, placeOf, showAll } from './page.mjs';

export async function checkZoom(page) {
  await showAll(page);
  const canvas = page.locator(TIMELINE).first();
  await canvas.scrollIntoViewIfNeeded();
  // Keys work wherever the focus is.
  await page.evaluate(() => document.activeElement.blur());
  for (const key of ['w', 'd', 'a', 's', 'w']) {
    await expectChange(page, key, () => page.keyboard.press(key));
  }
  await canvas.focus();
  await canvas.hover();
  await expectChange(page, 'the wheel', () => page.mouse.wheel(0, -300));
  const box = await canvas.boundingBox();
  const drag = async (far) => {
    await page.mouse.move(box.x + 100, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 100 + far, box.y + 60, { steps: 3 });
    await page.mouse.up();
  };
  await expectChange(page, 'dragging', () => drag(200));
  assert.match(await detail(page), /range of [0-9.]+ [num]?s/, 'dragging sums up a range');
  await page.keyboard.press('Escape');
  await page.keyboard.down('Shift');
  await expectChange(page, 'dragging with Shift', () => drag(120));
  await page.keyboard.up('Shift');
  assert.ok(await page.locator('#detail').isHidden(), 'Shift moves and selects nothing');
  await expectChange(page, 'show all', () => showAll(page));
}

// A name that occurs, for the reports without aten::mm.
const NAMES = { hostile: '<img', mlp_cudagraph: 'cudaGraphLaunch', threads: 'op_of_1',
  own_cpu: 'aten::linear', owlv2: 'aten::bmm', million: 'aten::op_7' };

export async function checkFind(page, name) {
  const text = NAMES[name] ?? 'aten::mm';
  await page.locator('h1').click();
  await page.keyboard.press('/');
  await page.keyboard.type(text);
  const results = await page.locator('#results').textContent();
  assert.match(results, /Timeline[\d,]+ events?, [0-9.]+ [num]?s (GPU|kernel|CPU)/,
    'search gives counts and times');
  await page.keyboard.press('Enter');
  assert.ok((await detail(page)).includes(text), `${name}: search selects the match`);
  await page.locator('#find').fill('nothing is called so');
  await page.keyboard.press('Enter');
  assert.match(await page.locator('.search').textContent(), /no individually drawn event matches/);
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
  assert.match(await detail(page), /^×aten::mm/, 'ArrowUp returns to the operator');
  await page.keyboard.press('Escape');
  await page.locator('#find').fill('');
  await showAll(page);
  const place = await placeOf(page, 'nvjet');
  await page.locator(TIMELINE).first().click({ position: place });
  assert.match(await detail(page), /nvjet/, 'a click selects the event under the pointer');
}

// The description at the pointer has the name, duration, shapes, launch and operator.
export async function checkHover(page) {
  await showAll(page);
  const place = await placeOf(page, 'nvjet');
  await page.locator(TIMELINE).first().hover({ position: place });
  const text = await page.locator('#tip').textContent();
  for (const part of [/cuBLAS GEMM/, /duration [0-9.]+ us/, /shapes \[\[/, /launched with cuLaunchKernel/,
    /launched by aten::/]) {
    assert.match(text, part, 'the tip describes the kernel');
  }
  await page.mouse.move(2, 2);
  assert.ok(await page.locator('#tip').isHidden());
}

// F zooms to the selected event, M marks it. The sums of a range add up to its length.
export async function checkRange(page, name, trace) {
  await page.locator('#find').fill('mlp_fwd');
  await page.keyboard.press('Enter');
  await page.locator('#find').fill('');
  await page.locator(TIMELINE).first().focus();
  await page.keyboard.press('f');
  const fits = await page.evaluate(() => {
    const { range, views: [view] } = window.epilogue, { events, selected } = view;
    return range.length / events.dur[selected];
  });
  assert.ok(Math.abs(fits - 1.2) < 0.01, 'F zooms to the selected event');
  await page.keyboard.press('m');
  const text = await detail(page);
  assert.match(text, /range of/);
  assert.match(text, /GPU work in the range/);
  const { shown, range } = await page.evaluate(() => {
    const { picked, views: [view] } = window.epilogue;
    const begin = picked.begin + view.origin, end = picked.end + view.origin;
    return { range: [begin, end], shown: { idle: view.events.gaps[0].sums(begin, end)
      .reduce((a, b) => a + b, 0), work: view.events.workIn(begin, end)
      .reduce(([calls, ns], one) => [calls + one[1], ns + one[2]], [0, 0]) } };
  });
  assert.deepEqual(shown, rangeSums(trace, ...range), 'the sums are those of the trace');
  await page.keyboard.press('Escape');
}

// Calls and nanoseconds of the work in a range, and the time without work, from the trace itself.
function rangeSums(trace, begin, end) {
  const spans = JSON.parse(readFileSync(trace, 'utf8')).traceEvents.filter((one) => one.ph === 'X' &&
    ['kernel', 'gpu_memcpy', 'gpu_memset', 'cpu_op', 'cuda_runtime', 'cuda_driver', 'user_annotation']
      .includes(one.cat));
  const first = Math.min(...spans.map((one) => one.ts));
  const ns = (us) => Math.round(1000 * (us - first));
  const work = spans.filter((one) => one.cat === 'kernel' || one.cat.startsWith('gpu_'))
    .map((one) => [ns(one.ts), ns(one.ts + one.dur)]).sort((a, b) => a[0] - b[0]);
  const inside = work.map(([from, to]) => [Math.max(begin, from), Math.min(end, to)])
    .filter(([from, to]) => to > from);
  const all = inside.reduce((sum, [from, to]) => sum + to - from, 0);  // one stream: no overlap
  // The page has the idle time of the steps, too, before the first work and after the last.
  const steps = spans.filter((one) => one.name.startsWith('ProfilerStep'));
  const from = Math.min(work[0][0], ...steps.map((one) => ns(one.ts)));
  const to = Math.max(work.at(-1)[1], ...steps.map((one) => ns(one.ts + one.dur)));
  const known = Math.min(end, to) - Math.max(begin, from);
  return { idle: known - all, work: [inside.length, all] };
}

// The longest time without device work in the steps, from the events of the trace itself: its length, the work
// after it, and what the host ran in the middle of it.
function longestGap(trace) {
  const spans = JSON.parse(readFileSync(trace, 'utf8')).traceEvents.filter((one) => one.ph === 'X');
  const work = spans.filter((one) => ['kernel', 'gpu_memcpy', 'gpu_memset'].includes(one.cat))
    .sort((a, b) => a.ts - b.ts);
  const steps = spans.filter((one) => one.name.startsWith('ProfilerStep')).map((one) => one.ts);
  let best = { us: 0 }, busyTo = Math.min(work[0].ts, ...steps);
  for (const one of work) {
    if (one.ts - busyTo > best.us) best = { us: one.ts - busyTo, from: busyTo, to: one.ts };
    busyTo = Math.max(busyTo, one.ts + one.dur);
  }
  const ops = spans.filter((one) => one.cat === 'cpu_op' && one.ts < best.to &&
    one.ts + one.dur > best.from).map((one) => one.name);
  return { ...best, ops };
}

// The longest idle interval is that of the trace, and names a host event that ran in it.
export async function checkGap(page, name, trace) {
  const { us, ops } = longestGap(trace);
  await page.getByRole('button', { name: 'longest gap' }).click();
  const text = await detail(page);
  const shown = await page.evaluate((length) => time(length), us);
  assert.ok(text.includes(`idle for ${shown}`), `${text} has a length of ${shown}`);
  assert.ok(ops.some((op) => text.includes(`): ${op}`)), `${text} names one of ${ops}`);
  assert.match(text, /ended by (Memset|cuBLAS GEMM)/);
  assert.ok(!text.includes("): ProfilerStep"));
  const hash = await page.evaluate(() => window.epilogue.link.hash());
  assert.match(hash, /gap=0\.0\.\d+/, 'the address has the idle interval');
  await page.locator('#detail button.link').last().click();
  assert.match(await detail(page), /lane /, 'the events of a gap can be selected');
  await page.keyboard.press('Escape');
  await showAll(page);
  const place = await page.evaluate(() => {
    const [view] = window.epilogue.views, [gaps] = view.events.gaps, { at, dur } = gaps.strip;
    view.box.scrollTop = 0;
    view.draw();
    const lane = view.lanes.find((one) => one.gaps === gaps);
    const widest = [...at.keys()].reduce((a, b) => dur[b] > dur[a] ? b : a);
    return { x: view.x(at[widest] + dur[widest] / 2), y: lane.y - view.top + 6 };
  });
  await page.locator(TIMELINE).first().click({ position: place });
  assert.match(await detail(page), /idle for/, 'a click selects an idle interval');
  await page.keyboard.press('Escape');
}

// The device comes first, and Python is folded.
export async function checkLanes(page) {
  const lanes = await page.evaluate(() => window.epilogue.views[0].lanes.map((lane) =>
    ({ device: !!lane.device, gaps: !!lane.gaps, python: !!lane.python, isPath: !!lane.isPath,
      collapsed: !!lane.collapsed, rowHeight: lane.rowHeight })));
  const firstHost = lanes.findIndex((lane) => !lane.device && !lane.gaps && !lane.isPath);
  assert.ok(lanes.every((lane, i) => !lane.device || firstHost < 0 || i < firstHost));
  const isPair = await page.evaluate(() => data.files.length === 2);
  for (const lane of lanes) {
    const isHost = !lane.device && !lane.gaps && !lane.isPath;
    assert.equal(lane.collapsed, isPair ? isHost : lane.python, 'Python is folded');
    if (lane.device) assert.ok(lane.rowHeight > 16, 'device lanes are taller');
  }
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

// Search finds events for every name in the tables.
export async function checkNamesAreFound(page, name) {
  const lost = await page.evaluate(() => {
    const [file] = data.files, { events } = window.epilogue.views[0];
    const names = [...file.table, ...file.kernels].map((row) => row.name);
    return names.filter((one) =>
      events.search(one.slice(0, MAX_SEARCH_LENGTH).replace(/\*$/, '')).length === 0);
  });
  assert.deepEqual(lost, [], `${name}: all names are found in the timeline`);
}

// Short events are aggregated when zoomed out, and the page says so.
export async function checkLarge(page) {
  await page.getByRole('tab', { name: 'Trace quality' }).click();
  assert.match(await page.locator('#quality').textContent(), /shorter events merged into spans/);
  const sums = await page.evaluate(() => window.epilogue.views[0].events.lanes.map((lane) =>
    lane.levels.map((level) => level.reduce((sum, strip) =>
      sum + strip.count.reduce((all, count) => all + count, 0), 0))));
  assert.ok(sums.length === 2 && sums[0].length > 1, 'the device lane has levels');
  for (const level of sums[0]) assert.equal(level, 350000, 'each level contains every event');
  await page.evaluate(() => window.epilogue.reveal(window.epilogue.views[0], 8e6, 4e5));
  await frame(page);
  const y = await page.evaluate(() => {
    const [view] = window.epilogue.views, lane = view.lanes.find((one) => one.device);
    return lane.y - view.top + 8;
  });
  await page.locator(TIMELINE).first().click({ position: { x: 300, y } });
  assert.match(await detail(page), /short/, 'a click shows an event or a span of short events');
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
  await page.locator('#find').fill('');
}

// The map is drawn, describes its columns, and moves the timeline.
export async function checkIdleMap(page) {
  const map = page.locator('#idle canvas').first();
  assert.notEqual(await canvasImage(page, '#idle canvas'), '', 'the idle map is drawn');
  await map.focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('#idle .idle-map .small').first().textContent(),
    /at -?[0-9.]+ [num]?s: busy [0-9.]+ %/);
  await expectChange(page, 'the idle map', () => page.keyboard.press('Enter'));
  const shown = await page.evaluate(() => {
    const box = document.querySelector('.map-box').getBoundingClientRect();
    return document.querySelector('.frame').getBoundingClientRect().width / box.width;
  });
  assert.ok(shown > 0 && shown < 0.1, 'a frame marks the visible part');
  await showAll(page);
}

// A part of the step bar selects its longest interval.
export async function checkBar(page) {
  await page.locator('.step .legend button', { hasText: 'waiting for host' }).first().click();
  assert.match(await detail(page), /idle for [0-9.]+ [num]?s .*waiting for host/);
  await page.locator('.step .legend button', { hasText: 'kernels' }).first().click();
  assert.match(await detail(page), /duration/);
  await page.keyboard.press('Escape');
}

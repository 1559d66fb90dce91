// SPDX-License-Identifier: Apache-2.0
// Checks of a whole open report: first viewport, hostile names, colors, links, pictures, print.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { IDLE, KINDS, checkColors } from './colors.mjs';
import { TIMELINE, canvasImage, detail, frame } from './page.mjs';

export async function checkHostile(page, name) {
  const hacked = await page.evaluate(() => window.hacked);
  assert.equal(hacked, undefined, `${name}: no script of the trace ran`);
  const markup = page.locator('main img, main svg, main script');
  assert.equal(await markup.count(), 0, `${name}: no text of the trace becomes markup`);
}

// Verdict, step bar, idle map and the first device lane are visible without scrolling.
export async function checkFirstViewport(page, name) {
  await page.evaluate(() => window.scrollTo(0, 0));
  await frame(page);
  const { ends, height, overflow } = await page.evaluate(() => {
    const bottom = (selector) => document.querySelector(selector)?.getBoundingClientRect().bottom;
    const [view] = window.epilogue.views, lane = view.lanes.find((one) => one.device);
    const top = view.canvas.getBoundingClientRect().top;
    return { height: window.innerHeight,
      overflow: document.documentElement.scrollWidth - window.innerWidth,
      ends: { verdict: bottom('.verdict'), bar: bottom('.bar'), map: bottom('#idle canvas'),
        lane: lane && top + lane.y + lane.rowHeight } };
  });
  for (const [what, end] of Object.entries(ends)) {
    assert.ok(end <= height, `${name}: ${what} ends at ${end} of ${height} pixels`);
  }
  assert.ok(overflow <= 1, `${name}: the page does not scroll sideways`);
}

// The colors of both themes, as the page resolves them.
export async function checkPalette(page) {
  const read = (theme) => page.evaluate(([name, properties]) => {
    document.documentElement.setAttribute('data-theme', name);
    theme.forget();
    const hex = (text) => '#' + text.match(/\d+/g).slice(0, 3)
      .map((one) => Number(one).toString(16).padStart(2, '0')).join('');
    return Object.fromEntries(properties.map((one) => [one, hex(theme.color(one.slice(2)))]));
  }, [theme, ['--on-fill', '--paper', '--raised', ...KINDS, ...IDLE]]);
  checkColors(await read('light'), await read('dark'));
  await page.evaluate(() => {
    document.documentElement.removeAttribute('data-theme');
    theme.change();
  });
}

// The button changes the colors of the page and of the canvas, also against the system's setting.
export async function checkTheme(page) {
  const look = async () => [await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    await canvasImage(page, TIMELINE)];
  const before = await look();
  const toggle = page.getByRole('button', { name: /colors:/ });
  const looks = [];
  for (const name of ['dark', 'light', 'system']) {
    await toggle.click();
    assert.equal(await toggle.textContent(), `colors: ${name}`);
    looks.push(await look());
  }
  const [dark, light, system] = looks;
  assert.ok(dark[0] !== light[0] && dark[1] !== light[1]);
  assert.deepEqual(system, before, 'the third click returns to the setting of the system');
}

// A link restores the range, the selection, the tab and the search.
export async function checkDeepLink(page) {
  await page.locator('#find').fill('aten::mm');
  await page.keyboard.press('Enter');
  await page.getByRole('tab', { name: 'GEMMs' }).click();
  await page.locator(TIMELINE).first().focus();
  await page.keyboard.press('w');
  await page.waitForTimeout(400);
  const state = () => page.evaluate(() => ({ tab: tabs.current, words: window.epilogue.words,
    selected: window.epilogue.views[0].selected, length: Math.round(window.epilogue.range.length),
    begin: Math.round(window.epilogue.range.begin) }));
  const before = await state(), text = await detail(page);
  assert.ok(before.selected >= 0 && before.tab === 'gemms');
  await page.reload();
  await page.waitForFunction(() => window.epilogue !== undefined);
  await frame(page);
  assert.deepEqual(await state(), before);
  assert.equal(await detail(page), text);
  const bad = ['#sel=0.1e-1', '#t=-1e18,1', '#t=0,1e30', '#t=-999999999999,5', '#range=1e20,5',
    '#gap=0.7.1', '#sel=9.9&tab=nothing&q=%E0%A4%A', '#=&&', '#step=99'];
  for (const hash of bad) {
    await page.evaluate((text) => {
      history.replaceState(null, '', text);
      window.epilogue = undefined;
    }, hash);
    await page.reload();
    await page.waitForFunction(() => window.epilogue !== undefined);
    const [range, whole] = await page.evaluate(() => [window.epilogue.range, window.epilogue.whole]);
    assert.ok(range.length > 0 && range.begin < whole.begin + whole.length &&
      range.begin + range.length > whole.begin, `${hash} shows a part of the trace`);
  }
  await page.locator('#find').fill('');
  await page.evaluate(() => { history.replaceState(null, '', '#'); });
  await page.reload();
  await page.waitForFunction(() => window.epilogue !== undefined);
}

// The view as SVG: well-formed, without scripts, with the events on the screen.
export async function checkSvg(page, name) {
  const [download] = await Promise.all([page.waitForEvent('download'),
    page.getByRole('button', { name: 'save the view as SVG' }).click()]);
  const text = readFileSync(await download.path(), 'utf8');
  const parsed = await page.evaluate((svg) => {
    const parts = new DOMParser().parseFromString(svg, 'image/svg+xml');
    return { error: parts.querySelector('parsererror')?.textContent ?? null,
      rects: parts.querySelectorAll('rect').length,
      scripts: parts.querySelectorAll('script, image, foreignObject').length };
  }, text);
  assert.deepEqual([parsed.error, parsed.scripts], [null, 0], `${name}: the SVG is well-formed`);
  assert.ok(parsed.rects > 10);
  if (name === 'mlp_eager') {
    for (const part of ['cuBLAS GEMM', 'aten::linear', 'waiting for host', '<pattern']) {
      assert.ok(text.includes(part), `the SVG has ${part}`);
    }
  }
}

// Print uses the light colors, on the canvas as well, hides the controls, and prints every section.
export async function checkPrint(page, out) {
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
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  const heights = await page.locator('[role=tabpanel]').evaluateAll((list) =>
    list.map((panel) => [panel.id, panel.getBoundingClientRect().height]));
  for (const [id, height] of heights) assert.ok(height > 20, `${id} is printed`);
  await page.pdf({ path: `${out}/print.pdf` });
}

// SPDX-License-Identifier: Apache-2.0
// What a test sees of an open report.
import assert from 'node:assert';

export async function frame(page) {
  await page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
}

// What is on a canvas, as text; empty where nothing is drawn.
export async function drawn(page, selector) {
  await frame(page);
  return page.locator(selector).first().evaluate((canvas) => {
    const blank = document.createElement('canvas');
    blank.width = canvas.width;
    blank.height = canvas.height;
    const picture = canvas.toDataURL();
    return picture === blank.toDataURL() ? '' : picture;
  });
}
export const TIMELINE = '#timeline canvas';

export async function changes(page, what, action) {
  const before = await drawn(page, TIMELINE);
  assert.notEqual(before, '', 'the timeline is drawn');
  await action();
  assert.ok(await drawn(page, TIMELINE) !== before, `${what} changes the picture`);
}

export async function detail(page) {
  await frame(page);
  return page.locator('#detail').textContent();
}

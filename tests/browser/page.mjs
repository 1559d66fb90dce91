// SPDX-License-Identifier: Apache-2.0
// Accessors for an open report.
import assert from 'node:assert';

// Waits until the page has drawn a frame.
export async function frame(page) {
  await page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
}

// The canvas content as a data URL, or an empty string if nothing is drawn.
export async function canvasImage(page, selector) {
  await frame(page);
  return page.locator(selector).first().evaluate((canvas) => {
    const blank = document.createElement('canvas');
    blank.width = canvas.width;
    blank.height = canvas.height;
    const picture = canvas.toDataURL();
    return picture === blank.toDataURL() ? '' : picture;
  });
}
export const TIMELINE = '#timeline .lanes canvas';

// Performs `action` and checks that it redraws the timeline.
export async function expectChange(page, what, action) {
  const before = await canvasImage(page, TIMELINE);
  assert.notEqual(before, '', 'the timeline is drawn');
  await action();
  assert.ok(await canvasImage(page, TIMELINE) !== before, `${what} changes the timeline`);
}

export async function detail(page) {
  await frame(page);
  return page.locator('#detail').textContent();
}

export async function showAll(page) {
  await page.getByRole('button', { name: 'show all' }).click();
  await frame(page);
}

export async function openTab(page, name) {
  await page.getByRole('tab', { name, exact: true }).click();
  await frame(page);
}

// Where an event is drawn in the timeline of the first file: {x, y} of its middle.
export async function placeOf(page, words) {
  await frame(page);
  return page.evaluate((text) => {
    const view = window.epilogue.views[0], { events } = view, [id] = events.search(text);
    view.show(id);
    view.draw();
    return { x: view.x(events.at[id] + events.dur[id] / 2), y: view.y(id) + 7, id };
  }, words);
}

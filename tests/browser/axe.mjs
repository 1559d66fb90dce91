// SPDX-License-Identifier: Apache-2.0
// Checks an open page with axe-core against WCAG 2.0 and 2.1, levels A and AA, including color contrast.
// axe-core does not see the content of a canvas.
import assert from 'node:assert';
import axe from 'axe-core';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];

// The Content-Security-Policy of the page blocks a script element, but not page.evaluate.
export async function checkAccessibility(page, name) {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async (tags) => {
    const results = await window.axe.run(document,
      { runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] });
    return results.violations.flatMap(({ id, nodes }) => nodes.map((node) =>
      `${id}: ${node.target.join(' ')}: ${node.failureSummary.replace(/\s+/g, ' ')}`));
  }, TAGS);
  assert.equal(violations.length, 0, `${name}: accessibility violations:\n${violations.join('\n')}`);
}

// SPDX-License-Identifier: Apache-2.0
// Opens reports in Chromium: they draw, zoom, find and select; no request leaves the page, nothing of a trace runs.
// Usage: node report.mjs EPILOGUE TRACES OUT; leaves screenshots in OUT.
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import assert from 'node:assert';

const [epilogue, traces, out] = process.argv.slice(2);
const hostile = `${out}/hostile.json`;
const attacks = ['</script><script>window.hacked = 1</script>', '<img src=x onerror="window.hacked = 1">', '"><svg onload="window.hacked=1">', "${window.hacked = 1}", '<!--'];
writeFileSync(hostile, JSON.stringify({ traceEvents: [
  ...attacks.map((name, i) => ({ ph: 'X', cat: 'cpu_op', name, pid: 1, tid: 1, ts: 100 * i, dur: 80, args: { 'Input Dims': [[attacks[0]]] } })),
  ...attacks.map((name, i) => ({ ph: 'X', cat: 'kernel', name, pid: 0, tid: 7, ts: 100 * i + 20, dur: 50, args: {} })),
  { ph: 'X', cat: 'user_annotation', name: attacks[1], pid: 1, tid: 1, ts: 0, dur: 900, args: {} }] }));

const reports = { mlp_eager: ['mlp_eager.json'], mlp_compared: ['mlp_eager.json', 'mlp_compile.json'], llama_train: ['llama_train.json.gz'], hostile: [hostile] };
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

async function drawn(page, index) {
  return page.evaluate((i) => {
    const canvas = document.querySelectorAll('canvas')[i];
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let sum = 0;
    for (let at = 0; at < pixels.length; at += 4) sum = (sum * 31 + pixels[at] + 7 * pixels[at + 1] + 13 * pixels[at + 3]) >>> 0;
    return sum;
  }, index);
}

for (const [name, files] of Object.entries(reports)) {
  const file = `${out}/${name}.html`;
  execFileSync(epilogue, ['report', ...files.map((one) => one.startsWith('/') ? one : `${traces}/${one}`), '-o', file], { stdio: 'ignore' });
  for (const scheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: scheme });
    const problems = [], requests = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    const start = Date.now();
    await page.goto(`file://${file}`);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const ready = Date.now() - start;
    assert.deepEqual(problems, [], `${name}: no console message`);
    assert.deepEqual(requests, [`file://${file}`], `${name}: no request leaves the page`);
    assert.equal(await page.evaluate(() => window.hacked), undefined, `${name}: nothing of the trace ran`);
    assert.equal(await page.locator('main img, main svg, main script').count(), 0, `${name}: nothing of the trace is markup`);
    assert.equal(await page.locator('canvas').count(), files.length);
    assert.match(await page.locator('.verdict').last().textContent(), /torch\.compile: (no|maybe|likely)/);

    const canvas = page.locator('canvas').first();
    await canvas.scrollIntoViewIfNeeded();
    await canvas.focus();
    const before = await drawn(page, 0);
    for (const key of ['w', 'w', 'd']) await page.keyboard.press(key);
    await page.waitForTimeout(60);
    assert.notEqual(await drawn(page, 0), before, `${name}: W and D change the picture`);
    await page.mouse.wheel(0, -200);
    await page.getByRole('button', { name: 'all', exact: true }).click();
    await page.waitForTimeout(60);

    const wanted = name === 'hostile' ? '<img' : 'aten::mm';
    await page.keyboard.press('/');
    await page.locator('#find').fill(wanted);
    await page.keyboard.press('Enter');
    await page.waitForTimeout(60);
    assert.match(await page.locator('#detail').textContent(), name === 'hostile' ? /<img/ : /aten::mm/, `${name}: it finds and selects`);
    if (name === 'mlp_eager') assert.match(await page.locator('#detail').textContent(), /cuBLAS GEMM bf16 tn/, 'an op shows its kernels');
    await canvas.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Escape');
    const rows = page.locator('#table tbody tr'), all = await rows.count();
    await page.locator('#table input').first().fill('nothing is called so');
    assert.ok(await rows.count() < all, `${name}: the filter filters`);
    await page.locator('#table input').first().fill('');
    await page.screenshot({ path: `${out}/${name}_${scheme}.png`, fullPage: true });
    console.log(`${name} ${scheme}: interactive after ${ready} ms`);
    await page.close();
  }
}
const phone = await browser.newPage({ viewport: { width: 390, height: 800 } });
await phone.goto(`file://${out}/mlp_eager.html`);
assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth + 1), 'a phone does not scroll sideways');
await phone.screenshot({ path: `${out}/phone.png` });
await browser.close();
console.log('the reports hold');

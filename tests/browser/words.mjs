// SPDX-License-Identifier: Apache-2.0
// Compares the sentences and numbers of a report with the command line, for one trace.
import assert from 'node:assert';
import { execFileSync } from 'node:child_process';

const oneLine = (text) => text.replace(/\s+/g, ' ').trim();

// Runs the tool with wide output, so that nothing is cut.
function run(epilogue, ...args) {
  return execFileSync(epilogue, args, { encoding: 'utf8', env: { ...process.env, COLUMNS: '1000' },
    stdio: ['ignore', 'pipe', 'ignore'] });
}

function checkContained(name, verb, output, texts) {
  const all = oneLine(output);
  for (const text of texts) {
    assert.ok(all.includes(oneLine(text)), `${name}: "${text}" is not in the output of ${verb}`);
  }
}

const cells = (table) => table.rows.map((row) => row.filter((cell) => cell !== '').join(' '));

// The answers of the first viewport are those of `epilogue FILE`.
function checkAnswers(name, screen, file) {
  // The screen has one phrase for a total with one part: "G GPU busy 234.3 us".
  const parts = (file.bar?.parts ?? []).filter((part) => part.in_legend)
    .map((part) => [part.what, 'GPU busy', 'kernels run', 'work of others']
      .map((what) => `${part.letter} ${what} ${part.time}`)
      .find((text) => oneLine(screen).includes(text)) ?? `${part.letter} ${part.what} ${part.time}`);
  checkContained(name, 'epilogue', screen, [file.verdict, ...file.path, ...file.notes, file.mfu,
    ...parts, ...(file.ranked ? cells(file.ranked) : []), file.no_ranked ?? '']);
  if (file.bar) checkContained(name, 'epilogue', screen, [file.bar.label, file.work.columns[0].title]);
}

// The visible text of an open report has the same verdict, bar and advice.
async function checkVisible(name, page, file) {
  const shown = oneLine(await page.locator('main').innerText());
  const parts = (file.bar?.parts ?? []).filter((part) => part.in_legend)
    .map((part) => `${part.what} ${part.time}`);
  for (const text of [file.verdict, ...parts, ...(file.ranked ? cells(file.ranked) : [])]) {
    assert.ok(shown.includes(oneLine(text)), `${name}: the page does not show "${text}"`);
  }
}

// Times that the page formats itself read as in the terminal.
async function checkTimes(name, page, steps, json) {
  const shown = await page.evaluate((list) =>
    list.map((step) => [step.cpu_us, step.gpu_us, step.idle_us]
      .map((us) => us === 0 ? '-' : time(us))), json);
  for (const [cpu, gpu, idle] of shown) {
    checkContained(name, 'steps', steps, [`${cpu} ${gpu}`, `% ${idle}`]);
  }
}

export async function checkWords(page, name, epilogue, trace) {
  const file = await page.evaluate(() => data.files[0]);
  checkAnswers(name, run(epilogue, trace), file);
  await checkVisible(name, page, file);
  const advise = run(epilogue, 'advise', '--all', trace);
  checkContained(name, 'advise', advise, [file.compile, ...file.advice.map((one) => one.title)]);
  const steps = run(epilogue, 'steps', trace);
  checkContained(name, 'steps', steps, cells(file.steps));
  const { steps: numbers } = JSON.parse(run(epilogue, 'steps', '--json', trace));
  await checkTimes(name, page, steps, numbers);
  checkContained(name, 'breakdown', run(epilogue, 'breakdown', trace), file.devices.flatMap((device) =>
    [device.title, ...device.parts.flatMap(({ table, below }) => [...cells(table), ...below.split('\n')])]));
  const summary = JSON.parse(run(epilogue, 'summary', '--json', trace));
  assert.deepEqual(file.kernels.map(({ name: raw, what, count, us }) => ({ raw, what, count, us })),
    summary.kernels.map(({ name: raw, what, count, gpu_us: us }) => ({ raw, what, count, us })));
  checkContained(name, 'table --gemms', run(epilogue, 'table', '--gemms', trace),
    [...file.gemms.rows.map((row) => row[2]), file.gemms_note]);
}

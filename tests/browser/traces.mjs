// SPDX-License-Identifier: Apache-2.0
// Synthetic traces.
import { writeFileSync } from 'node:fs';

const ATTACKS = ['</script><script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1">', '"><svg onload="window.hacked=1">',
  '${window.hacked = 1}', '<!--'];

function span(cat, name, begin, dur, more = {}) {
  return { ph: 'X', cat, name, pid: 1, tid: 1, ts: begin, dur, args: {}, ...more };
}

export function hostileTrace() {
  const shapes = { 'Input Dims': [[ATTACKS[0]]] };
  return [...ATTACKS.map((name, i) => span('cpu_op', name, 100 * i, 80, { args: shapes })),
    ...ATTACKS.map((name, i) => span('kernel', name, 100 * i + 20, 50, { pid: 0, tid: 7 })),
    span('user_annotation', ATTACKS[1], 0, 900)];
}

// More short events than are drawn individually, and a long one in the middle.
export function largeTrace() {
  const events = [span('cpu_op', 'aten::mm', 1e6, 5000)];
  for (let i = 0; i < 350000; ++i) {
    events.push(span('kernel', `short_${i % 7}`, 8 * i, 1 + i % 5, { pid: 0, tid: 7 }));
  }
  return events;
}

// Forty threads, and two steps of 1 ms and 2 ms.
export function threadsTrace() {
  const events = [span('user_annotation', 'ProfilerStep#1', 0, 1000),
    span('user_annotation', 'ProfilerStep#2', 1000, 2000)];
  for (let tid = 2; tid < 42; ++tid) {
    events.push(span('cpu_op', `op_of_${tid - 2}`, 10 * tid, 5, { tid }));
  }
  return events;
}

// A kernel on each of 100 streams.
export function streamsTrace() {
  return Array.from({ length: 100 }, (_, i) =>
    span('kernel', 'k', 10 * i, 5, { pid: 0, tid: i + 1 }));
}

export function writeTrace(folder, name, events) {
  const file = `${folder}/${name}.json`;
  writeFileSync(file, JSON.stringify({ traceEvents: events }));
  return file;
}

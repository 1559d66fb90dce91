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

// Two streams whose kernels overlap, with a collective on the second, after an operator.
export function twoStreamsTrace() {
  const events = [];
  for (let i = 0; i < 20; ++i) {
    const launch = (cat, name, id, at) => span(cat, name, at, 4, { args: { correlation: id } });
    const work = (name, id, at, dur, tid) => span('kernel', name, at, dur,
      { pid: 0, tid, args: { correlation: id, device: 0, stream: tid } });
    events.push(span('cpu_op', 'aten::mm', 100 * i, 30),
      launch('cuda_runtime', 'cudaLaunchKernel', 2 * i + 1, 100 * i + 5),
      launch('cuda_runtime', 'cudaLaunchKernel', 2 * i + 2, 100 * i + 15),
      work('ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn', 2 * i + 1, 100 * i + 12, 50, 7),
      work('ncclDevKernel_AllReduce_Sum_bf16_RING_LL', 2 * i + 2, 100 * i + 30, 40, 20));
  }
  return events;
}

// A million events: steps, operators, launches and kernels.
export function millionTrace() {
  const events = [];
  for (let i = 0; events.length < 1e6; ++i) {
    const at = 12 * i;
    if (i % 2500 === 0) {
      events.push(span('user_annotation', `ProfilerStep#${i / 2500}`, at, 12 * 2500 - 1));
    }
    events.push(span('cpu_op', 'aten::linear', at, 10), span('cpu_op', `aten::op_${i % 50}`, at + 1, 8),
      span('cuda_runtime', 'cudaLaunchKernel', at + 2, 3, { args: { correlation: i } }),
      span('kernel', `kernel_${i % 50}`, at + 9, 1 + i % 7,
        { pid: 0, tid: 7, args: { correlation: i, device: 0, stream: 7 } }));
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
  const lines = events.map((event) => JSON.stringify(event));
  writeFileSync(file, `{"traceEvents": [\n${lines.join(',\n')}\n]}`);
  return file;
}

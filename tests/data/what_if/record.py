#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what the tests of the critical path and of savings hold estimates against, on one GPU.

    python3 tests/data/what_if/record.py FOLDER

Planted delays: a block with a delay on or off its critical path. Pairs: a step before and after advice
was followed, with the wall time of both without a profiler (median of nine loops of many steps). Writes
one trace a case, and times.json.
"""
import gzip, json, os, statistics, sys, time
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

OUT = sys.argv[1]
os.makedirs(OUT, exist_ok=True)
torch.manual_seed(0)
DEVICE, TYPE = "cuda", torch.bfloat16
times = {}


def weights(rows, columns):
    return torch.randn(rows, columns, device=DEVICE, dtype=TYPE) / columns ** 0.5


def record(name, step):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=1, warmup=2, active=3)) as recorded:
        for _ in range(6):
            step()
            recorded.step()
        torch.cuda.synchronize()
    plain = os.path.join(OUT, name + ".json")
    recorded.export_chrome_trace(plain)
    with open(plain, "rb") as text, gzip.open(plain + ".gz", "wb", 9) as packed:
        packed.write(text.read())
    os.remove(plain)


def wall_us(step):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    step()
    torch.cuda.synchronize()
    steps = max(3, min(200, int(0.03 / max(1e-6, time.perf_counter() - begin))))
    rounds = []
    for _ in range(9):
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - begin) / steps * 1e6)
    return [statistics.median(rounds), min(rounds), max(rounds)]


def case(name, step):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    times[name] = wall_us(step)
    record(name, step)


def pair(kind, size, before, after):
    name = f"{kind}_{size}"
    case(name, before)
    for _ in range(3):
        after()
    times[name + ".after"] = wall_us(after)
    print(name, "before", times[name][0], "after", times[name + ".after"][0], flush=True)


# Planted delays: eight products that keep the GPU busy for longer than the host needs.
x = torch.randn(4096, 2048, device=DEVICE, dtype=TYPE)
layers = [weights(2048, 2048) for _ in range(8)]
side = torch.cuda.Stream()
SLOW_CYCLES = 4_000_000  # some 2 ms


def block(rows=4096, between=lambda i: None):
    y = x[:rows]
    for i, w in enumerate(layers):
        y = y @ w
        between(i)
    return y


def host_sleep():
    block()
    torch.cuda.synchronize()  # so that the sleep is not hidden behind what is queued
    time.sleep(0.004)


def hidden_sleep():
    torch.cuda._sleep(8 * SLOW_CYCLES)
    block()
    time.sleep(0.001)


def slow_kernel():
    block(between=lambda i: torch.cuda._sleep(SLOW_CYCLES) if i == 3 else None)


def slow_kernel_beside():
    with torch.cuda.stream(side):
        torch.cuda._sleep(SLOW_CYCLES // 8)
    for _ in range(4):
        block()


def sync_each():
    block(64, between=lambda i: torch.cuda.synchronize())


def wait_for_stream():
    with torch.cuda.stream(side):
        torch.cuda._sleep(2 * SLOW_CYCLES)
    torch.cuda.current_stream().wait_stream(side)
    block()
    side.wait_stream(torch.cuda.current_stream())


class Slow(torch.utils.data.Dataset):
    def __init__(self, seconds, columns):
        self.seconds, self.columns = seconds, columns

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.ones(self.columns)


def loader_step(loader):
    batches = iter(loader)

    def step():
        batch = next(batches)
        return block(256) + batch.to(DEVICE, TYPE, non_blocking=True).sum()
    return step


for name, step in [("block", block), ("host_sleep", host_sleep), ("hidden_sleep", hidden_sleep),
                   ("slow_kernel", slow_kernel), ("slow_kernel_beside", slow_kernel_beside),
                   ("sync_each", sync_each), ("wait_for_stream", wait_for_stream)]:
    case(name, step)
    print(name, times[name], flush=True)
case("loader", loader_step(torch.utils.data.DataLoader(Slow(0.001, 64), batch_size=4)))

# Pairs.
for m, n, k in [(4096, 4096, 4096), (8192, 2048, 2048), (2048, 8192, 1024), (16384, 1024, 1024), (1024, 1024, 8192)]:
    a, b, c = (torch.randn(*s, device=DEVICE, dtype=TYPE) for s in ((m, k), (k, n), (m, n)))
    pair("addmm", f"{m}x{n}x{k}", lambda: torch.add(a @ b, c), lambda: torch.addmm(c, a, b))

for rows in (16, 128, 512, 1024, 2048):
    def synced(rows=rows):
        block(rows, between=lambda i: torch.cuda.synchronize() if i % 2 else None)
    pair("sync", str(rows), synced, lambda rows=rows: block(rows))

for mb in (1, 4, 16, 64, 128):
    count = mb << 18
    pageable, pinned = torch.ones(count), torch.ones(count).pin_memory()
    pair("pageable", f"{mb}MB", lambda: (pageable.to(DEVICE, non_blocking=True), block()),
         lambda: (pinned.to(DEVICE, non_blocking=True), block()))

for rows in (1, 16, 64, 256, 512):
    static = x[:rows].contiguous()

    def eager(static=static):
        y = static
        for w in layers:
            y = torch.nn.functional.gelu(y @ w)
        return y
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        eager()
    pair("graph", str(rows), eager, graph.replay)

for heads, length, width in [(16, 1024, 64), (16, 2048, 64), (32, 1024, 128), (8, 4096, 64), (64, 512, 64)]:
    q, k, v = (torch.randn(1, heads, length, width, device=DEVICE, dtype=TYPE) for _ in range(3))
    q3, k3, v3 = (t.squeeze(0) for t in (q, k, v))

    def unfused(q3=q3, k3=k3, v3=v3):
        return torch.bmm(torch.softmax(torch.bmm(q3, k3.transpose(1, 2)), -1), v3)
    pair("attention", f"{heads}x{length}x{width}", unfused,
         lambda q=q, k=k, v=v: torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0))

for rows, columns in [(4096, 4096), (8192, 4096), (8192, 8192), (16384, 2048), (2048, 16384)]:
    t, w = torch.randn(columns, rows, device=DEVICE, dtype=TYPE), weights(columns, 256)
    pair("copies", f"{rows}x{columns}", lambda: t.t().contiguous() @ w, lambda: t.t() @ w)

for milliseconds, batch in [(1, 4), (2, 4), (4, 2), (1, 16), (3, 8)]:
    slow = Slow(milliseconds / 1000, 64)
    alone = loader_step(torch.utils.data.DataLoader(slow, batch_size=batch))
    workers = loader_step(torch.utils.data.DataLoader(slow, batch_size=batch, num_workers=12, prefetch_factor=4,
                                                      pin_memory=True))
    pair("loader", f"{milliseconds}ms_{batch}", alone, workers)

with open(os.path.join(OUT, "times.json"), "w") as out:
    json.dump({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "wall_us": times}, out, indent=1)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what the tests of the critical path and of savings hold estimates against, on one GPU.

    python3 tests/data/what_if/record.py FOLDER [EPILOGUE] [held_out]

Planted delays: a block with a delay on or off its critical path. Pairs: a step before and after advice
was followed. Each is measured three times in turn: the wall time without a profiler (median of nine
loops of many steps), and a trace of the step before, of which the one with the median step is kept.
Writes one trace a case, and times.json with [median, least, most] of the three wall times. With the
program EPILOGUE, the gated MLPs are also run with prebuilt kernels (`run mlp --like`). `held_out` records
pairs of other sizes, which no constant was chosen with, and no planted delays.
"""
import gzip, json, os, shutil, statistics, subprocess, sys, time
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

OUT = sys.argv[1]
EPILOGUE = sys.argv[2] if len(sys.argv) > 2 else None
HELD_OUT = sys.argv[3:] == ["held_out"]
os.makedirs(OUT, exist_ok=True)
torch.manual_seed(0)
DEVICE, TYPE = "cuda", torch.bfloat16
RECORDINGS = 3
times = {}


def sizes(fitted, held_out):
    return held_out if HELD_OUT else fitted


def weights(rows, columns):
    return torch.randn(rows, columns, device=DEVICE, dtype=TYPE) / columns ** 0.5


def record(path, step):
    """Returns how long the recorded steps took."""
    begin = end = 0
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=1, warmup=2, active=3)) as recorded:
        for i in range(6):
            begin = time.perf_counter() if i == 3 else begin
            step()
            recorded.step()
            end = time.perf_counter() if i == 4 else end  # the last one ends the recording as well
        torch.cuda.synchronize()
    recorded.export_chrome_trace(path)
    return end - begin


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
    return statistics.median(rounds)


def case(name, before, after=None):
    walls, walls_after, recordings = [], [], []
    for i in range(RECORDINGS):
        walls.append(wall_us(before))
        if after:
            walls_after.append(wall_us(after))
        path = os.path.join(OUT, f"{name}.{i}.tmp")
        recordings.append((record(path, before), path))
    median = sorted(recordings)[RECORDINGS // 2][1]
    with open(median, "rb") as text, gzip.GzipFile(os.path.join(OUT, name + ".json.gz"), "wb", 9, mtime=0) as packed:
        shutil.copyfileobj(text, packed)
    for _, path in recordings:
        os.remove(path)
    note(name, walls)
    if after:
        note(name + ".after", walls_after)


def note(name, walls):
    times[name] = [statistics.median(walls), min(walls), max(walls)]
    print(name, [round(us, 1) for us in times[name]], flush=True)


def pair(kind, size, before, after):
    case(f"{kind}_{size}", before, after)


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


for name, step in sizes([("block", block), ("host_sleep", host_sleep), ("hidden_sleep", hidden_sleep),
                         ("slow_kernel", slow_kernel), ("slow_kernel_beside", slow_kernel_beside),
                         ("sync_each", sync_each), ("wait_for_stream", wait_for_stream)], []):
    case(name, step)
if not HELD_OUT:
    case("loader", loader_step(torch.utils.data.DataLoader(Slow(0.001, 64), batch_size=4)))

# Pairs.
for m, n, k in sizes([(4096, 4096, 4096), (8192, 2048, 2048), (2048, 8192, 1024), (16384, 1024, 1024),
                      (1024, 1024, 8192)],
                     [(3000, 5120, 2560), (16384, 4096, 1024), (6144, 6144, 3072), (2048, 2048, 2048),
                      (12288, 768, 3072)]):
    a, b, c = (torch.randn(*s, device=DEVICE, dtype=TYPE) for s in ((m, k), (k, n), (m, n)))
    pair("addmm", f"{m}x{n}x{k}", lambda: torch.add(a @ b, c), lambda: torch.addmm(c, a, b))
    bias = torch.randn(n, device=DEVICE, dtype=TYPE)
    pair("bias", f"{m}x{n}x{k}", lambda: torch.add(a @ b, bias), lambda: torch.addmm(bias, a, b))

for rows in sizes((16, 128, 512, 1024, 2048), (32, 256, 768, 1536, 3072)):
    def synced(rows=rows):
        block(rows, between=lambda i: torch.cuda.synchronize() if i % 2 else None)
    pair("sync", str(rows), synced, lambda rows=rows: block(rows))

for mb in sizes((1, 4, 16, 64, 128), (2, 8, 24, 48, 96)):
    count = mb << 18
    pageable, pinned = torch.ones(count), torch.ones(count).pin_memory()
    pair("pageable", f"{mb}MB", lambda: (pageable.to(DEVICE, non_blocking=True), block()),
         lambda: (pinned.to(DEVICE, non_blocking=True), block()))

for rows in sizes((1, 16, 64, 256, 512), (2, 8, 32, 128, 384)):
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

for heads, length, width in sizes([(16, 1024, 64), (16, 2048, 64), (32, 1024, 128), (8, 4096, 64), (64, 512, 64)],
                                  [(24, 1536, 64), (12, 3072, 128), (32, 2048, 96), (40, 1024, 64), (4, 8192, 64)]):
    q, k, v = (torch.randn(1, heads, length, width, device=DEVICE, dtype=TYPE) for _ in range(3))
    q3, k3, v3 = (t.squeeze(0) for t in (q, k, v))

    def unfused(q3=q3, k3=k3, v3=v3):
        return torch.bmm(torch.softmax(torch.bmm(q3, k3.transpose(1, 2)), -1), v3)
    pair("attention", f"{heads}x{length}x{width}", unfused,
         lambda q=q, k=k, v=v: torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0))

for rows, columns in sizes([(4096, 4096), (8192, 4096), (8192, 8192), (16384, 2048), (2048, 16384)],
                           [(3072, 3072), (6144, 5120), (12288, 4096), (32768, 1024), (1024, 24576)]):
    t, w = torch.randn(columns, rows, device=DEVICE, dtype=TYPE), weights(columns, 256)
    pair("copies", f"{rows}x{columns}", lambda: t.t().contiguous() @ w, lambda: t.t() @ w)

for milliseconds, batch in sizes([(1, 4), (2, 4), (4, 2), (1, 16), (3, 8)], [(2, 2), (5, 4), (1, 8), (2, 12), (8, 2)]):
    slow = Slow(milliseconds / 1000, 64)
    alone = loader_step(torch.utils.data.DataLoader(slow, batch_size=batch))
    workers = loader_step(torch.utils.data.DataLoader(slow, batch_size=batch, num_workers=12, prefetch_factor=4,
                                                      pin_memory=True))
    pair("loader", f"{milliseconds}ms_{batch}", alone, workers)

for rows in sizes((1, 4, 16, 64, 128), (2, 8, 24, 48, 96)):
    def rows_of(count):
        given = x[:count].contiguous()

        def step():
            y = given
            for w in layers:
                y = torch.nn.functional.gelu(y @ w)
            return y
        return step
    pair("batch", str(rows), rows_of(rows), rows_of(2 * rows))  # a step after has twice the rows

F = torch.nn.functional
given = torch.randn(16384, 4096, device=DEVICE, dtype=TYPE)
scale = torch.randn(4096, device=DEVICE, dtype=TYPE)
square = weights(4096, 4096)
narrow = torch.randn(8192, 11008, device=DEVICE, dtype=TYPE)
other = torch.randn_like(narrow)
back = weights(11008, 1024)
FUSED = {
    "rms_norm": lambda: (given * torch.rsqrt(given.float().pow(2).mean(-1, keepdim=True) + 1e-6)).to(TYPE) * scale,
    "swiglu": lambda: (F.silu(narrow) * other) @ back,
    "geglu": lambda: (F.gelu(narrow, approximate="tanh") * other) @ back,
    "residual": lambda: F.layer_norm(given @ square + given, (4096,), scale) @ square,
    "relu2": lambda: (torch.square(F.relu(narrow)) + other) * other,
}
FUSED_HELD_OUT = {
    "tanh_gate": lambda: (torch.tanh(narrow) * torch.sigmoid(other)) @ back,
    "softcap": lambda: torch.tanh((given @ square) / 30) * 30,
    "layer_norm_gelu": lambda: F.gelu(F.layer_norm(given, (4096,), scale)) @ square,
    "rotate": lambda: given * torch.cos(given) + given.flip(-1) * torch.sin(given),
    "clamped_sum": lambda: torch.clamp(narrow + other, -1, 1).float().sum(-1),
}
for name, body in sizes(FUSED, FUSED_HELD_OUT).items():
    pair("fuse", name, body, torch.compile(body, dynamic=False))

if EPILOGUE:
    for rows, dim, hidden, activation in sizes([(8192, 768, 3072, "geglu"), (4096, 2048, 5632, "swiglu"),
                                                (2048, 4096, 14336, "swiglu"), (16384, 1024, 2816, "geglu"),
                                                (4096, 4096, 11008, "swiglu")],
                                               [(6144, 1536, 6144, "geglu"), (8192, 2048, 8192, "swiglu"),
                                                (3072, 3072, 8192, "swiglu"), (16384, 768, 2048, "geglu"),
                                                (8192, 1280, 5120, "geglu")]):
        y, gate, up, down = weights(rows, dim), weights(hidden, dim), weights(hidden, dim), weights(dim, hidden)

        def mlp(y=y, gate=gate, up=up, down=down, activation=activation):
            g = F.linear(y, gate)
            g = F.gelu(g, approximate="tanh") if activation == "geglu" else F.silu(g)
            return F.linear(g * F.linear(y, up), down)
        name = f"glu_{activation}_{rows}x{dim}x{hidden}"
        with torch.no_grad():
            case(name, mlp)
        walls = []
        for _ in range(RECORDINGS):
            out = subprocess.run([EPILOGUE, "run", "mlp", "--device", "cuda", "--json", "--like",
                                  os.path.join(OUT, name + ".json.gz")], check=True, capture_output=True, text=True)
            modes = {mode["mode"]: mode["us_per_forward"] for mode in json.loads(out.stdout)["modes"]}
            print(modes, flush=True)
            walls.append(modes["prebuilt glu@2"])
        note(name + ".after", walls)

with open(os.path.join(OUT, "times.json"), "w") as out:
    json.dump({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "wall_us": times}, out, indent=1)

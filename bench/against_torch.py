#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Epilogue with PyTorch on one GPU, in one run: results, kernels, times.

    python3 bench/against_torch.py [--bin build/cuda/bin] [--out FOLDER] [--json] [PART...]

Parts: eager (results, traces and times against eager), modes (a table of all modes over the shapes
below), sweep (one compiled MLP over many sizes), rates (our fused kernel against a cuBLASLt GEMM of
the same size), prebuilt (epilogue/glu). The default is all of them. Both sides get the same
safetensors weights and inputs and cycle through four input buffers. Times are medians of nine rounds of
20 ms, 50 ms apart. For every shape but the last, the memory accessed between two uses of a buffer exceeds the L2.
Prints one line per claim and writes traces and figures.json to FOLDER. Exits with 1 if a claim does not hold.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile, time
import torch
from safetensors.torch import load_file, save_file
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from graphed import graphed
from prebuilt_glu import prebuilt
from recorded import kernel_times, record_ours, table_of
from triton_glu import TritonGlu

DEVICE, DTYPE = "cuda", torch.bfloat16
GELU_COUNT = 8192 * 3072
ROUNDS, ROUND_US = 9, 20000
# Rows, width, hidden width, activation, and the maximum of our time over that of PyTorch's best mode.
SHAPES = [(8192, 768, 3072, "geglu", 0.78), (8192, 2048, 16384, "geglu", 0.90),
          (4096, 4096, 14336, "swiglu", 0.96), (16, 4096, 14336, "swiglu", 0.95),
          (1, 4096, 14336, "swiglu", 0.97), (128, 64, 256, "geglu", 0.8)]
MAX_OF_TRITON = 0.98  # maximum of our time over Triton's fused kernel plus cuBLAS for down, for many rows
RATES = [512, 1024, 2048, 4096, 8192, 16384]
SWEEP = [1, 2, 3, 7, 16, 33, 64, 100, 128, 512, 1000, 2048, 4096, 8192]


class Glu(torch.nn.Module):
    def __init__(self, dim, hidden, activation="geglu"):
        super().__init__()
        self.gate_proj = torch.nn.Linear(dim, hidden, bias=False)
        self.up_proj = torch.nn.Linear(dim, hidden, bias=False)
        self.down_proj = torch.nn.Linear(hidden, dim, bias=False)
        self.activation = activation

    def act(self, gate):
        if self.activation == "geglu":
            return torch.nn.functional.gelu(gate, approximate="tanh")
        return torch.nn.functional.silu(gate)

    def forward(self, x):
        gate, up = self.gate_proj(x), self.up_proj(x)
        return self.down_proj(self.act(gate) * up)


class Packed(torch.nn.Module):
    """Gate and up as one GEMM over stacked weights, as serving engines do."""

    def __init__(self, glu):
        super().__init__()
        self.glu = glu
        self.weight = torch.cat([glu.gate_proj.weight, glu.up_proj.weight]).detach().contiguous()

    def forward(self, x):
        gate, up = torch.nn.functional.linear(x, self.weight).chunk(2, -1)
        return self.glu.down_proj(self.glu.act(gate) * up)


class Claims:
    def __init__(self, quiet):
        self.broken, self.figures, self.quiet = 0, {}, quiet

    def note(self, text):
        if not self.quiet:
            print(text, flush=True)

    def add(self, text, value, ok, **more):
        self.figures[text] = {"value": value, "ok": bool(ok), **more}
        self.broken += not ok
        self.note(f"{'ok    ' if ok else 'BROKEN'} {text}: {value:.3f}  {more if more else ''}")


def wall_us(body, rounds=ROUNDS):
    def timed(calls):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(calls):
            body()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1000 / calls

    timed(20)
    calls_per_round = max(20, min(2000, int(ROUND_US / timed(20))))
    times = []
    for _ in range(rounds):
        time.sleep(int(os.environ["EPI_PAUSE_MS"]) / 1000)
        times.append(timed(calls_per_round))
    return statistics.median(times), min(times), max(times)


def issue_us(body, count=101):
    times = []
    for _ in range(count):
        torch.cuda.synchronize()
        start = time.perf_counter()
        body()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times), min(times), max(times)


def in_turn(bodies):
    state = {"next": 0}

    def body():
        bodies[state["next"] % len(bodies)]()
        state["next"] += 1

    return body


def ours(args, kind, *rest):
    command = [f"{args.bin}/gpu_forward", kind, *map(str, rest)]
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"gpu_forward {kind}: {out.stderr}")
    return json.loads(out.stdout)


def relative_error(got, want):
    return ((got.double() - want).norm() / want.norm()).item()


def exact(module, x):
    wide = x.double()
    if not isinstance(module, Glu):
        return torch.nn.functional.linear(wide, module.weight.double(), module.bias.double())
    gate = wide @ module.gate_proj.weight.double().t()
    up = wide @ module.up_proj.weight.double().t()
    return (module.act(gate) * up) @ module.down_proj.weight.double().t()


def saved_block(args, module, x, label):
    """Saves the weights and the input. Returns their paths, and the path for the results."""
    paths = [os.path.join(args.out, f"{label}_{name}.safetensors")
             for name in ("weights", "input", "output")]
    save_file({k: v.contiguous() for k, v in module.state_dict().items()}, paths[0])
    save_file({"x": x.contiguous()}, paths[1])
    return paths


def our_block(args, claims, kind, module, x, label):
    """Compares our results with PyTorch's and with float64, and returns our times."""
    paths = saved_block(args, module, x, label)
    times = ours(args, kind, *paths)
    results = {name: y.to(DEVICE) for name, y in load_file(paths[-1]).items()}
    for path in paths:
        os.remove(path)
    theirs, exact_result = module(x), exact(module, x)
    their_error = relative_error(theirs, exact_result)
    for mode, got in results.items():
        # Both sides round to bf16 at most once per GEMM and once per pointwise operator. Our error may exceed
        # theirs by at most a tenth. The two results differ only by rounding, and the rounding errors are
        # independent, so they add up like the errors of two measurements.
        error, difference = relative_error(got, exact_result), relative_error(got, theirs.double())
        claims.add(f"{label} {mode}: error against float64 over PyTorch's", error / their_error,
                   error <= 1.1 * their_error, ours=error, torch=their_error,
                   equal=(got == theirs).double().mean().item())
        expected = (error ** 2 + their_error ** 2) ** 0.5
        claims.add(f"{label} {mode}: difference from PyTorch over both errors", difference / expected,
                   difference <= 1.05 * expected)
    return times


def record_torch(module, x, annotation, path):
    """Records three forwards like `epilogue run --trace`. Returns the mean time of each kernel according to
    the profiler's table."""
    for _ in range(3):
        module(x)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=1, warmup=1, active=3)) as p:
        for _ in range(5):
            with record_function(annotation):
                module(x)
            p.step()
    p.export_chrome_trace(path)
    return {row.key: row.self_device_time_total / row.count for row in p.key_averages()
            if row.self_device_time_total}


def count_kernels_with_torch(path):
    """The number of kernels that PyTorch's trace reader finds in a trace."""
    from torch._inductor.analysis.profile_analysis import JsonProfile
    read = JsonProfile(path, benchmark_name="ours", dtype=DTYPE)
    return sum(1 for event in read.events if event.get("cat") == "kernel")


def is_gemm(name):
    return "epi" not in name and "at::native" not in name and "triton" not in name


def eager_traces(args, claims, kind, module, x, annotation, per_forward):
    mine, theirs = (os.path.join(args.out, f"{who}_{kind}.json") for who in ("ours", "pytorch"))
    own = record_ours(args, kind, mine)
    their_table = record_torch(module, x, annotation, theirs)
    our_table, other = table_of(args, mine), kernel_times(theirs)
    count = sum(map(len, own.values())) / 3
    claims.add(f"{kind}: kernels per forward in our trace", count, count == per_forward)
    gemms, their_gemms = ({n for n in times if is_gemm(n)} for times in (own, other))
    claims.add(f"{kind}: GEMM kernels that are also in PyTorch's trace", len(gemms & their_gemms),
               gemms <= their_gemms, ours=sorted(gemms), torch=sorted(their_gemms))
    for name in sorted(gemms & their_gemms):
        a, b = statistics.median(own[name]), statistics.median(other[name])
        spread = max(max(own[name]) - min(own[name]), max(other[name]) - min(other[name]), 0.05 * b)
        claims.add(f"{kind}: {name} us, ours over PyTorch's", a / b, abs(a - b) <= spread,
                   ours=sorted(own[name]), torch=sorted(other[name]))
        claims.add(f"{kind}: the same in both profilers' tables", our_table[name] / their_table[name],
                   abs(our_table[name] - their_table[name]) <= spread)
    found = count_kernels_with_torch(mine)
    claims.add(f"{kind}: kernels that PyTorch's trace reader finds in our trace", found,
               found == sum(map(len, own.values())))
    rules = ["aten::t: gpu_time == 0", f"{annotation}: kernels == {per_forward}"]
    for arguments in (["compare", mine, theirs], ["expect", mine, *rules]):
        out = subprocess.run([f"{args.bin}/epilogue", *arguments], capture_output=True, text=True)
        claims.note("\n".join("    " + line for line in (out.stdout + out.stderr).splitlines()[:24]))
    claims.add(f"{kind}: expect on our trace, exit code", out.returncode, out.returncode == 0)


def eager(args, claims):
    linear = torch.nn.Linear(32, 64).to(DEVICE, DTYPE)
    x = torch.randn(1024, 32, device=DEVICE, dtype=DTYPE)
    times = our_block(args, claims, "linear", linear, x, "linear 1024x32x64")["eager"]
    claims.add("linear 1024x32x64: us of host time per forward", times["issue_us"], times["issue_us"] <= 8,
               torch=issue_us(lambda: linear(x)), ours=times)
    eager_traces(args, claims, "linear", linear, x, "linear_fwd", 1)
    for rows, dim, hidden, limit in ((8192, 768, 3072, 1.0), (128, 64, 256, 0.4)):
        mlp = Glu(dim, hidden).to(DEVICE, DTYPE).eval()
        x = torch.randn(rows, dim, device=DEVICE, dtype=DTYPE)
        label = f"mlp {rows}x{dim}x{hidden}"
        times = our_block(args, claims, "geglu", mlp, x, label)["eager"]
        wall = wall_us(lambda: mlp(x))
        claims.add(f"{label}: wall over PyTorch eager's", times["wall_us"] / wall[0],
                   times["wall_us"] <= limit * wall[0], limit=limit, ours=times, torch=wall,
                   torch_issue=issue_us(lambda: mlp(x)))
        if rows == 8192:
            eager_traces(args, claims, "mlp", mlp, x.view(64, 128, 768), "mlp_fwd", 5)
    times = ours(args, "gelu", GELU_COUNT)
    source = torch.randn(GELU_COUNT, device=DEVICE, dtype=DTYPE)
    target = torch.empty_like(source)
    copy = wall_us(lambda: target.copy_(source))
    gelu = wall_us(lambda: torch.nn.functional.gelu(source, approximate="tanh"))
    claims.add("gelu over 25 M bf16: bandwidth over PyTorch's copy", copy[0] / times["gelu_us"],
               copy[0] >= 0.9 * times["gelu_us"], ours=times, torch_copy=copy, torch_gelu=gelu)


def torch_modes(mlp, inputs, quick):
    """Yields each mode with a function that makes its bodies, one per input."""
    each = lambda f: [lambda x=x: f(x) for x in inputs]
    yield "eager", lambda: each(mlp)
    yield "compile", lambda: each(torch.compile(mlp))
    yield "dynamic", lambda: each(torch.compile(mlp, dynamic=True))
    # Uses CUDA graphs for shapes that are launch-bound. Graphs copy their inputs, which is costly for large shapes.
    mode = "max-autotune" if len(inputs[0]) <= 128 else "max-autotune-no-cudagraphs"
    if not quick or inputs[0].numel() < 1 << 24:
        yield "autotune", lambda: each(torch.compile(mlp, mode=mode))

    def packed_graph():
        packed = torch.compile(Packed(mlp))
        return [graphed(lambda x=x: packed(x)) for x in inputs]

    yield "packed+graph", packed_graph


def measure_torch(mlp, x, label, claims, quick):
    figures = {}
    inputs = [x, x.clone(), x.clone(), x.clone()]
    for name, make in torch_modes(mlp, inputs, quick):
        torch._dynamo.reset()
        start = time.perf_counter()
        bodies = make()
        bodies[0]()
        torch.cuda.synchronize()
        first_ms = (time.perf_counter() - start) * 1000
        for _ in range(12):
            bodies[0]()
        wall, issue = wall_us(in_turn(bodies)), issue_us(bodies[0])
        figures[name] = {"wall_us": wall[0], "wall_us_min": wall[1], "wall_us_max": wall[2],
                         "issue_us": issue[0], "first_call_ms": first_ms}
        claims.note(f"       {label} torch {name}: wall {wall[0]:.1f} us, issue {issue[0]:.1f} us, "
                    f"first call {first_ms:.0f} ms")
    return figures


def modes(args, claims):
    for rows, dim, hidden, activation, limit in SHAPES:
        mlp = Glu(dim, hidden, activation).to(DEVICE, DTYPE).eval()
        x = torch.randn(rows, dim, device=DEVICE, dtype=DTYPE)
        label = f"{activation} {rows}x{dim}x{hidden}"
        times = our_block(args, claims, activation, mlp, x, label)
        for name, figure in times.items():
            claims.note(f"       {label} ours {name}: wall {figure['wall_us']:.1f} us, issue "
                        f"{figure['issue_us']:.1f} us, first call {figure['first_call_ms']:.0f} ms")
        theirs = measure_torch(mlp, x, label, claims, args.quick)
        best = min(figure["wall_us"] for figure in theirs.values())
        fastest = min(("compile", "graph"), key=lambda mode: times[mode]["wall_us"])
        ratio = times[fastest]["wall_us"] / best
        claims.add(f"{label}: ours ({fastest}) over PyTorch's best", ratio, ratio <= limit,
                   limit=limit, best=best, ours=times, torch=theirs)
        if rows >= 4096:
            triton_claim(args, claims, mlp, x, label, activation)
        if dim == 768:
            ratio = times["pointwise"]["wall_us"] / best
            claims.add(f"{label}: ours with cuBLASLt's GEMMs (4 kernels) over PyTorch's best",
                       ratio, ratio <= 1.02)
            host_claims(args, claims, label, times, mlp)
            fused_kernel(args, claims, mlp, x)
            matmul_add(args, claims)


def triton_claim(args, claims, mlp, x, label, activation):
    """Measures ours before and after Triton, because the GPU's clock depends on its temperature."""
    triton = TritonGlu(mlp, x, lambda body: wall_us(body, 2)[0])
    error = relative_error(triton(x), exact(mlp, x))
    paths = saved_block(args, mlp, x, label)
    ours_us = lambda: ours(args, activation, *paths)["compile"]["wall_us"]
    before, theirs, after = ours_us(), wall_us(lambda: triton(x)), ours_us()
    for path in paths:
        os.remove(path)
    ratio = (before + after) / 2 / theirs[0]
    claims.add(f"{label}: ours over Triton's fused kernel and cuBLAS", ratio, ratio <= MAX_OF_TRITON,
               ours=[before, after], triton=theirs, error=error, config=triton.config)


def host_claims(args, claims, label, times, mlp):
    for mode, limit in (("compile", 25), ("graph", 6)):
        issue = times[mode]["issue_us"]
        claims.add(f"{label} {mode}: us of host time per forward", issue, issue <= limit, limit=limit)
    path = os.path.join(args.out, "first.safetensors")
    save_file({k: v.contiguous() for k, v in mlp.state_dict().items()}, path)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["EPILOGUE_CACHE"] = cache
        fresh, cached = ours(args, "first", path), ours(args, "first", path)
        del os.environ["EPILOGUE_CACHE"]
    os.remove(path)
    first = fresh["first_call_ms"]
    claims.add(f"{label}: ms of the first compiled call", first,
               first <= 400 and not fresh["from_cache"], limit=400)
    claims.add(f"{label}: ms of the first call with cached code", cached["first_call_ms"],
               cached["from_cache"] and cached["first_call_ms"] <= 40, limit=40)


def matmul_add(args, claims):
    path = os.path.join(args.out, "ours_matmul_add.json")
    own = record_ours(args, "matmul-add", path, "--compile")
    count = sum(map(len, own.values())) / 3
    copies = sum(event.get("cat") == "gpu_memcpy" for event in json.load(open(path))["traceEvents"])
    claims.add("matmul-add --compile: kernels and copies per forward", count + copies / 3,
               count == 1 and copies == 0, kernels=sorted(own))


def fused_kernel(args, claims, mlp, x):
    path = os.path.join(args.out, "ours_compiled.json")
    own = record_ours(args, "mlp", path, "--compile", "--fuse", "pointwise")
    count = sum(map(len, own.values())) / 3
    claims.add("mlp --fuse pointwise: kernels per forward", count, count == 4)
    torch._dynamo.reset()
    other_path = os.path.join(args.out, "pytorch_compiled.json")
    record_torch(torch.compile(mlp), x.view(64, 128, 768), "mlp_fwd", other_path)
    other = kernel_times(other_path)
    a = statistics.median(t for n, ts in own.items() if n.startswith("epi_poi") for t in ts)
    b = statistics.median(t for n, ts in other.items() if n.startswith("triton_poi") for t in ts)
    claims.add("the fused pointwise kernel over Inductor's", a / b, a <= 1.05 * b, ours=a, torch=b)


def sweep(args, claims):
    mlp = Glu(768, 3072).to(DEVICE, DTYPE).eval()
    path = os.path.join(args.out, "sweep.safetensors")
    save_file({k: v.contiguous() for k, v in mlp.state_dict().items()}, path)
    result = ours(args, "sweep", path, ",".join(map(str, SWEEP)))
    os.remove(path)
    torch._dynamo.reset()
    dynamic = torch.compile(mlp, dynamic=True)
    claims.note("            M   ours compiled us   torch.compile(dynamic=True) us")
    for row in result["sizes"]:
        x = torch.randn(row["m"], 768, device=DEVICE, dtype=DTYPE)
        theirs = wall_us(lambda: dynamic(x))
        claims.note(f"       {row['m']:6d}   {row['wall_us']:16.1f}   {theirs[0]:18.1f}")
        # Eager's error is 1.0 * 2^-8 and ours 0.6 * 2^-8 (see `modes`), 1.17 * 2^-8 combined.
        claims.add(f"M {row['m']}: difference from eager over bf16 rounding", row["difference"] * 256,
                   row["difference"] <= 1.3 * 2 ** -8, ours=row["wall_us"], torch=theirs)
    claims.add("recompiles over all M", result["recompiles"], result["recompiles"] == 0)


def rates(args, claims):
    for n, k in ((3072, 768), (14336, 4096)):
        for row in ours(args, "rates", n, k, ",".join(map(str, RATES))):
            ratio = row["library_us"] / row["ours_us"]
            tflops = 4 * row["m"] * n * k / row["ours_us"] * 1e-6
            claims.add(f"gate, up and gelu, {row['m']}x{k}x{n}: rate over a cuBLASLt GEMM alone",
                       ratio, ratio >= 0.95, tflops=round(tflops), ours=row["ours_us"],
                       cublas=row["library_us"])


PARTS = {"eager": eager, "modes": modes, "sweep": sweep, "rates": rates, "prebuilt": prebuilt}


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--bin", default="build/cuda/bin")
    parser.add_argument("--out", default="build/against_torch")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    parser.add_argument("--quick", action="store_true",
                        help="skip max-autotune for the largest shapes, which takes half a minute each")
    # At its power limit a GPU runs every GEMM at the same speed.
    parser.add_argument("--pause", type=int, default=50,
                        help="milliseconds before each round; 0 measures at the GPU's power limit")
    args = parser.parse_args()
    os.environ["EPI_PAUSE_MS"] = str(args.pause)  # also read by gpu_forward
    os.makedirs(args.out, exist_ok=True)
    torch.manual_seed(0)
    claims = Claims(args.json)
    claims.note(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
    for part in args.parts or PARTS:
        PARTS[part](args, claims)
    json.dump(claims.figures, open(os.path.join(args.out, "figures.json"), "w"), indent=1)
    if args.json:
        print(json.dumps({"schema": 1, "device": torch.cuda.get_device_name(), "claims": claims.figures}))
    claims.note(f"{len(claims.figures)} claims, {claims.broken} broken")
    sys.exit(1 if claims.broken else 0)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ours against PyTorch eager on one GPU, in one run: results, kernels, times.

    python3 bench/against_torch.py [--bin build/cuda/bin] [--out FOLDER]

Both get the same safetensors weights and inputs. Prints one line a claim; leaves both traces of
both blocks (ours_mlp.json, pytorch_mlp.json, ...) and figures.json in FOLDER. Exit code 1 where a claim is broken.
"""
import argparse, json, os, statistics, subprocess, sys, time
import torch
from safetensors.torch import load_file, save_file
from torch.profiler import ProfilerActivity, profile, record_function, schedule

DEVICE, DTYPE = "cuda", torch.bfloat16
GELU_COUNT = 8192 * 3072


class Glu(torch.nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate_proj = torch.nn.Linear(dim, hidden, bias=False)
        self.up_proj = torch.nn.Linear(dim, hidden, bias=False)
        self.down_proj = torch.nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        gate, up = self.gate_proj(x), self.up_proj(x)
        return self.down_proj(torch.nn.functional.gelu(gate, approximate="tanh") * up)


def wall_us(body, rounds=9, in_a_row=200):
    for _ in range(20):
        body()
    times = []
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(in_a_row):
            body()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1000 / in_a_row)
    return statistics.median(times), min(times), max(times)


def issue_us(body, count=101):
    times = []
    for _ in range(count):
        torch.cuda.synchronize()
        start = time.perf_counter()
        body()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times), min(times), max(times)


class Claims:
    def __init__(self):
        self.broken = 0
        self.figures = {}

    def add(self, text, value, ok, **more):
        self.figures[text] = {"value": value, "ok": bool(ok), **more}
        self.broken += not ok
        print(f"{'ok    ' if ok else 'BROKEN'} {text}: {value:.3f}  {more if more else ''}", flush=True)


def ours(args, kind, *rest):
    out = subprocess.run([f"{args.bin}/gpu_forward", kind, *map(str, rest)], capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"gpu_forward {kind}: {out.stderr}")
    return json.loads(out.stdout)


def relative_error(got, want):
    return ((got.double() - want).norm() / want.norm()).item()


def block(args, claims, kind, module, x, label):
    """Results and times of one block. Returns ours' and PyTorch's wall and issue times."""
    path = lambda name: os.path.join(args.out, f"{label}_{name}.safetensors")
    save_file({k: v.contiguous() for k, v in module.state_dict().items()}, path("weights"))
    save_file({"x": x.contiguous()}, path("input"))
    times = ours(args, kind, path("weights"), path("input"), path("output"))
    got = load_file(path("output"))["y"].to(DEVICE)
    for name in ("weights", "input", "output"):
        os.remove(path(name))
    theirs = module(x)
    exact = Glu64(module, x) if kind == "mlp" else torch.nn.functional.linear(
        x.double(), module.weight.double(), module.bias.double())
    # Both round to bf16 once a GEMM and once a pointwise operator: neither may be further from the
    # exact result than the other by more than a tenth, and they differ by roundings alone.
    error, their_error = relative_error(got, exact), relative_error(theirs, exact)
    differs = relative_error(got, theirs.double())
    claims.add(f"{label}: error against float64 over PyTorch's", error / their_error, error <= 1.1 * their_error,
               ours=error, torch=their_error, between=differs, equal=(got == theirs).double().mean().item())
    claims.add(f"{label}: difference from PyTorch over bf16 rounding (2^-8)", differs * 256, differs <= 2 ** -8)
    return times, wall_us(lambda: module(x)), issue_us(lambda: module(x))


def Glu64(module, x):
    gate, up, down = (w.double() for w in (module.gate_proj.weight, module.up_proj.weight, module.down_proj.weight))
    wide = x.double()
    h = torch.nn.functional.gelu(wide @ gate.t(), approximate="tanh") * (wide @ up.t())
    return h @ down.t()


def record_torch(module, x, annotation, path):
    """A trace of three forwards as `epilogue run --trace` records them; kernel times by name."""
    for _ in range(3):
        module(x)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=1, warmup=1, active=3)) as p:
        for _ in range(5):
            with record_function(annotation):
                module(x)
            p.step()
    p.export_chrome_trace(path)
    # The profiler's own table: mean time of each kernel.
    return {row.key: row.self_device_time_total / row.count for row in p.key_averages() if row.self_device_time_total}


def torch_reads(path):
    """Kernels in a trace by PyTorch's own reader of such files."""
    from torch._inductor.analysis.profile_analysis import JsonProfile
    read = JsonProfile(path, benchmark_name="ours", dtype=DTYPE)
    return sum(1 for event in read.events if event.get("cat") == "kernel")


def kernel_times(path):
    times = {}
    for event in json.load(open(path))["traceEvents"]:
        if event.get("cat") == "kernel":
            times.setdefault(event["name"], []).append(event["dur"])
    return times


def traces(args, claims, kind, module, x, annotation, flags, per_forward):
    mine, theirs = (os.path.join(args.out, f"{who}_{kind}.json") for who in ("ours", "pytorch"))
    tool = f"{args.bin}/epilogue"
    subprocess.run([tool, "run", kind, "--device", "cuda", "--trace", mine, *flags], check=True, stdout=subprocess.DEVNULL)
    their_table = record_torch(module, x, annotation, theirs)
    rows = json.loads(subprocess.run([tool, "table", mine, "--json"], check=True, capture_output=True, text=True).stdout)["rows"]
    our_table = {row["name"]: row["self_device_us"] / row["calls"] for row in rows if row["lane"] == "device" and not row["annotation"]}
    own, other = kernel_times(mine), kernel_times(theirs)
    count = sum(map(len, own.values())) / 3
    claims.add(f"{kind}: kernels per forward in our trace", count, count == per_forward)
    gemms = lambda times: {n for n in times if "epi::" not in n and "at::native" not in n}
    claims.add(f"{kind}: GEMM kernels that PyTorch's trace has too", len(gemms(own) & gemms(other)),
               gemms(own) <= gemms(other), ours=sorted(gemms(own)), torch=sorted(gemms(other)))
    for name in sorted(gemms(own) & gemms(other)):
        a, b = statistics.median(own[name]), statistics.median(other[name])
        spread = max(max(own[name]) - min(own[name]), max(other[name]) - min(other[name]), 0.05 * b)
        claims.add(f"{kind}: {name[:60]} us, ours over PyTorch's", a / b, abs(a - b) <= spread,
                   ours=sorted(own[name]), torch=sorted(other[name]))
        tables = our_table[name] / their_table[name]
        claims.add(f"{kind}: the same in both profilers' tables", tables, abs(our_table[name] - their_table[name]) <= spread)
    accepted = torch_reads(mine)
    claims.add(f"{kind}: kernels that torch._inductor's trace reader finds in our trace", accepted, accepted == sum(map(len, own.values())))
    for arguments in (["compare", mine, theirs], ["expect", mine, "aten::t: gpu_time == 0", f"{annotation}: kernels == {per_forward}"]):
        out = subprocess.run([tool, *arguments], capture_output=True, text=True)
        print("\n".join("    " + line for line in (out.stdout + out.stderr).splitlines()[:24]), flush=True)
    claims.add(f"{kind}: expect on our trace, exit code", out.returncode, out.returncode == 0)


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/cuda/bin")
    parser.add_argument("--out", default="build/against_torch")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    torch.manual_seed(0)
    claims = Claims()
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "CUDA", torch.version.cuda)

    linear = torch.nn.Linear(32, 64).to(DEVICE, DTYPE)
    x = torch.randn(1024, 32, device=DEVICE, dtype=DTYPE)
    times, wall, issue = block(args, claims, "linear", linear, x, "linear 1024x32x64")
    claims.add("linear 1024x32x64: us to issue one", times["issue_us"], times["issue_us"] <= 8, torch=issue[0], ours=times)
    traces(args, claims, "linear", linear, x, "linear_fwd", [], 1)

    for rows, dim, hidden, limit in ((8192, 768, 3072, 1.0), (128, 64, 256, 0.4)):
        mlp = Glu(dim, hidden).to(DEVICE, DTYPE).eval()
        x = torch.randn(rows, dim, device=DEVICE, dtype=DTYPE)
        label = f"mlp {rows}x{dim}x{hidden}"
        times, wall, issue = block(args, claims, "mlp", mlp, x, label)
        claims.add(f"{label}: wall over PyTorch eager's", times["wall_us"] / wall[0], times["wall_us"] <= limit * wall[0],
                   limit=limit, ours=times, torch_wall=wall, torch_issue=issue)
        if rows == 8192:
            traces(args, claims, "mlp", mlp, x.view(64, 128, 768), "mlp_fwd", [], 5)

    times = ours(args, "gelu", GELU_COUNT)
    source = torch.randn(GELU_COUNT, device=DEVICE, dtype=DTYPE)
    target = torch.empty_like(source)
    copy = wall_us(lambda: target.copy_(source))
    gelu = wall_us(lambda: torch.nn.functional.gelu(source, approximate="tanh"))
    claims.add("gelu over 25 M bf16: bandwidth over PyTorch's copy", copy[0] / times["gelu_us"], copy[0] >= 0.9 * times["gelu_us"],
               ours=times, torch_copy=copy, torch_gelu=gelu)

    json.dump(claims.figures, open(os.path.join(args.out, "figures.json"), "w"), indent=1)
    print(f"{len(claims.figures)} claims, {claims.broken} broken")
    sys.exit(1 if claims.broken else 0)


main()

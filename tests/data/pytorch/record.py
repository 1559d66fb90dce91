# SPDX-License-Identifier: Apache-2.0
# Records the traces of this folder with PyTorch on a CUDA GPU, and the tables that PyTorch prints of them, into $OUT.
# The files here are from PyTorch 2.11 on an H200; tables are kept compressed, without their last empty line.
import os, sys, threading, torch, torch.nn as nn
from torch.profiler import profile, schedule, ProfilerActivity as A, record_function
out = os.environ.get("OUT", "/tmp/out")
dev = "cuda"

def save(prof, name):
    prof.export_chrome_trace(f"{out}/{name}.json.gz")
    ka = prof.key_averages()
    for sort in ("cuda_time_total", "self_cpu_time_total"):
        with open(f"{out}/{name}.{sort}.txt", "w") as f:
            print(ka.table(sort_by=sort, row_limit=-1), file=f)
    try:
        with open(f"{out}/{name}.shapes.txt", "w") as f:
            print(prof.key_averages(group_by_input_shape=True).table(sort_by="cuda_time_total", row_limit=-1), file=f)
    except Exception as e:
        print(name, "shapes", e)
    print("done", name, flush=True)

def run(name, step, acts=(A.CPU, A.CUDA), steps=5, sched=True, **kw):
    try:
        for _ in range(3): step()
        if dev == "cuda": torch.cuda.synchronize()
        with profile(activities=list(acts), schedule=schedule(wait=1, warmup=1, active=3) if sched else None, **kw) as p:
            for _ in range(steps):
                step()
                if sched: p.step()
            torch.cuda.synchronize()
        save(p, name)
    except Exception as e:
        import traceback; traceback.print_exc(); print("FAILED", name, e, flush=True)

torch.manual_seed(0)
def trainer(device="cuda", dim=64, compiled=False):
    m = nn.Sequential(nn.Embedding(100, dim), nn.TransformerEncoderLayer(dim, 4, 128, batch_first=True), nn.Linear(dim, 100)).to(device)
    f = torch.compile(m) if compiled else m
    opt = torch.optim.AdamW(m.parameters())
    x = torch.randint(0, 100, (4, 32), device=device)
    def step():
        with record_function("forward"):
            y = f(x)
            loss = nn.functional.cross_entropy(y.flatten(0, 1), x.flatten())
        with record_function("backward"):
            loss.backward()
        with record_function("optimizer"):
            opt.step(); opt.zero_grad()
        with record_function("metrics"):
            with record_function("metrics"):
                loss.item()
    return step
run("train", trainer(), record_shapes=True)
run("train_stack", trainer(), with_stack=True)
run("train_memory", trainer(), profile_memory=True, record_shapes=True)
run("train_flops_modules", trainer(), with_flops=True, with_modules=True)
run("train_compiled", trainer(compiled=True), record_shapes=True)
run("train_no_schedule", trainer(), sched=False, steps=2)
run("train_cpu", trainer("cpu"), acts=(A.CPU,), record_shapes=True)
run("train_cpu_memory", trainer("cpu"), acts=(A.CPU,), profile_memory=True)
run("train_gpu_only", trainer(), acts=(A.CUDA,))

a = torch.randn(512, 512, device=dev); h = torch.randn(512, 512).pin_memory()
s1, s2 = torch.cuda.Stream(), torch.cuda.Stream()
def streams():
    with record_function("streams"):
        with torch.cuda.stream(s1): b = a @ a; d = h.to(dev, non_blocking=True)
        with torch.cuda.stream(s2): c = (a + 1).sum(); e = a.cpu()
        s1.wait_stream(s2); torch.cuda.current_stream().wait_stream(s1)
        torch.cuda.synchronize(); (b + d).mean().item()
run("streams", streams, record_shapes=True)

mlp = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).to(dev).bfloat16()
xs = torch.randn(64, 256, device=dev, dtype=torch.bfloat16)
with torch.no_grad():
    mlp(xs); torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g): ys = mlp(xs)
def graph():
    with record_function("replay"): g.replay()
    with torch.no_grad(), record_function("eager"): mlp(xs)
run("graph", graph, record_shapes=True)

conv = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)).to(dev)
img = torch.randn(4, 3, 64, 64, device=dev)
def threaded():
    def work():
        with record_function("worker"): conv(img).sum().backward()
    ts = [threading.Thread(target=work) for _ in range(3)]
    for t in ts: t.start()
    for t in ts: t.join()
run("threads", threaded)
def misc():
    x = torch.randn(1000, device=dev)
    with record_function("misc of a very long name that goes on and on and on and on and on"):
        y = x.sort()[0].cumsum(0); z = torch.topk(x, 10)[0]; w = x[x > 0]; torch.cat([y, z, w]).std().item()
        torch.nn.functional.scaled_dot_product_attention(*(torch.randn(2, 4, 64, 32, device=dev, dtype=torch.float16),) * 3)
        torch.einsum("ij,jk->ik", a, a).softmax(-1).var()
run("misc", misc, record_shapes=True)
run("misc_no_shapes", misc)

# Annotations around many steps, and across their borders.
small = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64)).to(dev)
xsmall, ysmall = torch.randn(8, 64, device=dev), torch.randn(8, 8)
def around(name, count, body, acts=(A.CPU, A.CUDA)):
    with torch.no_grad():
        for _ in range(5): body()
        with profile(activities=list(acts), schedule=schedule(wait=0, warmup=0, active=count, repeat=1)) as p:
            with record_function("loop"):
                for _ in range(count - 1):
                    with record_function("forward"): body()
                    p.step()
            torch.cuda.synchronize()
    save(p, name)
def epochs(name, count, steps, active, body, acts=(A.CPU, A.CUDA)):
    with torch.no_grad():
        for _ in range(5): body()
        with profile(activities=list(acts), schedule=schedule(wait=1, warmup=1, active=active)) as p:
            for _ in range(count):
                with record_function("epoch"):
                    for _ in range(steps):
                        with record_function("forward"): body()
                        p.step()
            torch.cuda.synchronize()
    save(p, name)
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.randn(400, 8)), batch_size=8)
batches = [iter(loader)]
def load():
    batch = next(batches[0], None)
    if batch is None: batches[0] = iter(loader); batch = next(batches[0])
    return batch[0].cuda().sum().item()
around("steps_around", 50, lambda: small(xsmall))
around("steps_loader", 60, load)
epochs("steps_epochs", 10, 50, 400, lambda: ysmall + 1, (A.CPU,))

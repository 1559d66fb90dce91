#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of planted traces, and the amounts of time that plant each limiter."""

import random

from kineto import AMD, DEVICES, Style
from simulator import (ALLOCATION, CLASSES, COMMUNICATION, COMPILATION, COPIES, DISPATCH, GPU, HOST_CLASSES, LOADING,
                       PROGRAM, STARTUP, SYNCHRONIZATION, Timeline, Truth, elapsed, total)
from workloads import MS, US, Plan, Workload

TARGETS = {  # S of the limiter in the plain traces
    GPU: (0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8), DISPATCH: (0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
    LOADING: (0.15, 0.22, 0.3, 0.4, 0.55, 0.7, 0.8), COPIES: (0.15, 0.25, 0.35, 0.45, 0.6, 0.7, 0.78),
    COMMUNICATION: (0.15, 0.25, 0.35, 0.5, 0.6, 0.7, 0.78), PROGRAM: (0.15, 0.22, 0.3, 0.4, 0.55, 0.65, 0.8),
    ALLOCATION: (0.16, 0.3, 0.45, 0.6, 0.8), SYNCHRONIZATION: (0.25, 0.3, 0.4, 0.5, 0.58, 0.64),
    COMPILATION: (0.18, 0.3, 0.42, 0.6, 0.78), STARTUP: (0.2, 0.3, 0.45, 0.6, 0.75)}
MIXED = ((LOADING, COPIES, 0.3), (LOADING, COMMUNICATION, 0.25), (PROGRAM, ALLOCATION, 0.35), (COMPILATION, LOADING, 0.3),
         (GPU, LOADING, 0.35), (DISPATCH, LOADING, 0.35), (DISPATCH, COMMUNICATION, 0.3), (GPU, PROGRAM, 0.4),
         (COPIES, COMMUNICATION, 0.3), (STARTUP, PROGRAM, 0.28))
# winner, loser, kind
SUBSTITUTES = ((LOADING, DISPATCH, "idle first"), (LOADING, DISPATCH, "idle first long dispatch"), (DISPATCH, LOADING, "burst"),
               (DISPATCH, LOADING, "burst"), (PROGRAM, DISPATCH, "idle first"), (PROGRAM, DISPATCH, "idle first long dispatch"),
               (DISPATCH, PROGRAM, "burst"), (ALLOCATION, DISPATCH, "idle first"), (LOADING, PROGRAM, "two"),
               (PROGRAM, LOADING, "two"))
WEAK = ((LOADING, COPIES, 0.32), (DISPATCH, LOADING, 0.36), (GPU, LOADING, 0.34), (COMMUNICATION, PROGRAM, 0.35),
        (ALLOCATION, LOADING, 0.3))
# condition, limiter, S
CONDITIONS = (("clipped", LOADING, 0.45), ("clipped", DISPATCH, 0.5), ("launched_before", GPU, 0.5),
              ("lost_launches", DISPATCH, 0.45), ("lost_launches", GPU, 0.6), ("cold_first_step", LOADING, 0.35),
              ("cold_first_step", DISPATCH, 0.4),
              ("slow_step", LOADING, 0.3), ("slow_step_cold", GPU, 0.45), ("not_in_trace", PROGRAM, 0.55))
# numbers in each list whose traces are written in a special way
VARIANTS = {
    GPU: ("plain", "side", "plain", "no sync", "side", "graphs", "graphs", "no sync"),
    DISPATCH: ("plain", "side", "no sync", "plain", "side", "large", "no sync", "plain"),
    LOADING: ("multi", "single", "multi", "single", "single", "multi no sync", "single"),
    COPIES: ("pageable", "pageable", "side stream", "pageable", "side stream", "chain", "pageable"),
    COMMUNICATION: ("exposed", "exposed", "buckets", "exposed", "buckets", "chain", "chain"),
    PROGRAM: ("annotation", "cpu_op", "gap", "frames", "cpu_op", "annotation", "frames"),
    ALLOCATION: ("start", "start", "start", "spread", "spread"), SYNCHRONIZATION: ("phases",) * 6,
    COMPILATION: ("plain",) * 5, STARTUP: ("plain", "lazy", "plain", "plain", "plain")}
KERNELS = (50, 60, 80, 80, 100, 100, 120, 120, 150, 180, 220, 260)
GPUS = ("H200", "H100", "A100", "H100", "MI300X", "B200", "RTX4090", "V100", "H800", "A100", "MI250", "H200", "H100")


class Spec:
    """One trace to be planted."""

    def __init__(self, kind, limiter, target, second=None, variant="plain", condition=None, number=0):
        self.kind, self.limiter, self.target = kind, limiter, target
        self.second, self.variant, self.condition, self.number = second, variant, condition, number
        self.attempts_log = []

    @property
    def size(self):
        """Number of kernels: large, medium or usual."""
        return "large" if self.variant == "large" else "medium" if self.number % 19 == 9 else "usual"

    @property
    def name(self):
        parts = [self.kind, CLASSES[self.limiter]]
        if self.second is not None:
            parts.append(CLASSES[self.second])
        if self.condition:
            parts = [self.condition, CLASSES[self.limiter]]
        if self.kind != "substitutes":
            parts.append(f"{self.target * 100:.0f}")
        if self.variant not in ("plain", None) and not self.condition:
            parts.append(self.variant.replace(" ", "_"))
        return "_".join(parts)


def specs():
    out = []
    for cls, targets in TARGETS.items():
        for target, variant in zip(targets, VARIANTS[cls]):
            out.append(Spec("plain", cls, target, variant=variant))
    for a, b, s in MIXED:
        out.append(Spec("mixed", a, s, b))
    for a, b, variant in SUBSTITUTES:
        out.append(Spec("substitutes", a, 0.4, b, variant))
    for a, b, s in WEAK:
        out.append(Spec("weak", a, s, b))
    for condition, a, s in CONDITIONS:
        out.append(Spec("plain", a, s, condition=condition))
    for i, spec in enumerate(out):
        spec.number = i
    return out


def style_of(spec, rng):
    i = spec.number
    device = GPUS[(i * 5 + i // 13) % len(GPUS)]
    amd = DEVICES[device][0] == AMD
    if spec.variant == "lazy":
        device, amd = "H100", False
    integer_us = not amd and i % 13 == 4
    return Style(device, sync_events=i % 5 in (1, 3), flows=i % 7 == 2, gpu_annotations=i % 6 == 5, integer_us=integer_us,
                 stack=spec.variant == "frames" or i % 3 == 1 and spec.variant != "gap" and spec.condition != "not_in_trace", shapes=i % 2 == 1, device_index=2 if i % 11 == 3 else 0,
                 world=(0, 8) if COMMUNICATION in (spec.limiter, spec.second) or i % 11 == 3 else None,
                 first_external=rng.choice((1, 513, 4097, 59905)), first_correlation=rng.randrange(500, 300000),
                 start_us=rng.randrange(10 ** 11, 4 * 10 ** 12))


def size(spec, rng, shares, core):
    """Kernels, microseconds of dispatch and of the step, so that pieces of program work are long enough."""
    least = 2.3e3 / min([s for c, s in shares if c == PROGRAM] or [1])  # step time that makes them 2.3 ms
    least = max(least, 1.2e3 / min([s for c, s in shares if c in (LOADING, COMPILATION, STARTUP, ALLOCATION)] or [1]))
    for _ in range(200):
        n, host = rng.choice(KERNELS), rng.uniform(11, 70)
        if spec.size != "usual":
            n, host = 2000 if spec.size == "large" else rng.choice((450, 600, 800)), rng.uniform(9, 20)
        if n * host / core >= least and n * host >= 1500:
            break
    return n, n * host, n * host / core


def host_part(plan, spec, rng, cls, amount, exposed_only=False):
    """Puts host work of a class where it delays the device."""
    if cls == LOADING:
        plan.start.insert(0, (cls, amount))
    elif cls == PROGRAM:
        if plan.program_kind == "gap":
            plan.after.append((cls, amount))
        else:
            where = rng.choice((plan.start, plan.after if plan.sync else plan.start))
            where.append((cls, amount))
    elif cls == ALLOCATION and spec.variant == "spread" and cls == spec.limiter:
        plan.spread_allocation = amount
    elif cls in (STARTUP,) and not exposed_only and rng.random() < 0.4:
        plan.middle.append((cls, amount))
    else:
        plan.start.append((cls, amount))


def add(plan, spec, rng, cls, amount, exposed_only=False):
    """Puts an exposed amount (microseconds) of a class into a plan."""
    if cls in HOST_CLASSES:
        host_part(plan, spec, rng, cls, amount, exposed_only)
    elif cls == COPIES:
        plan.pageable = amount
    elif cls == COMMUNICATION:
        plan.exposed_communication = amount
    else:
        raise ValueError(cls)


def side_shares(spec, rng, room):
    """Lesser classes beside the limiter, at most 0.6 of its S."""
    allowed = [c for c in (LOADING, PROGRAM, ALLOCATION, COPIES) if c != spec.limiter]
    out = []
    for cls in rng.sample(allowed, rng.choice((0, 1, 1, 2))):
        share = spec.target * rng.uniform(0.2, 0.6)
        if share < room and share > 0.015:
            out.append((cls, share))
            room -= share
    return out


def model_of(spec, rng):
    training = {LOADING, COMMUNICATION}
    if spec.limiter in training or spec.second in training or spec.variant == "buckets":
        return rng.choice(("transformer", "llama", "resnet"))
    if spec.variant == "graphs":
        return "decode"
    if spec.limiter in (COMPILATION, STARTUP):
        return rng.choice(("compiled", "transformer"))
    return rng.choice(("transformer", "llama", "resnet", "vit", "decode", "compiled"))


def make_plan(spec, rng, factor):
    """The plan of a trace. factor multiplies the amount that makes the limiter (of pairs: the second class)."""
    s, cls, variant = spec.target, spec.limiter, spec.variant
    model = model_of(spec, rng)
    sync = rng.choice(("item", "item", "device", "event"))
    sides = []
    on_device = variant in ("chain", "buckets", "side stream")
    if spec.kind == "plain" and cls != SYNCHRONIZATION and (
            variant in ("side", "graphs") or rng.random() < 0.35 and not on_device):
        sides = side_shares(spec, rng, 0.9 - s)
        if variant == "graphs":
            sides = [(PROGRAM, (1 - s) * 0.7)]
    total_sides = sum(x for _, x in sides)
    if spec.kind == "substitutes":
        return substitutes(spec, rng, model)
    if cls == SYNCHRONIZATION:
        return phases(spec, rng, model)
    x = s * factor if spec.second is None else s
    second = spec.second
    y = 0
    if second is not None:
        y = (s if spec.kind == "mixed" else s / 1.4) * factor
    need = [(c, a) for c, a in sides + [(cls, x), (second, y)] if c is not None]
    program_kind = variant if cls == PROGRAM and variant in ("annotation", "cpu_op", "gap", "frames") else \
        rng.choice(("annotation", "cpu_op"))
    if spec.condition == "not_in_trace":
        program_kind = "gap"
        sync = "item"
    no_sync = "no sync" in variant
    if cls in (COPIES, GPU) or second == COPIES or program_kind == "gap" or sides:
        sync = rng.choice(("item", "device"))
    if no_sync:
        sync = None
    # shares of the step: core (dispatch) and kernels
    near = min(0.1, s / 3)
    if cls == GPU:
        if no_sync:
            sides, total_sides = [], 0
        gpu = 1 - total_sides - y
        core = max(0.03, gpu - x)
        if factor != 1:
            core = max(0.03, gpu - s)
            gpu = core + x
    elif cls == DISPATCH:
        core = 1 - total_sides - y
        gpu = max(0.01, core - x)
    elif variant in ("side stream", "buckets"):
        core = 1 - s
        gpu = core * 0.9
    elif variant == "chain":
        gpu = 1 - s
        core = gpu * 0.35
    else:
        core = 1 - total_sides - s - (y if spec.second is not None else 0)
        gpu = core * (1 - near)
    if second is not None and cls not in (GPU, DISPATCH):
        core = max(0.1, 1 - s - y)
        gpu = core * (1 - near)
    n, dispatch, step = size(spec, rng, need, core)
    plan = Plan(model, n, dispatch, gpu * step)
    plan.sync = sync
    plan.program_kind = program_kind
    plan.loader = "multi" if "multi" in variant or rng.random() < 0.4 else "single"
    plan.annotate = rng.random() < 0.5
    plan.lazy_loading = variant == "lazy"
    plan.items_before_sync = rng.choice((0, 0, 1, 2)) if sync else 0
    plan.pageable_item = rng.random() < 0.4
    if variant == "no sync" and cls == GPU and rng.random() < 0.5:
        plan.sync = "event_before"
    exposed_only = cls == GPU or bool(sides)
    if variant == "graphs":
        plan.graphs = rng.choice((1, 2, 4))
        plan.dispatch = dispatch = step * 0.04
    if variant == "side stream":
        plan.side_copies = x / s * step
        plan.sync = "device"
    elif variant == "buckets":
        plan.buckets = x / s * step * 0.62
    elif variant == "chain":
        plan.chain = (cls, x * step)
    elif cls not in (GPU, DISPATCH):
        add(plan, spec, rng, cls, x * step, exposed_only)
    if second is not None:
        add(plan, spec, rng, second, y * step, True)
    for c, a in sides:
        add(plan, spec, rng, c, a * step, True)
    condition = spec.condition
    if condition == "cold_first_step":
        plan.extra[0] = [(STARTUP, 1.4 * step), (COMPILATION, 0.9 * step)]
    elif condition == "slow_step":
        plan.extra[3] = [(LOADING, 0.6 * step)]
    elif condition == "slow_step_cold":
        plan.extra[3] = [(LOADING, 1.6 * step)]
    return plan


def phases(spec, rng, model):
    """Host and device work in turn, with synchronizations between: S of them is the device's part."""
    s = spec.target
    classes = {0.25: 6, 0.3: 5, 0.4: 4}.get(s, 3)
    chosen = ([DISPATCH, LOADING, PROGRAM, ALLOCATION, STARTUP, COMPILATION])[:classes]
    step = rng.uniform(22e3, 45e3)
    part = (1 - s) / classes * step
    chunks = [[], [], [], []]
    for i, cls in enumerate(chosen):
        chunks[(0, 1, 2, 3, 3, 2)[i] if classes > 3 else (0, 3, 3)[i]].append((cls, part))
    plan = Plan(model, 40, 0, 0)
    device = {c: s / 3 * step for c in (COPIES, GPU, COMMUNICATION)}
    plan.phases = (chunks, device)
    plan.program_kind = rng.choice(("annotation", "cpu_op"))
    plan.loader = rng.choice(("single", "multi"))
    return plan


def substitutes(spec, rng, model):
    """Two host classes over a GPU time that takes over when either goes."""
    winner, loser, variant = spec.limiter, spec.second, spec.variant
    other = winner if loser == DISPATCH else loser
    model = rng.choice(("transformer", "resnet", "llama")) if LOADING in (winner, loser) else model
    if model in ("compiled", "decode", "vit") and variant == "burst":
        model = "llama"
    if variant == "two":
        core, gpu, first, last = 0.1, 0.55, 0.5, 0.4
        n, dispatch, step = size(spec, rng, [(winner, first), (loser, last)], core)
        plan = Plan(model, n, dispatch, gpu * step)
        plan.start.append((winner, first * step))
        plan.end.append((loser, last * step))
    elif variant == "burst":
        core, gpu, part = 0.55, 0.56, 0.45
        n, dispatch, step = size(spec, rng, [(other, part)], core)
        plan = Plan(model, n, dispatch, gpu * step)
        plan.tail_burst = 0.8
        plan.end.append((other, part * step))
    else:
        part, core, gpu = (0.4, 0.6, 0.5) if "long" in variant else (0.45, 0.55, 0.58)
        n, dispatch, step = size(spec, rng, [(other, part)], core)
        plan = Plan(model, n, dispatch, gpu * step)
        plan.start.append((other, part * step))
    plan.sync = None
    plan.program_kind = rng.choice(("annotation", "cpu_op"))
    plan.loader = rng.choice(("single", "multi"))
    return plan


class Planted:
    """A trace with its truth."""

    def __init__(self, spec, style, workload, truth, dropped):
        self.spec, self.style, self.workload, self.truth = spec, style, workload, truth
        self.dropped = dropped  # steps that are not judged
        self.shares = None


def build(spec, seed):
    """Tries seeds until the planted margins hold."""
    for attempt in range(30):
        factor, low, high = 1.0, 0.05, 8.0
        base = f"{seed}/{spec.number}/{attempt}"
        for _ in range(8):
            last = once(spec, base, factor)
            wanted = correction(spec, last.truth)
            if abs(wanted - 1) < 0.03:
                break
            low, high = (factor, high) if wanted > 1 else (low, factor)
            factor = factor * wanted if low < factor * wanted < high else (low * high) ** 0.5
        last.shares = last.truth.shares()
        problem = problems(spec, last)
        if problem is None:
            last.attempts = attempt + 1
            return last
        spec.attempts_log.append(problem)
    raise AssertionError(f"{spec.name}: {spec.attempts_log}")


def correction(spec, truth):
    """By what to multiply the planted amount."""
    if spec.kind == "substitutes" or spec.limiter == SYNCHRONIZATION:
        return 1
    s = min(0.98, max(0.01, truth.share(spec.limiter)))
    if spec.second is not None:
        wanted = 1.0 if spec.kind == "mixed" else 1.4
        return s / max(truth.share(spec.second), 0.01) / wanted
    if spec.limiter == DISPATCH:
        return spec.target / s
    return spec.target / (1 - spec.target) / (s / (1 - s))


def once(spec, base, factor):
    rng = random.Random(base)
    style = style_of(spec, rng)
    steps = rng.randint(3, 8) if spec.size == "usual" else 3
    if spec.condition in ("slow_step", "slow_step_cold"):
        steps = 6
    if spec.condition and steps < 4:
        steps = 5
    plan = make_plan(spec, rng, factor)
    busy_before = hidden = 0
    if spec.condition == "clipped":
        busy_before = (plan.dispatch * 1.1 + sum(a for _, a in plan.start)) * US
    elif spec.condition == "launched_before":
        hidden = plan.gpu * 0.4 * US
    workload = Workload(rng, style, steps, plan, busy_before, hidden)
    truth = Truth(workload.p)
    dropped = []
    if spec.condition == "clipped":
        dropped = [0]
        truth.chosen = [i for i in truth.chosen if i]
        truth.total = total(truth.steps, truth.chosen)
        truth.elapsed = elapsed(truth.steps, truth.chosen)
    return Planted(spec, style, workload, truth, dropped)


def verdict(planted):
    """The limiter by the definitions: largest S, mixed, or of two substitutes the one that causes more idle time."""
    s, truth = planted.shares, planted.truth
    order = sorted(range(len(s)), key=lambda c: -s[c])
    a, b = order[:2]
    planted.order = order
    planted.pair = truth.share(a, b)
    planted.substitutes = s[b] > 0.25 * s[a] and planted.pair < s[a] + s[b] / 2
    planted.timeline = Timeline(planted.workload.p)
    planted.idle = planted.timeline.idle_causes(truth.chosen)
    if planted.substitutes:
        return a if planted.idle[a] >= planted.idle[b] else b
    if s[b] >= s[a] / 1.25:
        return "mixed"
    return a


def problems(spec, planted):
    """What does not hold of the planted margins, or None."""
    s, truth = planted.shares, planted.truth
    decided = verdict(planted)
    a, b = planted.order[:2]
    ratio = s[a] / max(s[b], 1e-9)
    cold = len(truth.steps) - len(truth.chosen) - len(planted.dropped)
    if cold != (1 if spec.condition in ("cold_first_step", "slow_step_cold") else 0):
        return f"{cold} cold steps"
    if spec.kind == "mixed":
        if decided != "mixed" or ratio > 1.1 or {a, b} != {spec.limiter, spec.second}:
            return f"mixed: {decided} {CLASSES[a]} {s[a]:.2f} {CLASSES[b]} {s[b]:.2f}"
        if len(planted.order) > 2 and s[planted.order[2]] > s[b] / 1.5:
            return f"third {CLASSES[planted.order[2]]} {s[planted.order[2]]:.2f}"
        return None
    if decided != spec.limiter:
        return f"decided {decided}: {CLASSES[a]} {s[a]:.2f} {CLASSES[b]} {s[b]:.2f}"
    if spec.kind == "substitutes":
        idle = planted.idle
        if not planted.substitutes or {a, b} != {spec.limiter, spec.second}:
            return f"no substitutes: {CLASSES[a]} {s[a]:.2f} {CLASSES[b]} {s[b]:.2f} {planted.pair:.2f}"
        if idle[spec.limiter] < 1.5 * idle[spec.second]:
            return f"idle {idle[spec.limiter] / 1000:.0f} {idle[spec.second] / 1000:.0f}"
        if s[planted.order[2]] > s[b] / 1.5:
            return f"third {CLASSES[planted.order[2]]}"
        return None
    if spec.kind == "weak":
        if not 1.3 <= ratio <= 1.5 or a != spec.limiter:
            return f"weak: {ratio:.2f}"
        return None
    if planted.substitutes and {a, b} <= set(HOST_CLASSES) and planted.idle[a] < 1.5 * planted.idle[b]:
        return f"idle {planted.idle[a] / 1000:.0f} {planted.idle[b] / 1000:.0f}"
    shortest = min([hi - lo for lo, hi, cls in planted.timeline.segments if cls == PROGRAM], default=MS * 2)
    if shortest < 1.2 * MS or planted.timeline.longest_dispatch_without_launch() > 0.8 * MS:
        return "host work near the border of dispatch and program"
    if a != spec.limiter or ratio < 1.5:
        return f"{CLASSES[a]} {s[a]:.2f} {CLASSES[b]} {s[b]:.2f}"
    if abs(s[a] - spec.target) > 0.12 * spec.target + 0.01:
        return f"S {s[a]:.3f} for {spec.target}"
    silent = planted.timeline.silent(truth.chosen) / truth.total
    planted.silent = silent
    if silent > 0.36 and spec.condition != "not_in_trace":
        return f"silent {silent:.2f}"
    if planted.timeline.silent_before_first_work(truth.chosen) > 0.04:
        return f"silent before the first work {planted.timeline.silent_before_first_work(truth.chosen):.2f}"
    for name, other in readings(planted).items():
        second = max(x for c, x in enumerate(other) if c != a)
        if other[a] < 1.3 * second:
            return f"reading {name}: {other[a]:.2f} {second:.2f}"
    return None


def readings(planted):
    """S by class under other readings of the definitions."""
    truth = planted.truth
    out = {}
    e = truth.elapsed
    out["elapsed"] = [1 - truth.length((c,), elapsed) / e for c in range(len(CLASSES))]
    out["gaps free with gpu"] = list(planted.shares)
    out["gaps free with gpu"][GPU] = truth.share(GPU, no_gaps=True)
    if planted.spec.condition == "launched_before":
        out["work before the recording kept"] = truth.shares(keep_before=True)
    out["pageable copies are synchronizations"] = list(planted.shares)
    out["pageable copies are synchronizations"][SYNCHRONIZATION] = truth.share(SYNCHRONIZATION, pageable_is_sync=True)
    return out

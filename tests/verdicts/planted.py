#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes synthetic Kineto traces with a known limiter: planted.py FOLDER [--seed N]

FOLDER/closed_form has small steps whose lengths are known in closed form, FOLDER/planted 100 traces in which one class
(or two) was made to limit the steps. FOLDER/truth.json says for each file what is true. Everything that is written is
checked: the formulas against the simulator, the planted margins, and each file, read back, against the times that were
meant.

truth.json, of each file:
limiter, acceptable  the class that limits, or mixed; the verdicts that are right or rightly hedged
T_us, S              mean time of a judged step; by class, the part of it that goes when the class is free
formula, free        closed forms only: T_us, and the time with each class free, in terms of params
other_reading        closed forms only: the time under a reading that the definitions leave open
judged, step_us      planted only: indices of the judged (warm) steps; windows of all steps
idle_us              planted only: idle time of the device per judged step, by what the host did
S_of_first_two_together, substitutes, S_halved, S_in_other_readings, without_event
                     planted only: the two classes with the largest S free at once; each class halved; S when a point
                     that the definitions leave open is read otherwise; part of the time without any event
"""

import argparse
import gzip
import json
import pathlib
import random
import sys

import closed_forms
import plans
from kineto import Style, Writer, read_back
from simulator import CLASSES, COMMUNICATION, GPU, SYNCHRONIZATION, Timeline
from workloads import watchdog

NOTES = {
    "plain": "One class has the largest S, at least 1.5 times the second.",
    "mixed": "Two additive classes with nearly equal S.",
    "substitutes": "When either class is removed the GPU time takes over; the limiter causes more of the idle time.",
    "weak": "The largest S is 1.3 to 1.5 times the second; mixed is accepted as a hedge.",
    "clipped": "The first step waits for device work from before the recording; it is not judged.",
    "launched_before": "The recording begins with device work whose calls lie before it.",
    "lost_launches": "Some calls have lost their device events.",
    "cold_first_step": "The first step is more than twice as long as the median, and is not judged.",
    "slow_step": "One of six steps has more loading, but is not cold.",
    "slow_step_cold": "One of six steps is slow because of loading, and cold: it is not judged.",
    "not_in_trace": "More than 40 % of the step has no event at all: the limiter (other host work) is not in the trace.",
}
HEDGES = {"clipped": ["clipped"], "lost_launches": ["lost_launches", "not_conclusive"],
          "not_in_trace": ["not_in_trace", "not_conclusive"]}


def compare(name, text, steps, skip=()):
    """The windows of the steps in a file's text must be those that were simulated."""
    base = steps[0].start
    got = read_back(text)
    assert len(got) == len(steps), name
    for i, (window, step) in enumerate(zip(got, steps)):
        want = (step.window[0] - base, step.window[1] - base)
        assert i in skip or window == want, (name, i, window, want)


def closed_form(folder, seed):
    folder.mkdir(parents=True, exist_ok=True)
    truth = {}
    for i, (case, program, entry) in enumerate(closed_forms.truths()):
        style = Style(case.device, sync_events=case.sync_events, start_us=1740461679471)
        timeline = Timeline(program)
        text = Writer(timeline, style, random.Random(f"{seed}/closed/{i}")).text()
        compare(case.name, text, timeline.steps)
        name = f"closed_form/{i:02d}_{case.name}.json"
        (folder.parent / name).write_text(text)
        truth[name] = entry
    return truth


def lose(planted, rng):
    """Works that are not written: some of those in the middle of a step."""
    by_step = {}
    for w in planted.workload.p.works:
        if w.step is not None and w.cls == GPU:
            by_step.setdefault(id(w.step), []).append(w)
    chosen = list(by_step.values())
    if planted.spec.limiter == GPU:
        chosen = chosen[1:3]
    lost = set()
    for works in chosen:
        middle = works[2:-2]
        lost.update(rng.sample(middle, max(2, len(middle) // 8)))
    return lost


def entry_of(planted):
    spec, truth, shares = planted.spec, planted.truth, planted.shares
    n = len(truth.chosen)
    limiter = "mixed" if spec.kind == "mixed" else CLASSES[spec.limiter]
    acceptable = [limiter] + HEDGES.get(spec.condition, [])
    if spec.condition == "not_in_trace":
        acceptable = HEDGES["not_in_trace"] + [limiter]
    if spec.kind == "weak":
        acceptable.append("mixed")
    a, b = planted.order[:2]
    silent = planted.timeline.silent(truth.chosen) / truth.total
    return {
        "limiter": limiter, "acceptable": acceptable, "T_us": round(truth.total / n / 1000, 3),
        "S": {CLASSES[c]: round(shares[c], 4) for c in range(len(CLASSES))},
        "conditions": [spec.condition] if spec.condition else [], "kind": spec.kind,
        "note": NOTES[spec.condition or spec.kind] + f" Planted: {spec.variant}.",
        "steps": len(truth.steps), "judged": truth.chosen,
        "step_us": [round((s.window[1] - s.window[0]) / 1000, 3) for s in truth.steps],
        "period_us": round((truth.steps[-1].start - truth.steps[0].start) / (len(truth.steps) - 1) / 1000, 3),
        "first_two": [CLASSES[a], CLASSES[b]], "S_of_first_two_together": round(planted.pair, 4),
        "substitutes": planted.substitutes,
        "idle_us": {CLASSES[c]: round(t / n / 1000, 3) for c, t in planted.idle.items() if t},
        "S_halved": {CLASSES[c]: round(truth.share(c, scale=0.5), 4) for c in range(len(CLASSES)) if c != SYNCHRONIZATION},
        "S_in_other_readings": {name: {CLASSES[c]: round(x, 4) for c, x in enumerate(other)}
                                for name, other in planted.readings.items()},
        "without_event": round(silent, 4), "device": planted.style.device,
        "kernels_per_step": round(len([w for w in planted.workload.p.works if w.step]) / len(truth.steps)),
        "written": {"cuda_sync": planted.style.sync_events, "python_function": planted.style.stack,
                    "shapes": planted.style.shapes, "flows": planted.style.flows,
                    "gpu_user_annotation": planted.style.gpu_annotations, "whole_us": planted.style.integer_us,
                    "backward_thread": any(r.tid == planted.workload.autograd for r in planted.timeline.ranges)}}


def planted_traces(folder, seed):
    folder.mkdir(parents=True, exist_ok=True)
    truth = {}
    for spec in plans.specs():
        planted = plans.build(spec, seed)
        planted.readings = plans.readings(planted)
        rng = random.Random(f"{seed}/written/{spec.number}")
        style, timeline = planted.style, planted.timeline
        style.hidden = set(planted.workload.hidden)
        if spec.condition == "lost_launches":
            style.lost = lose(planted, rng)
        if any(w.cls == COMMUNICATION for w in planted.workload.p.works) and spec.number % 2:
            watchdog(timeline, rng, timeline.program.pid + 311)
        text = Writer(timeline, style, rng).text()
        compare(spec.name, text, timeline.steps, planted.dropped)
        name = f"planted/{spec.number:03d}_{spec.name}.json.gz"
        with open(folder.parent / name, "wb") as f, gzip.GzipFile("", "wb", 6, f, 0) as g:
            g.write(text.encode())
        truth[name] = entry_of(planted)
        if spec.condition == "lost_launches":
            truth[name]["lost"] = len(style.lost)
    return truth


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    truth = closed_form(args.folder / "closed_form", args.seed)
    truth.update(planted_traces(args.folder / "planted", args.seed))
    (args.folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    size = sum(f.stat().st_size for f in (args.folder / "planted").glob("*.gz"))
    print(f"{len(truth)} traces, {size / 1e6:.1f} MB of them planted, written to {args.folder}", file=sys.stderr)


if __name__ == "__main__":
    main()

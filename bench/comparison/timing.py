# SPDX-License-Identifier: Apache-2.0
"""GPU time and host time of repeated calls: median, minimum and maximum. The same method as in gpu_forward/timing.h."""
import os, statistics, time
import torch

ROUNDS, ROUND_US = 9, 20000


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

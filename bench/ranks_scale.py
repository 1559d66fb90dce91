#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `epilogue ranks` over a generated job, against `epilogue table` on one of its files.

    python3 bench/ranks_scale.py [--bin build/dev/bin] [--ranks 200] [--kernels 100] [--folder DIR]

Each rank has about 20 MB with the default number of kernels. Prints, as medians of rounds in which both take turns, seconds
per GB and their ratio, and the peak memory of `ranks` against what it may need: what it needs for one file, 200 bytes per
collective and rank, and 1 kB per step and rank. The folder is removed.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

STEPS, COLLECTIVES, ROUNDS = 10, 20, 3


def measured(command):
    """Seconds, and the peak memory in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"ranks_scale: {' '.join(command)} failed")
    return time.perf_counter() - start, 1024 * usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/dev/bin")
    parser.add_argument("--ranks", type=int, default=200)
    parser.add_argument("--kernels", type=int, default=222, help="per collective")
    parser.add_argument("--folder", help="where the files are written; default: a temporary folder")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(dir=args.folder)
    try:
        subprocess.run([f"{args.bin}/make_ranks", folder, f"ranks={args.ranks}", f"steps={STEPS}",
                        f"collectives={COLLECTIVES}", f"kernels={args.kernels}", "late=1:300:loading"], check=True)
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        size, all_sizes = os.path.getsize(files[0]), sum(map(os.path.getsize, files))
        one, table, job = [], [], []
        for _ in range(ROUNDS):
            for _ in range(5):
                table.append(measured([f"{args.bin}/epilogue", "table", files[0]]))
                one.append(measured([f"{args.bin}/epilogue", "ranks", files[0]]))
            job.append(measured([f"{args.bin}/epilogue", "ranks", folder]))
    finally:
        shutil.rmtree(folder)
    table_s = statistics.median(t for t, _ in table) / size * 1e9
    ranks_s = statistics.median(t for t, _ in job) / all_sizes * 1e9
    memory, one_memory = max(m for _, m in job), max(m for _, m in one)
    allowed = one_memory + args.ranks * (STEPS * COLLECTIVES * 200 + STEPS * 1000)
    print(f"{args.ranks} ranks of {size / 1e6:.1f} MB: {ranks_s:.2f} s/GB; table of one file: {table_s:.2f} s/GB; "
          f"ratio {ranks_s / table_s:.2f}")
    print(f"peak memory {memory / 1e6:.0f} MB; of one rank {one_memory / 1e6:.0f} MB, allowed {allowed / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

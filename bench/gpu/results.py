# SPDX-License-Identifier: Apache-2.0
"""Statistics over rounds in which modes take turns, their tables, and the file of the results. Needs no GPU."""
import json
import os
from statistics import median

from . import BenchError

OURS = ("Epilogue", "patched", "patched, compile")
PYTORCH = ("eager", "compile", "packed, compile")
MANY_ROWS = 512  # the summary separates shapes with fewer rows, which are bound by reading the weights


class Results:
    """Results by name, saved to a file after each one. A file of another GPU, library or mode is refused."""

    def __init__(self, path, about):
        self.path, self.about, self.found = path, about, {}
        if path:
            self._load()
            self._save()  # fails now if the file cannot be written

    def get(self, name, measure):
        if name not in self.found:
            self.found[name] = measure()
            if self.path:
                self._save()
        return self.found[name]

    def _load(self):
        if not os.path.exists(self.path):
            return
        try:
            with open(self.path, encoding="utf-8") as file:
                saved = json.load(file)
            about, self.found = saved["about"], saved["results"]
        except (OSError, ValueError, TypeError, KeyError):
            raise BenchError(f"{self.path}: not a file of results, choose another one") from None
        if about != self.about:
            raise BenchError(f"{self.path} is from {about}, this is {self.about}: choose another file")

    def _save(self):
        try:
            with open(self.path + ".part", "w", encoding="utf-8") as file:
                json.dump({"about": self.about, "results": self.found}, file, indent=1)
            os.replace(self.path + ".part", self.path)
        except OSError as error:
            raise BenchError(f"{self.path} cannot be written: {error.strerror}") from None


def summarize(busy, paused, fastest):
    """Figures of each mode from its times in each round. A ratio is the median of those to `fastest` in one round."""

    def figures(times, name):
        ratio = median(a / b for a, b in zip(times[name], times[fastest]))
        return {"us": median(times[name]), "spread": max(times[name]) / min(times[name]), "ratio": ratio}

    modes = {name: {"busy": figures(busy, name), "paused": figures(paused, name)} for name in busy}
    ours = min((name for name in modes if name in OURS), key=lambda name: modes[name]["busy"]["us"])
    return {"ours": ours, "fastest": fastest, "modes": modes}


def again(name):
    """The name of a mode that is measured a second time in each round, which shows the noise."""
    return f"{name}, again"


def print_modes(title, result):
    modes, fastest = result["modes"], result["fastest"]
    has_energy = "mj" in modes[fastest]
    print(f'{title}: us per call, ratio to "{fastest}"')
    print(f"  {'':22}{'back to back':>12} {'spread':>6} {'ratio':>6} {'paused':>11} {'spread':>6} {'ratio':>6}"
          + (f" {'mJ':>10} {'ratio':>6}" if has_energy else ""))
    for name, mode in modes.items():
        times = " ".join(f"{t['us']:11.2f} {t['spread']:6.2f} {t['ratio']:6.3f}" for t in (mode["busy"], mode["paused"]))
        energy = f" {mode['mj']:10.3f} {mode['mj'] / modes[fastest]['mj']:6.3f}" if has_energy else ""
        print(f"  {name:22} {times}{energy}", flush=True)


def print_host(title, result):
    print(f"{title}: us of host time per call (smallest, largest of the rounds)")
    for name, times in result.items():
        print(f"  {name:34} {median(times):7.2f} ({min(times):.2f}, {max(times):.2f})", flush=True)


def print_summary(results):
    """One line per shape, then medians. `results` is a list of shapes with their results."""
    print("\nratio of Epilogue to PyTorch's fastest mode, noise: that mode to itself; back to back (paused)")
    for shape, result in results:
        print(f"  {str(shape):50} {_pair(_ratios(result))}, noise {_pair(_noise(result))}, {result['fastest']}")
    groups = {"all shapes": results, f"at least {MANY_ROWS} rows": [r for r in results if r[0].rows >= MANY_ROWS],
              "fewer rows": [r for r in results if r[0].rows < MANY_ROWS]}
    for name, group in groups.items():
        if group:
            print(f"{name}: {_group_text(group)}")


def _ratios(result):
    mode = result["modes"][result["ours"]]
    return mode["busy"]["ratio"], mode["paused"]["ratio"]


def _noise(result):
    mode = result["modes"][again(result["fastest"])]
    return mode["busy"]["ratio"], mode["paused"]["ratio"]


def _pair(ratios):
    return f"{ratios[0]:.3f} ({ratios[1]:.3f})"


def _group_text(group):
    medians = [median(_ratios(result)[i] for _, result in group) for i in (0, 1)]
    worst, result = max(group, key=lambda item: _ratios(item[1])[0])
    return f"{len(group)}, median {_pair(medians)}, worst {_pair(_ratios(result))} for {worst}"

# SPDX-License-Identifier: Apache-2.0
# Runs Epilogue on traces, and collects what is wrong. EPILOGUE is the path of the tool.
import collections
import functools
import json
import os
import re
import subprocess
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(REPOSITORY, "tests", "data")
EPILOGUE = os.environ["EPILOGUE"]
MAX_SHOWN = 6  # failures of a trace and verb


def significant(value):
    """The rounding error of a number that has six significant digits."""
    return abs(Decimal(value)) * Decimal("0.000005001")


def traces(folders):
    """The JSON files below the folders, by default those of the repository."""
    found = []
    for folder in folders or [DATA]:
        for path, _, names in os.walk(folder):
            found += [os.path.join(path, name) for name in names
                      if name.endswith((".json", ".json.gz"))]
    return sorted(found)


def run(*arguments):
    """Returns the exit code, the output and the messages."""
    result = subprocess.run([EPILOGUE, *arguments], capture_output=True, timeout=300, check=False)
    return (result.returncode, result.stdout.decode("utf-8", "replace"),
            result.stderr.decode("utf-8", "replace"))


class Checks:
    """The failures of one trace."""

    def __init__(self, trace):
        self.trace = trace
        self.count = 0
        self.failures = collections.defaultdict(list)

    def fail(self, verb, message):
        self.failures[verb].append(message)

    def equal(self, verb, field, actual, expected, tolerance=0):
        self.count += 1
        is_equal = actual == expected
        if not is_equal and tolerance and None not in (actual, expected):
            is_equal = abs(Decimal(actual) - Decimal(expected)) <= tolerance
        if not is_equal:
            self.fail(verb, f"{field} is {actual}, not {expected}")

    def json(self, *arguments, codes=(0,)):
        """The output of a verb as JSON. None if it fails."""
        verb = arguments[0]
        code, output, messages = run(*arguments, "--json")
        if code not in codes:
            self.fail(verb, f"exit code {code}: {messages.strip()[:200]}")
            return None
        try:
            return json.loads(output, parse_float=Decimal)
        except ValueError as error:
            self.fail(verb, f"invalid JSON: {error}")
            return None


def page_data(path):
    """The data of a page of `report`."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(data.group(1), parse_float=Decimal)


def guarded(checks_of, item):
    checks = checks_of(item)
    try:
        checks.run()
    except Exception:  # an output that the checks do not expect
        checks.fail("checks", traceback.format_exc())
    return checks


def results_of(checks_of, items):
    """Runs `checks_of(item)` for two items at a time."""
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(functools.partial(guarded, checks_of), items))


def report(results):
    """Prints the failures. Returns the exit code."""
    for result in results:
        for verb, failures in result.failures.items():
            for failure in failures[:MAX_SHOWN]:
                print(f"FAILED {os.path.relpath(result.trace, REPOSITORY)}: {verb}: {failure}")
            if len(failures) > MAX_SHOWN:
                print(f"       {len(failures) - MAX_SHOWN} more of this verb and trace")
    checks = sum(result.count for result in results)
    failed = sum(len(of_verb) for result in results for of_verb in result.failures.values())
    print(f"{len(results)} traces, {checks} checks, {failed} failed")
    return 1 if failed or checks == 0 else 0


def main(checks_of, items):
    sys.exit(report(results_of(checks_of, items)))

# SPDX-License-Identifier: Apache-2.0
"""Records a model eager, compiled and patched, and compares the traces.

    python -m epilogue.torch.check CONFIG [--batch N] [--tokens N] [--layers N] [--dtype TYPE]
                                          [--device cpu|cuda] [--out FOLDER] [--json]

CONFIG is a ``config.json`` of Hugging Face transformers, or the folder that contains it. Weights are
random. The package ``epilogue`` must be installed: it records and reads the traces.
"""
from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from typing import Any, Dict, List, Optional

import torch

from ._patch import patch, unpatch

MODES = ("eager", "compiled", "patched", "patched, compiled")


class CheckError(Exception):
    """What the user has to change."""


def _load_reader() -> Any:
    import epilogue

    try:
        epilogue.version  # noqa: B018  # loads the library now, not after the first recording
    except AttributeError:
        raise CheckError("the package epilogue is not installed: it records the traces") from None
    except ImportError as error:
        raise CheckError(str(error)) from None
    return epilogue


def _load_model(args: argparse.Namespace) -> Any:
    try:
        import transformers
    except ImportError:
        raise CheckError("the package transformers is not installed") from None
    if not os.path.exists(args.config):
        raise CheckError(f"{args.config}: no such file or folder")
    try:
        config = transformers.AutoConfig.from_pretrained(args.config, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise CheckError(f"{args.config}: not a configuration of transformers ({error})") from None
    config = config.get_text_config()
    if args.layers is not None:
        config.num_hidden_layers = args.layers
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[: args.layers]
    torch.manual_seed(0)
    dtype = getattr(torch, args.dtype)
    try:
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype)
    except ValueError:
        raise CheckError(f"{args.config}: {config.model_type} is not a causal language model") from None
    return model.to(args.device).eval()


class _Step:
    """A forward pass as one call. The logits of the last token are enough."""

    def __init__(self, model: Any, tokens: Any) -> None:
        self.model, self.tokens = model, tokens

    def __call__(self) -> None:
        self.model(self.tokens, use_cache=False, logits_to_keep=1)


def _wall_us(step: _Step, device: str) -> float:
    """The median time of a call without the profiler."""
    times: List[float] = []
    for _ in range(20):
        start = time.perf_counter()
        step()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times[5:])


def _measure(reader: Any, step: _Step, device: str) -> Dict[str, Any]:
    trace = reader.record(step, steps=5, warmup=5)
    steps = trace.steps().steps
    return {
        "trace": trace,
        "wall_us": _wall_us(step, device),
        "busy_us": statistics.median(s.busy_us for s in steps),
        "kernels": statistics.median(s.kernels for s in steps),
    }


def _run(args: argparse.Namespace, reader: Any, model: Any) -> Dict[str, Any]:
    vocabulary = model.config.vocab_size
    tokens = torch.randint(0, vocabulary, (args.batch, args.tokens), device=args.device)
    modes: Dict[str, Any] = {}
    with torch.no_grad():
        for name in MODES:
            print(f"recording: {name}", file=sys.stderr)
            if name == "patched":
                result = patch(model)
                if not result.patched:
                    raise CheckError(f"nothing to compare: {result}")
            torch._dynamo.reset()
            called = torch.compile(model) if name.endswith("compiled") else model
            modes[name] = _measure(reader, _Step(called, tokens), args.device)
        unpatch(model)
    return {"modes": modes, "patch": result}


def _predicted(trace: Any) -> Optional[Dict[str, float]]:
    """What ``advise`` expects of running each MLP as two kernels, in microseconds per step."""
    items = [item for item in trace.advise(all=True).json["advice"] if item["kind"] == "gated_mlp"]
    savings = [item["saving_us"] for item in items if item["saving_us"] is not None]
    if not savings:
        return None
    return {key: sum(saving[key] for saving in savings) for key in ("low", "likely", "high")}


def _time(microseconds: float) -> str:
    if microseconds >= 1000:
        return f"{microseconds / 1000:.3f} ms"
    return f"{microseconds:.1f} us"


def _prediction_text(predicted: Optional[Dict[str, float]], saved_us: float) -> str:
    if predicted is None:
        return "advise has no advice about the MLPs of the eager trace"
    low, likely, high = (_time(predicted[key]) for key in ("low", "likely", "high"))
    change = "shorter" if saved_us >= 0 else "longer"
    place = "inside" if predicted["low"] <= saved_us <= predicted["high"] else "outside"
    return (
        f"advise expected from one kernel for gate, up and activation: {likely} per step "
        f"({low} to {high})\nmeasured: {_time(abs(saved_us))} {change}, {place} the range"
    )


def _report(args: argparse.Namespace, reader: Any, found: Dict[str, Any]) -> Dict[str, Any]:
    modes = found["modes"]
    saved_us = modes["eager"]["wall_us"] - modes["patched"]["wall_us"]
    predicted = _predicted(modes["eager"]["trace"])
    pairs = (("eager", "patched"), ("compiled", "patched, compiled"))
    compared = {f"{a} -> {b}": reader.compare(modes[a]["trace"], modes[b]["trace"]) for a, b in pairs}
    if args.out is not None:
        os.makedirs(args.out, exist_ok=True)
        for name, mode in modes.items():
            mode["trace"].save(os.path.join(args.out, name.replace(", ", "_") + ".json.gz"))
    if not args.json:
        print(found["patch"])
        print("\nmedians per step        time    GPU busy  kernels")
        for name, mode in modes.items():
            times = f"{_time(mode['wall_us']):>11} {_time(mode['busy_us']):>11}"
            print(f"  {name:18}{times} {mode['kernels']:8.0f}")
        for name, comparison in compared.items():
            print(f"\n{name}\n{comparison}")
        print(f"\n{_prediction_text(predicted, saved_us)}")
    fields = ("wall_us", "busy_us", "kernels")
    return {
        "schema": 1,
        "patched": len(found["patch"].patched),
        "left": [{"name": m.name, "reason": m.reason} for m in found["patch"].left],
        "modes": {name: {field: mode[field] for field in fields} for name, mode in modes.items()},
        "predicted_saving_us": predicted,
        "measured_saving_us": saved_us,
        "compare": {name: comparison.verdict for name, comparison in compared.items()},
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m epilogue.torch.check",
        description="Records a model eager, compiled and patched, and compares the traces.",
        epilog="Example: python -m epilogue.torch.check llama/config.json --tokens 4096 --layers 16",
    )
    parser.add_argument("config", metavar="CONFIG", help="a config.json of transformers, or its folder")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="sequences (1)")
    parser.add_argument("--tokens", type=int, default=512, metavar="N", help="tokens of each (512)")
    parser.add_argument("--layers", type=int, metavar="N", help="layers, instead of the config's")
    parser.add_argument(
        "--dtype", default="bfloat16", choices=("bfloat16", "float16", "float32"),
        help="of the weights (bfloat16)",
    )
    default = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=default, choices=("cpu", "cuda"), help=f"where it runs ({default})")
    parser.add_argument("--out", metavar="FOLDER", help="saves the traces there")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def main(arguments: Optional[List[str]] = None) -> int:
    args = _parser().parse_args(arguments)
    try:
        reader = _load_reader()
        for name in ("batch", "tokens", "layers"):
            value = getattr(args, name)
            if value is not None and value < 1:
                raise CheckError(f"--{name} {value}: must be at least 1")
        if args.device == "cuda" and not torch.cuda.is_available():
            raise CheckError("--device cuda: PyTorch finds no GPU")
        model = _load_model(args)
        gpu = torch.cuda.get_device_name() if args.device == "cuda" else "CPU"
        if not args.json:
            layers = model.config.num_hidden_layers
            print(f"{type(model).__name__}, {layers} layers, {args.batch} x {args.tokens} tokens, {args.dtype}")
            print(f"{gpu}, PyTorch {torch.__version__}\n")
        figures = _report(args, reader, _run(args, reader, model))
    except CheckError as error:
        print(f"epilogue.torch.check: {error}", file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())

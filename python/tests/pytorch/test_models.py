# SPDX-License-Identifier: Apache-2.0
"""Whole models with random weights: patched against unpatched, both against float64."""
from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch", minversion="2.9")
transformers = pytest.importorskip("transformers")

import epilogue.torch as et  # noqa: E402

if not (torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)):
    pytest.skip("needs a Hopper GPU", allow_module_level=True)

SIZES = {
    "hidden_size": 512,
    "intermediate_size": 1536,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 1000,
}
CONFIGS = {
    "llama": lambda: transformers.LlamaConfig(**SIZES),
    "qwen2": lambda: transformers.Qwen2Config(**SIZES),
    "gemma": lambda: transformers.GemmaConfig(**SIZES, head_dim=64),
}


@pytest.fixture(params=CONFIGS, scope="module")
def models(request):
    """The model in bfloat16, a patched copy of it, and the same weights in float64."""
    torch.manual_seed(1)
    plain = transformers.AutoModelForCausalLM.from_config(CONFIGS[request.param](), dtype=torch.bfloat16)
    plain = plain.cuda().eval()
    patched = copy.deepcopy(plain)
    assert len(et.patch(patched).patched) == 4
    return plain, patched, copy.deepcopy(plain).double()


def logits(model, tokens):
    with torch.no_grad():
        return model(tokens, use_cache=False).logits.double()


@pytest.mark.parametrize("shape", [(1, 1), (1, 16), (2, 100), (4, 512)])
def test_logits(models, shape):
    """Random models amplify roundings, so the errors of single logits differ by chance: norms."""
    plain, patched, exact = models
    errors = {"plain": 0.0, "patched": 0.0}
    for seed in range(8):
        tokens = torch.randint(0, 1000, shape, device="cuda", generator=torch.Generator("cuda").manual_seed(seed))
        truth = logits(exact, tokens)
        errors["plain"] += float((logits(plain, tokens) - truth).norm() ** 2)
        errors["patched"] += float((logits(patched, tokens) - truth).norm() ** 2)
    assert errors["patched"] ** 0.5 <= 1.05 * errors["plain"] ** 0.5


def test_greedy_decoding(models):
    """Equal tokens up to the first step at which rounding alone can decide."""
    plain, patched, exact = models
    compared = 0
    for prompt in range(8):
        tokens = torch.arange(16 * prompt, 16 * (prompt + 1), device="cuda").reshape(1, 16)
        for step in range(64):
            truth, a, b = (logits(model, tokens)[0, -1] for model in (exact, plain, patched))
            best = truth.topk(2).values
            error = max(float((a - truth).abs().max()), float((b - truth).abs().max()))
            if float(best[0] - best[1]) < 2 * error:  # both logits may be off by the error
                break
            assert int(a.argmax()) == int(b.argmax()), f"prompt {prompt}, step {step}"
            tokens = torch.cat((tokens, a.argmax().reshape(1, 1)), 1)
            compared += 1
    assert compared >= 8  # the logits of random weights are often close


def test_compiled_model_has_no_graph_break(models):
    plain, patched, _ = models
    tokens = torch.randint(0, 1000, (2, 64), device="cuda")
    torch._dynamo.reset()
    with torch.no_grad():
        before = torch._dynamo.explain(plain)(tokens, use_cache=False).graph_break_count
        torch._dynamo.reset()
        after = torch._dynamo.explain(patched)(tokens, use_cache=False).graph_break_count
    assert after == before

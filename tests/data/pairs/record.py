# SPDX-License-Identifier: Apache-2.0
"""Records pairs of traces, the same model eager and compiled, with PyTorch on a CUDA GPU.

    python3 record.py OUT [NAME...]

Writes OUT/NAME.eager.json.gz and OUT/NAME.compiled.json.gz, three steps each. Those of this folder are from
PyTorch 2.11 on an H200."""
import os, sys, torch, torch.nn as nn, torch.nn.functional as F
from torch.profiler import profile, schedule, ProfilerActivity, record_function

BF16 = dict(device="cuda", dtype=torch.bfloat16)


def linear(dim_in, dim_out, bias=False):
    return nn.Linear(dim_in, dim_out, bias=bias, **BF16)


class GatedMlp(nn.Module):
    def __init__(self, dim, hidden, activation):
        super().__init__()
        self.gate, self.up, self.down = linear(dim, hidden), linear(dim, hidden), linear(hidden, dim)
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.gate(x)) * self.up(x))


class PlainMlp(nn.Module):
    def __init__(self, dim, hidden, activation):
        super().__init__()
        self.up, self.down, self.activation = linear(dim, hidden, True), linear(hidden, dim, True), activation

    def forward(self, x):
        return self.down(self.activation(self.up(x)))


class RmsNorm(nn.Module):
    """As Llama writes it: in float, with a cast on either side."""

    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim, **BF16))

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class NormResidual(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x, residual):
        total = x + residual
        return self.norm(total), total


class PostNorm(nn.Module):
    """The sum itself is not returned."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x, residual):
        return self.norm(x + residual)


def rotated(x, cos, sin):
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, dim, heads, rope, bias=False):
        super().__init__()
        self.qkv, self.out = linear(dim, 3 * dim, bias), linear(dim, dim, bias)
        self.heads, self.rope = heads, rope

    def forward(self, x):
        batch, seq, dim = x.shape
        q, k, v = self.qkv(x).view(batch, seq, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.rope:
            angle = torch.outer(torch.arange(seq, device="cuda").float(),
                                10000 ** -torch.linspace(0, 1, q.shape[-1] // 2, device="cuda")).repeat(1, 2)
            cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
            q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, seq, dim))


class PlainAttention(nn.Module):
    """Scores, mask and softmax as operators of their own."""

    def __init__(self, dim, heads):
        super().__init__()
        self.qkv, self.out, self.heads = linear(dim, 3 * dim), linear(dim, dim), heads

    def forward(self, x, mask):
        batch, seq, dim = x.shape
        q, k, v = self.qkv(x).view(batch, seq, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * (dim // self.heads) ** -0.5 + mask
        y = torch.softmax(scores.float(), dim=-1).to(x.dtype) @ v
        return self.out(y.transpose(1, 2).reshape(batch, seq, dim))


class Block(nn.Module):
    def __init__(self, norm, dim, attention, mlp):
        super().__init__()
        self.norm1, self.norm2, self.attention, self.mlp = norm(dim), norm(dim), attention, mlp

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PostNormBlock(Block):
    """As BERT has it: norms behind the sums."""

    def forward(self, x):
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.mlp(x))


class Loss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        return self.model(*inputs).float().mean()


def layer_norm(dim):
    return nn.LayerNorm(dim, **BF16)


class Transformer(nn.Module):
    def __init__(self, layers, norm, dim, attention, mlp, words=16000):
        super().__init__()
        self.embedding = nn.Embedding(words, dim, **BF16)
        self.blocks = nn.Sequential(*[Block(norm, dim, attention(), mlp()) for _ in range(layers)])
        self.norm, self.head = norm(dim), linear(dim, words)

    def forward(self, ids):
        logits = self.head(self.norm(self.blocks(self.embedding(ids))))
        return F.cross_entropy(logits.flatten(0, 1).float(), ids.flatten())


def gelu(x):
    return F.gelu(x, approximate="tanh")


def random(*shape):
    return torch.randn(*shape, **BF16)


def llama_block(dim, heads, hidden):
    return Block(RmsNorm, dim, Attention(dim, heads, rope=True), GatedMlp(dim, hidden, F.silu))


def gpt_block(dim, heads):
    return Block(layer_norm, dim, Attention(dim, heads, rope=False, bias=True), PlainMlp(dim, 4 * dim, gelu))


def small_llama(layers=4, dim=512):
    return Transformer(layers, RmsNorm, dim, lambda: Attention(dim, 8, rope=True), lambda: GatedMlp(dim, 1536, F.silu))


def small_gpt(layers=4, dim=768):
    return Transformer(layers, layer_norm, dim, lambda: Attention(dim, 12, rope=False, bias=True),
                       lambda: PlainMlp(dim, 4 * dim, gelu))


def ids(batch, seq):
    return torch.randint(0, 16000, (batch, seq), device="cuda")


def causal_mask(seq):
    return torch.full((seq, seq), -1e4, **BF16).triu(1)


# name: (model, inputs, trains)
PAIRS = {
    "geglu_8192x768x3072": lambda: (GatedMlp(768, 3072, gelu), [random(64, 128, 768)], False),
    "swiglu_4096x2048x5632": lambda: (GatedMlp(2048, 5632, F.silu), [random(4, 1024, 2048)], False),
    "swiglu_512x4096x14336": lambda: (GatedMlp(4096, 14336, F.silu), [random(512, 4096)], False),
    "geglu_3000x1000x2730": lambda: (GatedMlp(1000, 2730, gelu), [random(3000, 1000)], False),
    "reglu_16384x1024x2816": lambda: (GatedMlp(1024, 2816, F.relu), [random(16, 1024, 1024)], False),
    "mlp_8192x1024x4096": lambda: (PlainMlp(1024, 4096, gelu), [random(8, 1024, 1024)], False),
    "squared_relu_8192x1024x4096": lambda: (PlainMlp(1024, 4096, lambda x: F.relu(x) ** 2),
                                            [random(8192, 1024)], False),
    "rms_norm_8192x4096": lambda: (NormResidual(RmsNorm(4096)), [random(8192, 4096), random(8192, 4096)], False),
    "rms_norm_2048x8192": lambda: (NormResidual(RmsNorm(8192)), [random(2048, 8192), random(2048, 8192)], False),
    "layer_norm_8192x1024": lambda: (NormResidual(layer_norm(1024)), [random(8192, 1024), random(8192, 1024)], False),
    "layer_norm_32768x2048": lambda: (NormResidual(layer_norm(2048)), [random(32768, 2048), random(32768, 2048)], False),
    "llama_block_8x1024x2048": lambda: (llama_block(2048, 16, 5632), [random(8, 1024, 2048)], False),
    "llama_block_2x2048x4096": lambda: (llama_block(4096, 32, 11008), [random(2, 2048, 4096)], False),
    "gpt_block_16x1024x768": lambda: (gpt_block(768, 12), [random(16, 1024, 768)], False),
    "plain_attention_8x512x1024": lambda: (PlainAttention(1024, 16), [random(8, 512, 1024), causal_mask(512)], False),
    "small_llama_16x512": lambda: (small_llama(), [ids(16, 512)], False),
    "small_gpt_16x512": lambda: (small_gpt(), [ids(16, 512)], False),
    "geglu_2048x2048x8192": lambda: (GatedMlp(2048, 8192, gelu), [random(2048, 2048)], False),
    "geglu_erf_8192x1024x2736": lambda: (GatedMlp(1024, 2736, F.gelu), [random(8192, 1024)], False),
    "swiglu_8192x2048x8192": lambda: (GatedMlp(2048, 8192, F.silu), [random(4, 2048, 2048)], False),
    "post_norm_16384x1024": lambda: (PostNorm(layer_norm(1024)), [random(16384, 1024), random(16384, 1024)], False),
    "bert_block_16x512x1024": lambda: (
        PostNormBlock(layer_norm, 1024, Attention(1024, 16, rope=False, bias=True), PlainMlp(1024, 4096, F.gelu)),
        [random(16, 512, 1024)], False),
    "gpt_block_4x2048x1600": lambda: (gpt_block(1600, 25), [random(4, 2048, 1600)], False),
    "small_gpt_train_8x512": lambda: (small_gpt(), [ids(8, 512)], True),
    "small_llama_train_16x512": lambda: (small_llama(), [ids(16, 512)], True),
    "geglu_train_8192x768x3072": lambda: (Loss(GatedMlp(768, 3072, gelu)), [random(8192, 768)], True),
}


def record(step, path):
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=1, warmup=1, active=3)) as profiler:
        for _ in range(5):
            step()
            profiler.step()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(path)


def stepper(model, inputs, trains):
    def infer():
        with record_function("forward"), torch.no_grad():
            model(*inputs)

    def train():
        with record_function("forward"):
            loss = model(*inputs)
        with record_function("backward"):
            loss.backward()
        model.zero_grad()

    return train if trains else infer


def main():
    out, names = sys.argv[1], sys.argv[2:] or PAIRS
    for name in names:
        torch.manual_seed(0)
        torch._dynamo.reset()
        model, inputs, trains = PAIRS[name]()
        record(stepper(model, inputs, trains), os.path.join(out, f"{name}.eager.json.gz"))
        record(stepper(torch.compile(model), inputs, trains), os.path.join(out, f"{name}.compiled.json.gz"))
        print(name, flush=True)


main()

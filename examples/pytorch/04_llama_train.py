# SPDX-License-Identifier: Apache-2.0
"""Training steps of a small Llama with AdamW: the trace of a whole model, in which the MLP is one block of many.

    python 04_llama_train.py --trace llama_train.json.gz
"""
import torch
from recording import parse, parser, record, sizes
from torch.profiler import record_function

flags = parser(__doc__.splitlines()[0])
sizes(flags, batch=8, seq=512, dim=512, hidden=1536, layers=12, heads=8, kv_heads=4, vocab=8192)
args = parse(flags)
try:
    from transformers import LlamaConfig, LlamaForCausalLM
except ImportError:
    flags.error("needs transformers: pip install transformers")

config = LlamaConfig(
    vocab_size=args.vocab,
    hidden_size=args.dim,
    intermediate_size=args.hidden,
    num_hidden_layers=args.layers,
    num_attention_heads=args.heads,
    num_key_value_heads=args.kv_heads,
)
model = LlamaForCausalLM(config).to(args.device, args.dtype)
optimizer = torch.optim.AdamW(model.parameters())
ids = torch.randint(0, args.vocab, (args.batch, args.seq), device=args.device)


@torch.enable_grad()
def train_step():
    with record_function("forward"):
        loss = model(input_ids=ids, labels=ids).loss
    with record_function("backward"):
        loss.backward()
    with record_function("optimizer"):
        optimizer.step()
        optimizer.zero_grad()


record("train_step", train_step, args)

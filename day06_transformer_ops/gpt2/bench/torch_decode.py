#!/usr/bin/env python3
"""GPT-2 124M in PyTorch, random weights, one text: tokens a second from position 128 to 1024, and a
prompt of 1024 tokens. Compiled, the token's step in a CUDA graph, greedy, nothing comes back to the
host meanwhile. Prints rows as gpt2_bench does.

    torch_decode.py [bf16|fp32]...
"""
import statistics
import sys
import time

import torch
import torch.nn.functional as F

LAYERS, CONTEXT, C, HEADS, V = 12, 1024, 768, 12, 50257
D, PROMPT = C // HEADS, 128


def weights(dtype):
    torch.manual_seed(1)
    new = lambda *shape, size=0.02: (torch.randn(shape, device="cuda") * size).to(dtype)
    blocks = [dict(n1=(1 + new(C), new(C)), qkv=(new(3 * C, C), new(3 * C)), join=(new(C, C), new(C)),
                   n2=(1 + new(C), new(C)), up=(new(4 * C, C), new(4 * C)),
                   down=(new(C, 4 * C), new(C))) for _ in range(LAYERS)]
    cache = torch.zeros(LAYERS, 2, HEADS, CONTEXT, D, dtype=dtype, device="cuda")
    return dict(tokens=new(V, C, size=0.1), positions=new(CONTEXT, C), blocks=blocks,
                last=(1 + new(C), new(C)), cache=cache)


def forward(w, ids, places):
    """ids (T) at places (T): the next token."""
    x = w["tokens"][ids] + w["positions"][places]
    seen = torch.arange(CONTEXT, device="cuda")[None, :] <= places[:, None]
    for b, cache in zip(w["blocks"], w["cache"]):
        q, k, v = F.linear(F.layer_norm(x, (C,), *b["n1"]), *b["qkv"]).split(C, -1)
        heads = lambda y: y.view(-1, HEADS, D).transpose(0, 1)
        cache[0].index_copy_(1, places, heads(k))
        cache[1].index_copy_(1, places, heads(v))
        y = F.scaled_dot_product_attention(heads(q)[None], cache[0][None], cache[1][None], attn_mask=seen)
        x = x + F.linear(y[0].transpose(0, 1).reshape(-1, C), *b["join"])
        h = F.gelu(F.linear(F.layer_norm(x, (C,), *b["n2"]), *b["up"]), approximate="tanh")
        x = x + F.linear(h, *b["down"])
    return F.linear(F.layer_norm(x[-1:], (C,), *w["last"]), w["tokens"]).argmax(-1)


def median_of(runs, work):
    times = []
    for i in range(runs + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def measure(name, dtype):
    w = weights(dtype)
    token, place = torch.zeros(1, dtype=torch.long, device="cuda"), torch.full((1,), PROMPT, device="cuda")
    step = torch.compile(forward)

    def one():
        token.copy_(step(w, token, place))
        place.add_(1)

    side = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(3):
            one()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        one()

    def generate():
        place.fill_(PROMPT)
        for _ in range(CONTEXT - PROMPT):
            graph.replay()

    s = median_of(5, generate) / (CONTEXT - PROMPT)
    print(f"decode,PyTorch compiled with a graph,,{name},1,cold,,,,{s:.4g},,,,,,", flush=True)
    ids = torch.randint(0, V, (CONTEXT,), device="cuda")
    places = torch.arange(CONTEXT, device="cuda")
    with torch.no_grad():
        s = median_of(9, lambda: forward(w, ids, places))
    print(f"prefill,PyTorch eager,,{name},{CONTEXT},cold,,,,{s:.4g},,,,,,", flush=True)


if __name__ == "__main__":
    torch.backends.cuda.matmul.allow_tf32 = False
    for name in sys.argv[1:] or ["bf16", "fp32"]:
        measure(name, {"bf16": torch.bfloat16, "fp32": torch.float32}[name])

#!/usr/bin/env python3
"""Measures PyTorch next to gpt2_train_bench: the same model, the same machine, the same types.

    torch_peer.py PROGRAM [its words]...   prints what PROGRAM prints, peer and peer_s filled in:
                                           docs/results/training_h200.csv is made this way

A step is a forward and a backward pass, clipping by the norm and a fused AdamW, on random tokens. It
runs eager, compiled, and compiled with CUDA graphs (mode="reduce-overhead", which removes the cost of
launches); the fastest counts. TF32 is off: ours multiplies in float32 too. Sizes that end in -bf16
run under autocast, as ours with --bf16.
"""
import csv
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "gpt2" / "strides_model"))

# vocabulary, context, channels, heads, layers, batch
SIZES = {"124M": (50257, 1024, 768, 12, 12, 4), "124M-16": (50257, 1024, 768, 12, 12, 16),
         "124M-bf16": (50257, 1024, 768, 12, 12, 4), "124M-16-bf16": (50257, 1024, 768, 12, 12, 16),
         "strides": (292, 64, 128, 4, 6, 256)}


# How PyTorch runs a step: its name, and the arguments of torch.compile.
WAYS = {"eager": None, "compiled": {}, "compiled with CUDA graphs": {"mode": "reduce-overhead"}}


def note(sentence):
    print("# " + " ".join(str(sentence).split())[:200], flush=True)


def seconds_of(torch, size, compile_with):
    from model import Gpt2
    vocabulary, context, channels, heads, layers, batch = SIZES[size]
    torch.manual_seed(1)
    model = Gpt2(vocabulary, context, channels, heads, layers).cuda()
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimiser = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                                   {"params": vectors, "weight_decay": 0}], lr=1e-4, fused=True)
    tokens = torch.randint(0, vocabulary, (batch, context + 1), device="cuda")
    cross_entropy = torch.nn.functional.cross_entropy
    loss_of = lambda: cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    if compile_with is not None:
        loss_of = torch.compile(loss_of, **compile_with)

    def step():
        torch.compiler.cudagraph_mark_step_begin()
        with torch.autocast("cuda", torch.bfloat16, enabled=size.endswith("-bf16")):
            loss = loss_of()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        return loss.item()

    times = []
    for _ in range(13):
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[3:])


def peer_of(torch, size):
    found = []
    for way, compile_with in WAYS.items():
        name = ("PyTorch bf16 autocast, " if size.endswith("-bf16") else "PyTorch fp32, ") + way
        try:
            torch.cuda.reset_peak_memory_stats()
            torch._dynamo.reset()  # else it treats another size as a dynamic shape
            found.append((seconds_of(torch, size, compile_with), name))
            note("%s, %s: %.4e s, %.1f GiB" % (size, name, found[-1][0],
                                              torch.cuda.max_memory_allocated() / 2 ** 30))
        except Exception as error:  # a failure must not prevent the others
            note("%s, %s: failed: %s" % (size, name, error))
        torch.cuda.empty_cache()
    return min(found) if found else None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    said = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True)
    if said.returncode != 0:
        sys.exit(said.returncode)
    lines = said.stdout.splitlines()
    print("\n".join(line for line in lines if line.startswith("#")), flush=True)
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    try:
        import torch
        torch.backends.cuda.matmul.allow_tf32 = False
        note("PyTorch %s, CUDA %s" % (torch.__version__, torch.version.cuda))
    except ImportError as error:
        torch = None
        note("no PyTorch: %s" % error)
    for row in rows:
        size = row["shape"].split()[0]
        if torch and row["op"] == "training step" and size in SIZES:
            peer = peer_of(torch, size)
            if peer:
                row["peer"], row["peer_s"] = peer[1], "%.4e" % peer[0]
    out = csv.DictWriter(sys.stdout, rows[0].keys(), lineterminator="\n")
    out.writeheader()
    out.writerows(rows)


if __name__ == "__main__":
    main()

"""Trains the model on a GPU (a CPU is enough for some hundreds of --steps), and measures it.

    train.py --out FOLDER --compile          as the committed model was trained
    train.py --out FOLDER --seconds 60       within a minute, slightly worse
    train.py --out FOLDER --measure          the accuracy of FOLDER/checkpoint.pt

The loss is taken over answers only, after the question's "->". Accuracy is that of whole
answers, working included, about held-out shapes; all tokens must be
the likeliest ones, as in greedy decoding. Needs PyTorch.
"""
import argparse
import math
import pathlib
import time

import torch
from torch.nn import functional as F

from lines import KINDS, LONGEST, RANK, Lines
from model import Gpt2, rounded_to_q8_0

# Lines of each kind and rank in 100: long ones, and those with divisions, take longest to learn.
PERCENTAGES = {"strides": (1, 1, 2, 4), "offset": (1, 2, 6, 25), "index": (1, 2, 10, 45)}
POOL = 16  # batches generated at once


def batches(lines, batch):
    """(tokens, answer begins) forever."""
    while True:
        made = [lines.make(kind, rank + 1, POOL * batch * percentage // 100)
                for kind, percentages in PERCENTAGES.items() for rank, percentage in enumerate(percentages)]
        tokens, begins = (torch.cat(parts) for parts in zip(*made))
        order = torch.randperm(len(tokens), generator=lines.random, device=tokens.device)
        for chosen in order[:len(order) // POOL * POOL].chunk(POOL):
            yield tokens[chosen], begins[chosen]


def targets(tokens, begins, end_of_text):
    """The token after each, -100 in the question and past the end."""
    following = tokens[:, 1:].clone()
    place = torch.arange(1, LONGEST, device=tokens.device)
    ended = (tokens[:, :-1] == end_of_text)
    following[(place < begins[:, None]) | ended] = -100
    return following


def rate(progress):
    """Fraction of the largest learning rate: linear warmup over 2 %, then cosine decay."""
    return min(progress / 0.02, 0.5 + 0.5 * math.cos(math.pi * min(progress, 1)))


@torch.no_grad()
def accuracy(model, lines, count):
    """kind -> by rank, the fraction of entirely correct answers."""
    result = {}
    for kind in KINDS:
        result[kind] = []
        for rank in range(1, RANK + 1):
            tokens, begins = lines.make(kind, rank, count)
            wanted = targets(tokens, begins, lines.vocabulary.end_of_text)
            got = model(tokens[:, :-1]).argmax(-1)
            right = ((got == wanted) | (wanted < 0)).all(1)
            result[kind].append(right.double().mean().item())
    return result


def words(result):
    return "; ".join("%s %s" % (kind, " ".join("%.2f" % (100 * fraction) for fraction in fractions))
                     for kind, fractions in result.items())


def save(path, model, step):
    new = path.with_suffix(".new")
    torch.save({"sizes": model.sizes, "step": step, "weights": model.state_dict()}, new)
    new.rename(path)


def compiled(stepped, made, device):
    """The step compiled by PyTorch, or unchanged if that fails. Takes half a minute."""
    begin, faster = time.monotonic(), torch.compile(stepped)
    try:
        faster(*next(made)).backward()
    except Exception as error:  # any error: the unchanged step still works
        print("not compiled: %s" % str(error)[:300], flush=True)
        return stepped
    print("compiled in %.0f s" % (time.monotonic() - begin), flush=True)
    return faster


def train(asked, device):
    lines, held = Lines(device, asked.seed, False), Lines(device, asked.seed + 1, True)
    torch.manual_seed(asked.seed)
    model = Gpt2(len(lines.vocabulary.tokens), asked.context, asked.channels, asked.heads,
                 asked.layers).to(device)
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimiser = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": asked.decay}, {"params": vectors, "weight_decay": 0}],
        betas=(0.9, 0.98), fused=device == "cuda")
    loss_of = lambda logits, wanted: F.cross_entropy(
        logits.flatten(0, 1).float(), wanted.flatten(), ignore_index=-100)

    def stepped(tokens, begins):
        wanted = targets(tokens, begins, lines.vocabulary.end_of_text)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            return loss_of(model(tokens[:, :-1]), wanted)

    made = batches(lines, asked.batch)
    if asked.compile:
        stepped = compiled(stepped, made, device)
    how = {name: value for name, value in vars(asked).items() if name not in ("out", "measure")}
    print("%d parameters, %s" % (sum(p.numel() for p in model.parameters()), how), flush=True)

    begin = said = time.monotonic()
    step = 0
    while True:
        elapsed = time.monotonic() - begin
        progress = max(step / asked.steps, elapsed / asked.seconds)
        over = progress >= 1
        if over or time.monotonic() - said > asked.every:
            said = time.monotonic()
            save(asked.out / "checkpoint.pt", model, step)
            print("step %d, %.0f s, loss %.5f, held out %%: %s" % (
                step, elapsed, loss.item() if step else math.nan,
                words(accuracy(model, held, 2000))), flush=True)
        if over:
            return model
        for group in optimiser.param_groups:
            group["lr"] = asked.rate * rate(max(progress, 1e-4))
        loss = stepped(*next(made))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        step += 1


def measure(model, device):
    """The table: correct answers about held-out shapes, as trained and in Q8_0."""
    lines = Lines(device, 1000, True)
    print("as trained:  %s" % words(accuracy(model, lines, 20000)), flush=True)
    model.load_state_dict(rounded_to_q8_0(model.state_dict()))
    lines = Lines(device, 1000, True)
    print("as Q8_0:     %s" % words(accuracy(model, lines, 20000)), flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = arguments.add_argument
    add("--out", type=pathlib.Path, required=True)
    add("--measure", action="store_true", help="train nothing")
    add("--seconds", type=float, default=math.inf, help="limit; the learning rate decays by then")
    add("--steps", type=int, default=8000)
    add("--batch", type=int, default=2048)
    add("--channels", type=int, default=128)
    add("--heads", type=int, default=4)
    add("--layers", type=int, default=6)
    add("--context", type=int, default=LONGEST)
    add("--rate", type=float, default=2e-3)
    add("--decay", type=float, default=0.05)
    add("--seed", type=int, default=1)
    add("--every", type=float, default=30, help="seconds between checkpoints")
    add("--compile", action="store_true")
    asked = arguments.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if asked.measure:
        kept = torch.load(asked.out / "checkpoint.pt", map_location=device)
        model = Gpt2(**kept["sizes"]).to(device)
        model.load_state_dict(kept["weights"])
    else:
        asked.out.mkdir(parents=True, exist_ok=True)
        model = train(asked, device)
    measure(model, device)


if __name__ == "__main__":
    main()

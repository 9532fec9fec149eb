"""Golden values of PyTorch's AdamW, gradient clipping and schedule, in float64."""
import math
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests"))
from golden_numbers import answers, golden, numbers  # noqa: E402

STEPS, WARM_UP, MOST, LEAST, NORM = 6, 2, 0.5, 0.125, 2.0


def rate(step):
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    way = (step - WARM_UP) / (STEPS - WARM_UP)
    return (LEAST + (MOST - LEAST) * 0.5 * (1 + math.cos(math.pi * way))) / MOST


def lines():
    matrix = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64, requires_grad=True)
    vector = torch.tensor([0.25, -1.5, 2.0], dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.AdamW([{"params": [matrix], "weight_decay": 0.25},
                                   {"params": [vector], "weight_decay": 0}],
                                  lr=MOST, betas=(0.875, 0.96875), eps=2.0 ** -20)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
    yield "// of each step: 7 gradients, their norm, the rate, and the parameters after it"
    yield "const GoldenStep golden_steps[] = {"
    for step in range(STEPS):
        g = [((i * 5 + step * 3) % 11 - 5) / (8 if step % 2 else 2) for i in range(7)]
        matrix.grad = torch.tensor(g[:4], dtype=torch.float64)
        vector.grad = torch.tensor(g[4:], dtype=torch.float64)
        # In two steps: clip_grad_norm_ adds 1e-6 to the norm, and ours does not.
        norm = torch.linalg.vector_norm(torch.tensor(g, dtype=torch.float64))
        torch.nn.utils.clip_grad_norm_([matrix, vector], NORM)
        used = schedule.get_last_lr()[0]
        optimiser.step()
        schedule.step()
        yield "{%s, %s, %s, %s}," % (numbers(g), answers(norm)[1:-1], answers(used)[1:-1],
                                     answers(torch.cat([matrix, vector]).detach().numpy()))
    yield "};"


golden.main(lines(), __doc__, __file__, "golden_adamw.inc", "PyTorch")

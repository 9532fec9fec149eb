"""Golden gradients of each operation, from PyTorch's autograd in float64. Needs PyTorch."""
import pathlib
import sys

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests"))
from golden_numbers import NAN, answers, golden, numbers  # noqa: E402


def some(shape, factor, period=31):
    """Multiples of 1/8 in scrambled order: exact in float32."""
    count = torch.Size(shape).numel()
    x = torch.tensor([(i * factor + 3) % period / 8 - period / 16 for i in range(count)],
                     dtype=torch.float64).float().double()
    return x.reshape(shape).requires_grad_()


def values(name, kind, tensor):
    return "const std::vector<double> %s = %s;" % (name, kind(tensor.detach().numpy()))


def of(what, out, grad, inputs):
    """Lines of the inputs, the output's gradient, and the inputs' gradients."""
    out.backward(grad.detach())
    for name, x in inputs.items():
        yield values("%s_%s" % (what, name), numbers, x)
        yield values("%s_d%s" % (what, name), answers, x.grad)
    yield values("%s_grad" % what, numbers, grad)


def lines():
    x, grad = some((4, 5), 7), some((4,), 5)
    targets = torch.tensor([(i * 7 + 4) % 5 for i in range(4)])
    yield from of("cross_entropy", F.cross_entropy(x, targets, reduction="none"), grad, {"x": x})

    x, w, grad = some((3, 6), 11), some((6,), 5), some((3, 6), 13)
    b = some((6,), 3)
    out = F.layer_norm(x, (6,), w, b, eps=float(torch.tensor(1e-5, dtype=torch.float32)))
    yield from of("layer_norm", out, grad, {"x": x, "weight": w, "bias": b})

    x, w, b = some((3, 6), 11), some((6,), 5), some((6,), 3)
    out = F.rms_norm(x, (6,), w, eps=float(torch.tensor(1e-5, dtype=torch.float32))) + b
    yield from of("rms_norm", out, grad, {"x": x, "weight": w, "bias": b})

    x, gate, grad = some((2, 5), 7), some((2, 5), 11), some((2, 5), 13)
    yield from of("swiglu", F.silu(gate) * x, grad, {"x": x, "gate": gate})

    points = [0.0, -0.5, 0.5, -1.0, 1.0, -3.0, 3.0, -9.0, 9.0, -40.0, 40.0, NAN]
    grad = some((len(points),), 9)
    yield values("activation_x", numbers, torch.tensor(points, dtype=torch.float64))
    yield values("activation_grad", numbers, grad)
    for name, f in (("relu", F.relu), ("gelu_erf", F.gelu), ("silu", F.silu),
                    ("gelu_tanh", lambda t: F.gelu(t, approximate="tanh"))):
        x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
        f(x).backward(grad.detach())
        if name == "relu":  # PyTorch gives 0 at NaN; ours propagates it
            x.grad[-1] = NAN
        yield values(name + "_dx", answers, x.grad)

    x, w, b, grad = some((4, 4), 7), some((4, 4), 5), some((4,), 3), some((4, 4), 11)
    yield from of("linear", x @ w + b, grad, {"x": x, "weight": w, "bias": b})

    shape = (1, 2, 4, 3)
    q, k, v, grad = some(shape, 7), some(shape, 5), some(shape, 11), some(shape, 13)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    yield from of("attention", out, grad, {"q": q, "k": k, "v": v})

    table, grad = some((4, 2), 7), some((6, 2), 5)
    out = F.embedding(torch.tensor([2, 0, 2, 2, 1, 0]), table)
    yield from of("embedding", out, grad, {"tokens": table})


golden.main(lines(), __doc__, __file__, "golden_operations.inc", "PyTorch")

"""What PyTorch calls the operations of Day 01. common/bench/torch_peer.py measures them."""


def floats(torch, dtype, shape, count):
    return [torch.rand(shape, dtype=dtype, device="cuda") for _ in range(count)]


def add(torch, dtype, shape):
    a, b, out = floats(torch, dtype, shape, 3)
    return lambda: torch.add(a, b, out=out)


def square(torch, dtype, shape):
    x, out = floats(torch, dtype, shape, 2)
    return lambda: torch.mul(x, x, out=out)


def scale(torch, dtype, shape):
    x, out = floats(torch, dtype, shape, 2)
    return lambda: torch.mul(x, 3.0, out=out)


def saxpy(torch, dtype, shape):
    x, y, out = floats(torch, dtype, shape, 3)
    return lambda: torch.add(y, x, alpha=3.0, out=out)


def invert(torch, dtype, shape):
    x = torch.randint(0, 256, shape, dtype=dtype, device="cuda")
    out = torch.empty_like(x)
    return lambda: torch.bitwise_not(x, out=out)


PEERS = {
    "add": ("torch.add", add),
    "square": ("torch.mul", square),
    "scale": ("torch.mul", scale),
    "saxpy": ("torch.add", saxpy),
    "invert": ("torch.bitwise_not", invert),
}

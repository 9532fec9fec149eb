"""What PyTorch calls the operations of Day 03. common/bench/torch_peer.py measures them."""


def random(torch, dtype, shape):
    if dtype == torch.uint8:
        return torch.randint(0, 256, shape, dtype=dtype, device="cuda")
    return torch.rand(shape, dtype=torch.float32, device="cuda").to(dtype)


def transpose(torch, dtype, shape):
    x = random(torch, dtype, shape)
    out = torch.empty((shape[1], shape[0]), dtype=dtype, device="cuda")
    return lambda: out.copy_(x.t())


def copy_of(view_of):
    """A copy of view_of(random, shape) to a contiguous tensor of `shape`."""
    def make(torch, dtype, shape):
        view = view_of(lambda *of: random(torch, dtype, of), shape)
        assert tuple(view.shape) == tuple(shape)
        out = torch.empty(shape, dtype=dtype, device="cuda")
        return lambda: out.copy_(view)
    return make


def permuted(*order):
    """Of a contiguous tensor: dim d of the view is dim order[d] of it."""
    def view_of(random_of, shape):
        extents = [0] * len(shape)
        for d, extent in zip(order, shape):
            extents[d] = extent
        return random_of(*extents).permute(*order)
    return copy_of(view_of)


def columns(begin, end, of):
    return copy_of(lambda random_of, shape: random_of(shape[0], of)[:, begin:end])


def add_bias(torch, dtype, shape, bias_shape):
    x, bias = random(torch, dtype, shape), random(torch, dtype, bias_shape)
    out = torch.empty_like(x)
    return lambda: torch.add(x, bias, out=out)


COPIES = {  # PyTorch has no negative strides, so a flip has no peer
    "contiguous": permuted(0, 1),
    "heads": permuted(0, 2, 1, 3),
    "heads back": permuted(0, 2, 1, 3),
    "half of the columns": columns(1024, 5120, 8192),
    "columns, unaligned": columns(1001, 5002, 8192),
    "a row repeated": copy_of(lambda random_of, shape: random_of(1, shape[1]).expand(shape)),
    "a column repeated": copy_of(lambda random_of, shape: random_of(shape[0], 1).expand(shape)),
    "one value": copy_of(lambda random_of, shape: random_of(1, 1).expand(shape)),
    "transpose": permuted(1, 0),
    "transpose of heads": permuted(0, 1, 3, 2),
    "channels last": permuted(1, 2, 3, 0),
    "channels first": permuted(0, 2, 1),
    "7 columns, transposed": permuted(1, 0),
    "17 columns, transposed": permuted(1, 0),
    "17 rows, transposed": permuted(1, 0),
    "every other column": copy_of(
        lambda random_of, shape: random_of(shape[0], 2 * shape[1])[:, ::2]),
}

PEERS = {
    "transpose": ("torch copy_(x.t())", transpose),
    "add, a bias to every row": (
        "torch.add", lambda torch, dtype, shape: add_bias(torch, dtype, shape, (shape[1],))),
    "add, a bias to every column": (
        "torch.add", lambda torch, dtype, shape: add_bias(torch, dtype, shape, (shape[0], 1))),
}
PEERS.update({f"copy, {name}": ("torch copy_", make) for name, make in COPIES.items()})

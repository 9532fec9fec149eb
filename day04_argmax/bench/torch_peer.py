"""What PyTorch calls the operations of Day 04. common/bench/torch_peer.py measures them."""


def over(dim, call):
    """call(torch, x, dim, out) on random x; `out` is made by a first call."""
    def make(torch, dtype, shape):
        x = torch.rand(shape, dtype=dtype, device="cuda") * 2 - 1
        out = call(torch, x, dim, None)
        return lambda: call(torch, x, dim, out)
    return make


def argmax(torch, x, dim, out):
    return torch.argmax(x, dim) if out is None else torch.argmax(x, dim, out=out)


def total(torch, x, dim, out):
    return torch.sum(x, dim) if out is None else torch.sum(x, dim, out=out)


def mean(torch, x, dim, out):
    return torch.mean(x, dim) if out is None else torch.mean(x, dim, out=out)


PEERS = {f"{name}, dim {dim}": (f"torch.{name}", over(dim, call))
         for name, call in (("argmax", argmax), ("sum", total), ("mean", mean))
         for dim in range(4)}
PEERS["argmax"] = PEERS["argmax, dim 1"]  # the ladder

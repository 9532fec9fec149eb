"""What PyTorch calls the operations of Day 05. common/bench/torch_peer.py measures them, where a row
has no peer yet: products have cuBLAS in the same run, if the toolkit has it."""


def random(torch, dtype, *shape):
    return torch.rand(shape, dtype=dtype, device="cuda") * 2 - 1


def product(a_transposed=False, b_transposed=False):
    """a (M, K) times b (K, N), each perhaps the transpose of what lies in memory."""
    def make(torch, dtype, shape):
        M, N, K = shape
        a = random(torch, dtype, K, M).t() if a_transposed else random(torch, dtype, M, K)
        b = random(torch, dtype, N, K).t() if b_transposed else random(torch, dtype, K, N)
        out = torch.empty((M, N), dtype=dtype, device="cuda")
        return lambda: torch.mm(a, b, out=out)  # floats stay floats: TF32 is off unless asked for
    return make


def linear(torch, dtype, shape):
    """Weights stored (N, K), a bias, ReLU in place."""
    M, N, K = shape
    x, w, bias = random(torch, dtype, M, K), random(torch, dtype, N, K), random(torch, dtype, N)
    out = torch.empty((M, N), dtype=dtype, device="cuda")
    return lambda: torch.addmm(bias, x, w.t(), out=out).relu_()


PEERS = {op: ("torch.mm", product()) for op in
         ("matmul", "matmul, squares", "matmul, awkward", "matmul, weights")}
PEERS |= {op: ("torch.mm", product(b_transposed=True)) for op in
          ("matmul, b transposed", "matmul, b transposed, two steps", "matmul, logits",
           "matmul, weights (N, K)")}
PEERS["matmul, a transposed"] = ("torch.mm", product(a_transposed=True))
PEERS["linear, bias and ReLU"] = ("torch.addmm, relu_", linear)

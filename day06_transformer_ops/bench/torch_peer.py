"""PyTorch's functions for the operations of Day 06. common/bench/torch_peer.py measures them."""


def with_input(call):
    def make(torch, dtype, shape):
        x = (torch.rand(shape, dtype=torch.float32, device="cuda") * 12 - 6).to(dtype)
        return call(torch, x)
    return make


compiled_once = {}  # one function for all sets of buffers


def compiled(torch, name, function):
    if name not in compiled_once:
        compiled_once[name] = torch.compile(function, dynamic=False)
    return compiled_once[name]


def causal_softmax(torch, x):
    ahead = torch.ones(x.shape[-2:], dtype=torch.bool, device="cuda").triu(1)
    run = compiled(torch, "causal softmax",
                   lambda x, ahead: torch.softmax(x.masked_fill(ahead, -torch.inf), -1))
    return lambda: run(x, ahead)


def masked_softmax(torch, x):
    hidden = torch.rand(x.shape[-2:], device="cuda") < 1 / 3
    run = compiled(torch, "masked softmax",
                   lambda x, hidden: torch.softmax(x.masked_fill(hidden, -torch.inf), -1))
    return lambda: run(x, hidden)


def cross_entropy(torch, x):
    targets = torch.randint(0, x.shape[1], (x.shape[0],), device="cuda")
    loss = torch.nn.functional.cross_entropy
    return lambda: loss(x, targets, reduction="none")


def biased_gelu(torch, x):
    bias = torch.rand(x.shape[-1:], device="cuda").to(x.dtype)
    run = compiled(torch, "bias, gelu",
                   lambda x, b: torch.nn.functional.gelu(x + b, approximate="tanh"))
    return lambda: run(x, bias)


def bias(torch, x):
    b, out = torch.rand(x.shape[-1:], device="cuda").to(x.dtype), torch.empty_like(x)
    return lambda: torch.add(x, b, out=out)


def residual(torch, x):
    other, out = torch.rand_like(x), torch.empty_like(x)
    return lambda: torch.add(x, other, out=out)


def softmax(torch, x):
    return lambda: torch.softmax(x, -1)


def layer_norm(torch, x):
    w, b = (torch.rand(x.shape[-1:], device="cuda").to(x.dtype) for _ in range(2))
    return lambda: torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)


def rms_norm(torch, x):
    w = torch.rand(x.shape[-1:], device="cuda").to(x.dtype)
    return lambda: torch.nn.functional.rms_norm(x, x.shape[-1:], w)


def embedding(torch, dtype, shape):
    table = torch.rand((50257, shape[1]), dtype=dtype, device="cuda")
    positions = torch.rand((1024, shape[1]), dtype=dtype, device="cuda")
    ids = torch.randint(0, 50257, (shape[0],), device="cuda")
    at = torch.arange(shape[0], device="cuda") % 1024
    embed = torch.nn.functional.embedding
    return lambda: embed(ids, table) + embed(at, positions)


def attention(torch, dtype, shape, queries=None):
    B, H, S, D = shape
    q = torch.randn((B, H, queries or S, D), dtype=dtype, device="cuda")
    k, v = (torch.randn(shape, dtype=dtype, device="cuda") for _ in range(2))
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda: attend(q, k, v, is_causal=queries is None)


def decode(torch, dtype, shape):
    return attention(torch, dtype, shape, queries=1)


def attention_by(backend):
    def make(torch, dtype, shape):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        run = attention(torch, dtype, shape)

        def by_backend():
            with sdpa_kernel(getattr(SDPBackend, backend)):
                run()
        return by_backend
    return make


def functional(name, **options):
    return with_input(
        lambda torch, x: lambda: getattr(torch.nn.functional, name)(x, **options))


PEERS = {
    "softmax": ("torch.softmax", with_input(softmax)),
    "log softmax": ("torch log_softmax", functional("log_softmax", dim=-1)),
    "masked softmax": ("torch.compile masked softmax", with_input(masked_softmax)),
    "cross entropy": ("torch cross_entropy", with_input(cross_entropy)),
    "causal softmax": ("torch.compile masked softmax", with_input(causal_softmax)),
    "bias, gelu_tanh": ("torch.compile bias + gelu", with_input(biased_gelu)),
    "bias": ("torch.add", with_input(bias)),
    "residual": ("torch.add", with_input(residual)),
    "layer norm": ("torch layer_norm", with_input(layer_norm)),
    "RMS norm": ("torch rms_norm", with_input(rms_norm)),
    "relu": ("torch relu", functional("relu")),
    "gelu_erf": ("torch gelu", functional("gelu")),
    "gelu_tanh": ("torch gelu tanh", functional("gelu", approximate="tanh")),
    "silu": ("torch silu", functional("silu")),
    "attention": ("torch sdpa", attention),
    "attention_bf16": ("torch sdpa, FlashAttention 2", attention_by("FLASH_ATTENTION")),
    "attention_bf16 beside cuDNN": ("torch sdpa, cuDNN", attention_by("CUDNN_ATTENTION")),
    "decode attention": ("torch sdpa", decode),
    "embedding": ("torch embedding, twice, add", embedding),
}

"""What PyTorch calls the operations of Day 02. common/bench/torch_peer.py measures them."""


def pack(torch, dtype, shape):
    """(B, H, T, D) out of (B, T, H, D)."""
    B, H, T, D = shape
    x = torch.rand((B, T, H, D), dtype=dtype, device="cuda").permute(0, 2, 1, 3)
    out = torch.empty(shape, dtype=dtype, device="cuda")
    return lambda: out.copy_(x)


def matrix(room_in, room_out):
    """Rows with so many elements of room after them."""

    def copy(torch, dtype, shape):
        M, K = shape
        x = torch.rand((M, K + room_in), dtype=dtype, device="cuda")[:, :K]
        out = torch.empty((M, K + room_out), dtype=dtype, device="cuda")[:, :K]
        return lambda: out.copy_(x)

    return copy


PEERS = {
    "pack": ("torch.copy_", pack),
    "pack_contiguous": ("torch.copy_", matrix(0, 0)),
    "pack_pitched": ("torch.copy_", matrix(32, 0)),
    "pack_odd_pitch": ("torch.copy_", matrix(1, 0)),
    "pitched": ("torch.copy_", matrix(32, 64)),
    "pitched_odd": ("torch.copy_", matrix(1, 32)),
}

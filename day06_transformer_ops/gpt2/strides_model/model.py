"""GPT-2 in PyTorch, small: learned positions, pre-norm, tanh GELU, tied head."""
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, channels, heads):
        super().__init__()
        self.heads = heads
        self.attn_norm = nn.LayerNorm(channels)
        self.attn_qkv = nn.Linear(channels, 3 * channels)
        self.attn_output = nn.Linear(channels, channels)
        self.ffn_norm = nn.LayerNorm(channels)
        self.ffn_up = nn.Linear(channels, 4 * channels)
        self.ffn_down = nn.Linear(4 * channels, channels)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.attn_qkv(self.attn_norm(x)).view(B, T, 3, self.heads, -1).unbind(2)
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn_output(seen.transpose(1, 2).reshape(B, T, C))
        wide = F.gelu(self.ffn_up(self.ffn_norm(x)), approximate="tanh")
        return x + self.ffn_down(wide)


class Gpt2(nn.Module):
    """Parameters have llama.cpp's names in a file."""

    def __init__(self, vocabulary, context, channels, heads, layers):
        super().__init__()
        self.sizes = {"vocabulary": vocabulary, "context": context, "channels": channels,
                      "heads": heads, "layers": layers}
        self.token_embd = nn.Embedding(vocabulary, channels)
        self.position_embd = nn.Embedding(context, channels)
        self.blk = nn.ModuleList(Block(channels, heads) for _ in range(layers))
        self.output_norm = nn.LayerNorm(channels)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                deep = name.endswith(("attn_output.weight", "ffn_down.weight"))
                nn.init.normal_(parameter, std=0.02 / ((2 * layers) ** 0.5 if deep else 1))
            elif name.endswith(".bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens):
        x = self.token_embd(tokens) + self.position_embd.weight[:tokens.shape[1]]
        for block in self.blk:
            x = block(x)
        return F.linear(self.output_norm(x), self.token_embd.weight)


def is_matrix(name):
    """Is it stored in the file's type? Positions and vectors stay float32."""
    return name.endswith(".weight") and "norm" not in name and "position" not in name


def rounded_to_q8_0(weights):
    """name -> tensor, matrices as read back from Q8_0: 32 neighbours share a scale."""
    result = {}
    for name, weight in weights.items():
        if is_matrix(name):
            blocks = weight.float().reshape(-1, 32)
            scale = blocks.abs().amax(1, keepdim=True) / 127
            quants = torch.where(scale > 0, (blocks / scale).round(), torch.zeros_like(blocks))
            weight = (quants * scale.half().float()).reshape(weight.shape)
        result[name] = weight
    return result

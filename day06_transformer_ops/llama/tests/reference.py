"""Models of the Llama family with random weights, and their results from Hugging Face transformers.

An engine must give the same logits from the same file. Each model has what the others lack:

    llama     shared key and value heads, tied head; weights of five types
    llama31   a separate head, and Llama 3.1's divisors of the rotary frequencies
    linear    linear scaling of positions, and biases of queries, keys and values
    qwen2     biases; rotates the halves of a head, not neighbours
    qwen3     norms of each head's query and key; heads * head_dim differs from the channels

llama and qwen3 have a tokenizer, so the command can open them.

    reference.py             writes <model>.gguf of each, and expected.gguf
    reference.py --check     exit status 1 if they differ from what it would write
    reference.py --greedy z  the bytes, in hex, of "z" and the next 12 tokens of llama

transformers computes in double, but for its norms and rotary angles, which are float32. Needs
NumPy, PyTorch, transformers 5 and PyPI's gguf, on purpose not our own code.
"""
import argparse
import math
import pathlib
import sys
import tempfile
import types

import gguf
import numpy as np
import torch
import transformers

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "gpt2" / "tests"))
from gpt2_merges import END_OF_TEXT, letters, vocabulary  # noqa: E402
from reference import BF16, F16, F32, Q4_K, Q8_0, same, uniform, write_expected  # noqa: E402

MERGES = 43  # of GPT-2's 50,000
CONTEXT, POSITIONS, CHANNELS, EPSILON = 64, 12, 32, 1e-5
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
LINEAR = {"rope_type": "linear", "factor": 4.0}
# One file with every type in it, unlike any real one.
MIXED = {"token_embd": Q8_0, "attn_q": F16, "attn_k": BF16, "attn_v": Q8_0, "ffn_gate": Q8_0,
         "ffn_up": Q8_0, "ffn_down": Q4_K}


def model(name, architecture, layers, heads, kv_heads, head_dim, **more):
    options = dict(vocabulary=40, hidden=64, base=10000.0, scaling={"rope_type": "default"}, head=False,
                   bias=False, head_norms=False, mixed=False, tokenizer=False)
    options.update(more)
    return types.SimpleNamespace(name=name, architecture=architecture, layers=layers, heads=heads,
                                 kv_heads=kv_heads, head_dim=head_dim, **options)


MODELS = [
    model("llama", "llama", 2, 4, 2, 8, vocabulary=256 + MERGES + 1, hidden=256, mixed=True,
          tokenizer=True),
    model("llama31", "llama", 1, 2, 1, 16, base=5000.0, scaling=LLAMA3, head=True),
    model("linear", "llama", 1, 4, 4, 8, scaling=LINEAR, bias=True),
    model("qwen2", "qwen2", 1, 4, 1, 8, base=1e5, bias=True, head=True),
    model("qwen3", "qwen3", 1, 4, 2, 16, base=1e6, head_norms=True, vocabulary=256 + MERGES + 1,
          tokenizer=True),
]


def shapes(m):
    queries, keys = m.heads * m.head_dim, m.kv_heads * m.head_dim
    yield "token_embd.weight", (m.vocabulary, CHANNELS)
    for layer in range(m.layers):
        blk = "blk.%d." % layer
        yield blk + "attn_norm.weight", (CHANNELS,)
        for name, rows in [("attn_q", queries), ("attn_k", keys), ("attn_v", keys)]:
            yield blk + name + ".weight", (rows, CHANNELS)
            if m.bias:
                yield blk + name + ".bias", (rows,)
        if m.head_norms:
            yield blk + "attn_q_norm.weight", (m.head_dim,)
            yield blk + "attn_k_norm.weight", (m.head_dim,)
        yield blk + "attn_output.weight", (CHANNELS, queries)
        yield blk + "ffn_norm.weight", (CHANNELS,)
        yield blk + "ffn_gate.weight", (m.hidden, CHANNELS)
        yield blk + "ffn_up.weight", (m.hidden, CHANNELS)
        yield blk + "ffn_down.weight", (CHANNELS, m.hidden)
    yield "output_norm.weight", (CHANNELS,)
    if m.head:
        yield "output.weight", (m.vocabulary, CHANNELS)


def weights(m):
    """name -> float32 array, random."""
    for number, (name, shape) in enumerate(shapes(m)):
        array = uniform(1000 * (1 + MODELS.index(m)) + number, int(np.prod(shape))).reshape(shape)
        if len(shape) == 2:
            array *= np.float32(3 / np.sqrt(shape[1]))  # sums as large as the inputs
        elif name.endswith("norm.weight"):
            array = np.float32(1) + array / 2
        yield name, array


def rope_freqs(m):
    """As convert_hf_to_gguf.py of llama.cpp computes them (LlamaModel.generate_extra_tensors)."""
    scaling = m.scaling
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    old = scaling["original_max_position_embeddings"]
    factors = []
    for i in range(0, m.head_dim, 2):
        wavelength = 2 * math.pi * m.base ** (i / m.head_dim)
        if wavelength < old / high:
            factors.append(1)
        elif wavelength > old / low:
            factors.append(scaling["factor"])
        else:
            smooth = (old / wavelength - low) / (high - low)
            factors.append(1 / ((1 - smooth) / scaling["factor"] + smooth))
    return np.array(factors, np.float32)


def add_tokenizer(writer):
    tokens, merges = vocabulary()
    tokens = tokens[:256 + MERGES] + [END_OF_TEXT]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (len(tokens) - 1) + [3])
    writer.add_token_merges(["%s %s" % merge for merge in merges[:MERGES]])
    writer.add_bos_token_id(len(tokens) - 1)
    writer.add_eos_token_id(len(tokens) - 1)


def quantized(array, kind, seed):
    """The array as blocks of this type; in Q4_K, which gguf only decodes, random blocks."""
    if kind != Q4_K:
        return gguf.quants.quantize(array, kind)
    count, size = array.size // 256, gguf.GGML_QUANT_SIZES[kind][1]
    blocks = ((uniform(seed, count * size) + 1) * 128).astype(np.uint8).reshape(count, size)
    scales = np.array([5e-4, 5e-4 * 7.5], np.float16)  # of quants from 0 to 15, and of minima
    blocks[:, :4] = scales.view(np.uint8)
    return blocks.reshape(array.shape[0], -1)


def write(path, m):
    """Writes the file and returns the weights as stored in the file, rounded to its types."""
    writer = gguf.GGUFWriter(path, m.architecture)
    writer.add_name("random weights, %s" % m.name)
    writer.add_block_count(m.layers)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(CHANNELS)
    writer.add_feed_forward_length(m.hidden)
    writer.add_head_count(m.heads)
    writer.add_head_count_kv(m.kv_heads)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_rope_freq_base(m.base)
    writer.add_rope_dimension_count(m.head_dim)
    writer.add_vocab_size(m.vocabulary)
    if m.heads * m.head_dim != CHANNELS:
        writer.add_key_length(m.head_dim)
        writer.add_value_length(m.head_dim)
    if m.scaling["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(m.scaling["factor"])
    if m.tokenizer:
        add_tokenizer(writer)
    if m.scaling["rope_type"] == "llama3":
        writer.add_tensor("rope_freqs.weight", rope_freqs(m))
    stored = {}
    for name, array in weights(m):
        kind = F32
        if array.ndim == 2:
            kind = MIXED.get(name.split(".")[-2], F32) if m.mixed else Q8_0
        blocks = quantized(array, kind, 9000 + len(stored))
        writer.add_tensor(name, blocks, raw_dtype=kind)
        stored[name] = gguf.quants.dequantize(blocks, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return stored


def unpermuted(array, heads):
    """Undoes convert_hf_to_gguf.py's LlamaModel.permute: rows 0, D/2, 1, D/2 + 1, ... of a head."""
    shape = array.shape
    return array.reshape(heads, shape[0] // heads // 2, 2, *shape[1:]).swapaxes(1, 2).reshape(shape)


THEIRS = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj",
          "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
          "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
          "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
          "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}


def state_dict(m, stored):
    """The weights under transformers' names, with the rows of queries and keys in its order."""
    state = {}
    for name, array in stored.items():
        if m.architecture == "llama" and ("attn_q." in name or "attn_k." in name):
            array = unpermuted(array, m.heads if "attn_q." in name else m.kv_heads)
        part, kind = name.split(".")[-2:]
        if name.startswith("blk."):
            name = "model.layers.%s.%s.%s" % (name.split(".")[1], THEIRS[part], kind)
        else:
            name = {"token_embd": "model.embed_tokens.weight", "output": "lm_head.weight",
                    "output_norm": "model.norm.weight"}[part]
        state[name] = torch.from_numpy(array.astype(np.float64))
    state.setdefault("lm_head.weight", state["model.embed_tokens.weight"])
    if m.architecture == "llama" and m.bias:  # theirs has one more, which no GGUF stores
        for layer in range(m.layers):
            state["model.layers.%d.self_attn.o_proj.bias" % layer] = torch.zeros(CHANNELS)
    return state


def theirs(m, stored):
    """A model of transformers with these weights."""
    config, build = {
        "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
        "qwen2": (transformers.Qwen2Config, transformers.Qwen2ForCausalLM),
        "qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM)}[m.architecture]
    more = {"attention_bias": m.bias} if m.architecture == "llama" else {}
    made = build(config(
        vocab_size=m.vocabulary, hidden_size=CHANNELS, intermediate_size=m.hidden,
        num_hidden_layers=m.layers, num_attention_heads=m.heads, num_key_value_heads=m.kv_heads,
        head_dim=m.head_dim, max_position_embeddings=CONTEXT, rms_norm_eps=EPSILON,
        tie_word_embeddings=not m.head, attn_implementation="sdpa",
        rope_parameters={"rope_theta": m.base, **m.scaling}, **more)).double().eval()
    made.load_state_dict(state_dict(m, stored))
    return made


def logits_of(made, tokens):
    """One row per position, in double."""
    with torch.no_grad():
        return made(torch.tensor([list(tokens)]), use_cache=False).logits[0].numpy()


def write_fixtures(folder):
    files = []
    for m in MODELS:
        made = theirs(m, write(folder / (m.name + ".gguf"), m))
        tokens = ((uniform(1000, POSITIONS) + 1) / 2 * m.vocabulary).astype(np.int64)
        logits = logits_of(made, tokens)
        files.append((m.name, tokens, [], logits))
        gap = np.sort(logits, axis=1)[:, -2:]
        print("%s: logits from %.3f to %.3f, best and second at least %.5f apart"
              % (m.name, logits.min(), logits.max(), (gap[:, 1] - gap[:, 0]).min()))
    write_expected(folder / "expected.gguf", files)


def show_greedy(start):
    tokens, _ = vocabulary()
    byte_of = {letter: byte for byte, letter in letters().items()}
    with tempfile.TemporaryDirectory() as folder:
        made = theirs(MODELS[0], write(pathlib.Path(folder) / "model", MODELS[0]))
    ids = [tokens.index(start)]
    for _ in range(12):
        ids.append(int(logits_of(made, ids)[-1].argmax()))
    print(bytes(byte_of[letter] for id in ids for letter in tokens[id]).hex())


def check():
    with tempfile.TemporaryDirectory() as folder:
        write_fixtures(pathlib.Path(folder))
        for name in [m.name for m in MODELS] + ["expected"]:
            if not same(pathlib.Path(folder) / (name + ".gguf"), HERE / (name + ".gguf")):
                sys.exit("%s.gguf is not what reference.py writes today" % name)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments.add_argument("--greedy", help="a text of one letter")
    asked = arguments.parse_args()
    if asked.greedy:
        show_greedy(asked.greedy)
    elif asked.check:
        check()
    else:
        write_fixtures(HERE)


if __name__ == "__main__":
    main()

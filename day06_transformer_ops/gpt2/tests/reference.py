"""GPT-2 files with random weights, and their results from a GPT-2 in NumPy (double precision).

An engine must give the same logits from the same file. The weights are random but large enough that
every part matters: attention is not uniform, no bias is 0, no layer norm is the identity.

    reference.py             writes tiny.gguf, tiny_head.gguf, tiny_expected.gguf, blocks.gguf and
                             split-0000N-of-00003.gguf, which is tiny.gguf in three parts
    reference.py --check     exit status 1 if they differ from what it would write
    reference.py --greedy z  the bytes, in hex, of "z" and each tiny model's next 16 tokens
    reference.py --size 124M --type q8_0 --out F [--logits L]
                             GPT-2's true shapes (--type f32 or f16 too); logits of 256 tokens

Needs NumPy and PyPI's gguf, on purpose not our own code.
"""
import argparse
import filecmp
import pathlib
import sys
import tempfile

import gguf
import numpy as np

from gpt2_merges import END_OF_TEXT, letters, vocabulary

HERE = pathlib.Path(__file__).parent
EPSILON = 1e-5
F32, F16 = gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16
BF16, Q8_0 = gguf.GGMLQuantizationType.BF16, gguf.GGMLQuantizationType.Q8_0

# layers, heads, channels, context, merges of GPT-2's 50,000
SIZES = {"tiny": (2, 2, 32, 24, 43), "124M": (12, 12, 768, 1024, 50000)}
# One file with every type in it, unlike any real one; the other plain, with a separate head.
MIXED = {"token_embd": Q8_0, "attn_qkv": F16, "attn_output": BF16, "ffn_up": Q8_0}

Q4_0, Q4_K = gguf.GGMLQuantizationType.Q4_0, gguf.GGMLQuantizationType.Q4_K
Q5_0, Q5_K = gguf.GGMLQuantizationType.Q5_0, gguf.GGMLQuantizationType.Q5_K
Q6_K = gguf.GGMLQuantizationType.Q6_K
# What blocks.gguf has, and where their blocks have numbers in F16.
DECODED = [F16, Q4_0, Q8_0, Q4_K, Q6_K, BF16, Q5_0, Q5_K]
SCALES_AT = {Q4_0: [0], Q5_0: [0], Q8_0: [0], Q4_K: [0, 2], Q5_K: [0, 2], Q6_K: [208]}

FIXTURES = [("tiny", None, False), ("tiny_head", F32, True)]  # name, type, separate head


def uniform(seed, count):
    """splitmix64: the same numbers with every version of NumPy, in [-1, 1)."""
    with np.errstate(over="ignore"):
        x = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x += np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return (x >> np.uint64(40)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)


def shapes(size, head):
    layers, _, channels, context, merges = SIZES[size]
    yield "token_embd.weight", (256 + merges + 1, channels)
    yield "position_embd.weight", (context, channels)
    for layer in range(layers):
        blk = "blk.%d." % layer
        for name, shape in [
                ("attn_norm", (channels,)), ("attn_qkv", (3 * channels, channels)),
                ("attn_output", (channels, channels)), ("ffn_norm", (channels,)),
                ("ffn_up", (4 * channels, channels)), ("ffn_down", (channels, 4 * channels))]:
            yield blk + name + ".weight", shape
            yield blk + name + ".bias", shape[:1]
    yield "output_norm.weight", (channels,)
    yield "output_norm.bias", (channels,)
    if head:
        yield "output.weight", (256 + merges + 1, channels)


def weights(size, head):
    """name -> float32 array, random."""
    for number, (name, shape) in enumerate(shapes(size, head)):
        array = uniform(number + 1, int(np.prod(shape))).reshape(shape)
        if len(shape) == 2 and "embd" not in name:
            array *= np.float32(3 / np.sqrt(shape[1]))  # sums as large as the inputs
        elif name.endswith("norm.weight"):
            array = np.float32(1) + array / 2
        else:
            array /= 2
        yield name, array


def write(path, size, kind, head=False, most=0):
    """Writes the file and returns the weights as stored in the file, rounded to its types. Parts of
    `most` tensors if it is not 0."""
    layers, heads, channels, context, merge_count = SIZES[size]
    writer = gguf.GGUFWriter(path, "gpt2", split_max_tensors=most)
    writer.add_name("random weights, %s" % size)
    writer.add_block_count(layers)
    writer.add_context_length(context)
    writer.add_embedding_length(channels)
    writer.add_feed_forward_length(4 * channels)
    writer.add_head_count(heads)
    writer.add_layer_norm_eps(EPSILON)
    tokens, merges = vocabulary()
    tokens = tokens[:256 + merge_count] + [END_OF_TEXT]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (len(tokens) - 1) + [3])
    writer.add_token_merges(["%s %s" % merge for merge in merges[:merge_count]])
    writer.add_bos_token_id(len(tokens) - 1)
    writer.add_eos_token_id(len(tokens) - 1)
    stored = {}
    for name, array in weights(size, head):
        part = name.split(".")[-2]
        type = kind if kind is not None else MIXED.get(part, F32)
        if array.ndim == 1 or part == "position_embd":
            type = F32
        blocks = gguf.quants.quantize(array, type)
        writer.add_tensor(name, blocks, raw_dtype=type)
        stored[name] = gguf.quants.dequantize(blocks, type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return stored


def norm(x, w, name):
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + EPSILON)
    return scaled * w[name + ".weight"] + w[name + ".bias"]


def linear(x, w, name):
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def gelu(x):
    """The tanh form, which GPT-2 was trained with."""
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def attention(qkv, heads):
    positions, channels = qkv.shape[0], qkv.shape[1] // 3
    q, k, v = (part.reshape(positions, heads, -1).transpose(1, 0, 2)
               for part in np.split(qkv, 3, axis=1))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(channels // heads)
    later = np.triu(np.ones((positions, positions), bool), 1)
    scores = np.where(later, -np.inf, scores)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    out = scores / scores.sum(-1, keepdims=True) @ v
    return out.transpose(1, 0, 2).reshape(positions, channels)


def forward(stored, size, tokens, number=np.float64):
    """(outputs of the embedding and each block, logits), one row per position."""
    layers, heads = SIZES[size][:2]
    w = {name: array.astype(number) for name, array in stored.items()}
    x = w["token_embd.weight"][tokens] + w["position_embd.weight"][:len(tokens)]
    passed = [x]
    for layer in range(layers):
        blk = "blk.%d." % layer
        qkv = linear(norm(x, w, blk + "attn_norm"), w, blk + "attn_qkv")
        x = x + linear(attention(qkv, heads), w, blk + "attn_output")
        x = x + linear(gelu(linear(norm(x, w, blk + "ffn_norm"), w, blk + "ffn_up")), w,
                       blk + "ffn_down")
        passed.append(x)
    head = w.get("output.weight", w["token_embd.weight"])
    return passed, norm(x, w, "output_norm") @ head.T


def write_expected(path, files):
    """Writes a GGUF file too, so that the engine's tests need no other reader."""
    writer = gguf.GGUFWriter(path, "expected")
    for name, tokens, passed, logits in files:
        writer.add_array(name + ".tokens", [int(t) for t in tokens])
        for number, x in enumerate(passed):
            writer.add_tensor("%s.passed.%d" % (name, number), x.astype(np.float32))
        writer.add_tensor(name + ".logits", logits.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def some_tokens(size, count):
    tokens = 256 + SIZES[size][4] + 1
    return ((uniform(1000, count) + 1) / 2 * tokens).astype(np.int64)


def write_blocks(path):
    """Random bytes as each type, and the floats that gguf decodes them to."""
    writer = gguf.GGUFWriter(path, "blocks")
    for number, type in enumerate(DECODED):
        elements, size = gguf.GGML_QUANT_SIZES[type]
        count = 1024 // elements
        blocks = ((uniform(2000 + number, count * size) + 1) * 128).astype(np.uint8)
        blocks = blocks.reshape(count, size)
        for at in SCALES_AT.get(type, []):  # the smallest f16 there is, and infinity
            blocks[0, at:at + 2] = [1, 128]
            blocks[-1, at:at + 2] = [0, 124]
        rows = blocks.reshape(2, -1)
        with np.errstate(invalid="ignore"):
            floats = gguf.quants.dequantize(rows, type)
        writer.add_tensor(type.name, rows, raw_dtype=type)
        writer.add_tensor(type.name + ".floats", floats)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_fixtures(folder):
    tokens = some_tokens("tiny", SIZES["tiny"][3])
    files = []
    for name, kind, head in FIXTURES:
        stored = write(folder / (name + ".gguf"), "tiny", kind, head)
        passed, logits = forward(stored, "tiny", tokens)
        files.append((name, tokens, passed, logits))
        gap = np.sort(logits, axis=1)[:, -2:]
        print("%s: logits from %.3f to %.3f, best and second at least %.5f apart"
              % (name, logits.min(), logits.max(), (gap[:, 1] - gap[:, 0]).min()))
    write_expected(folder / "tiny_expected.gguf", files)
    write_blocks(folder / "blocks.gguf")
    write(folder / "split.gguf", "tiny", None, most=12)


def show_greedy(start):
    tokens, _ = vocabulary()
    byte_of = {letter: byte for byte, letter in letters().items()}
    for name, kind, head in FIXTURES:
        with tempfile.TemporaryDirectory() as folder:
            stored = write(pathlib.Path(folder) / name, "tiny", kind, head)
        ids = [tokens.index(start)]
        for _ in range(16):
            ids.append(int(forward(stored, "tiny", np.array(ids))[1][-1].argmax()))
        print(name, bytes(byte_of[letter] for id in ids for letter in tokens[id]).hex())


def check():
    with tempfile.TemporaryDirectory() as folder:
        write_fixtures(pathlib.Path(folder))
        for name in ["tiny.gguf", "tiny_head.gguf", "tiny_expected.gguf", "blocks.gguf",
                     *("split-0000%d-of-00003.gguf" % (n + 1) for n in range(3))]:
            if not same(pathlib.Path(folder) / name, HERE / name):
                sys.exit("%s is not what reference.py writes today" % name)


def same(a, b):
    """Keys and weights bit by bit; expected numbers up to the rounding of other NumPy versions."""
    if filecmp.cmp(a, b, shallow=False):
        return True
    one, other = gguf.GGUFReader(a), gguf.GGUFReader(b)
    if "expected" not in a.name or list(one.fields) != list(other.fields):
        return False
    return all(x.name == y.name and np.abs(x.data - y.data).max() <= 1e-5 * np.abs(x.data).max()
               for x, y in zip(one.tensors, other.tensors))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments.add_argument("--greedy", help="a text of one letter")
    arguments.add_argument("--size", choices=SIZES)
    arguments.add_argument("--type", choices=["f32", "f16", "q8_0"], default="f32")
    arguments.add_argument("--out", type=pathlib.Path)
    arguments.add_argument("--logits", type=pathlib.Path)
    asked = arguments.parse_args()
    if asked.greedy:
        show_greedy(asked.greedy)
        return
    if asked.size is None:
        check() if asked.check else write_fixtures(HERE)
        return
    stored = write(asked.out, asked.size, {"f32": F32, "f16": F16, "q8_0": Q8_0}[asked.type])
    if asked.logits:
        tokens = some_tokens(asked.size, min(256, SIZES[asked.size][3]))
        passed, logits = forward(stored, asked.size, tokens)
        write_expected(asked.logits, [(asked.size, tokens, passed, logits)])


if __name__ == "__main__":
    main()

"""GPT-2's vocabulary in 200,000 bytes: gpt2_merges.bin.

Tokens 0 to 255 are the bytes, in the order of their letters; token 256 + r is
the result of merge r; 50256 is <|endoftext|>. So 50,000 pairs of tokens are enough, two
16-bit numbers each.

They come from models/ggml-vocab-gpt-2.gguf of llama.cpp, in PyPI's source package of
llama-cpp-python. Licences: gpt2_merges.LICENSE. Needs PyPI's gguf.

    gpt2_merges.py ggml-vocab-gpt-2.gguf            writes gpt2_merges.bin
    gpt2_merges.py --check ggml-vocab-gpt-2.gguf    exit status 1 if it differs
"""
import argparse
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
END_OF_TEXT = "<|endoftext|>"


def letters():
    """The 256 letters that stand for bytes, as a dict from byte to letter."""
    printing = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printing]
    table = {byte: chr(byte) for byte in printing}
    table.update((byte, chr(0x100 + n)) for n, byte in enumerate(others))
    return table


def vocabulary():
    """(tokens, merges) in letters, as in a tokenizer's file, from gpt2_merges.bin."""
    tokens = sorted(letters().values())
    merges = []
    for left, right in struct.iter_unpack("<HH", (HERE / "gpt2_merges.bin").read_bytes()):
        merges.append((tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
    return tokens + [END_OF_TEXT], merges


def pairs_in(path):
    import gguf
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    merges = [merge.split(" ") for merge in fields["tokenizer.ggml.merges"].contents()]
    assert tokens == sorted(letters().values()) + [a + b for a, b in merges] + [END_OF_TEXT]
    number = {token: n for n, token in enumerate(tokens)}
    return b"".join(struct.pack("<HH", number[a], number[b]) for a, b in merges)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments.add_argument("gguf", help="ggml-vocab-gpt-2.gguf")
    asked = arguments.parse_args()
    pairs, file = pairs_in(asked.gguf), HERE / "gpt2_merges.bin"
    if not asked.check:
        file.write_bytes(pairs)
    elif file.read_bytes() != pairs:
        sys.exit("gpt2_merges.bin is not what %s holds" % asked.gguf)
    print("gpt2_merges.bin: %d merges" % (len(pairs) // 4))


if __name__ == "__main__":
    main()

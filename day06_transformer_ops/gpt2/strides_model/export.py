"""Writes a checkpoint as a GGUF file, under llama.cpp's names for a GPT-2.

    export.py FOLDER/checkpoint.pt strides.gguf               matrices as Q8_0
    export.py FOLDER/checkpoint.pt F --type f32               or f16, or bf16

Needs PyTorch and PyPI's gguf.
"""
import argparse
import pathlib

import gguf
import torch

from lines import Vocabulary
from model import is_matrix

EPSILON = 1e-5
Types = gguf.GGMLQuantizationType


def write(path, kept, type):
    sizes, vocabulary = kept["sizes"], Vocabulary()
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_name("strides and offsets of small shapes")
    writer.add_description("strides_model/train.py, %d steps" % kept["step"])
    writer.add_license("MIT")
    writer.add_block_count(sizes["layers"])
    writer.add_context_length(sizes["context"])
    writer.add_embedding_length(sizes["channels"])
    writer.add_feed_forward_length(4 * sizes["channels"])
    writer.add_head_count(sizes["heads"])
    writer.add_layer_norm_eps(EPSILON)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types([1] * vocabulary.end_of_text + [3])
    writer.add_token_merges([" ".join(merge) for merge in vocabulary.merges])
    writer.add_bos_token_id(vocabulary.end_of_text)
    writer.add_eos_token_id(vocabulary.end_of_text)
    for name, weight in kept["weights"].items():
        stored = type if is_matrix(name) else Types.F32
        writer.add_tensor(name, gguf.quants.quantize(weight.float().numpy(), stored),
                          raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("checkpoint", type=pathlib.Path)
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--type", choices=["f32", "f16", "bf16", "q8_0"], default="q8_0")
    asked = arguments.parse_args()
    kept = torch.load(asked.checkpoint, map_location="cpu")
    write(asked.out, kept, Types[asked.type.upper()])


if __name__ == "__main__":
    main()

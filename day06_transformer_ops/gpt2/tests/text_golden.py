"""Small vocabularies, and what PyPI's tokenizers, sentencepiece and transformers make of texts.

Each file has a vocabulary that is trained here (the keys tokenizer.*) and results: of each text of
golden.texts its tokens, in golden.tokens one after another, golden.counts of them; the bytes of each
piece of the pre-split, in golden.pieces; and the tokens of a conversation (golden.turns: role, text,
role, text, ...), by transformers.apply_chat_template, in golden.chat.

    golden_smollm.gguf   pre-split smollm, ChatML; also the weights of a GPT-2 of one layer
    golden_llama3.gguf   pre-split llama-bpe, which takes whole pieces; Llama 3's conversations
    golden_qwen2.gguf    pre-split qwen2
    golden_llama2.gguf   SentencePiece with byte fallback

    text_golden.py             writes the files
    text_golden.py --check     exit status 1 if they differ from what it would write

Needs PyPI's gguf, tokenizers, sentencepiece and transformers.
"""
import filecmp
import io
import json
import pathlib
import sys
import tempfile

import gguf
import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from reference import uniform
from tokenizer_golden import TEXTS as SHARED

HERE = pathlib.Path(__file__).parent
SMALL = gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.UINT16  # numbers of 16 bits
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

TEXTS = SHARED + [
    # what the pre-splits cut differently
    "'LL 'S IT'S i'Ve", "it'\u017f", "12345 6789", "1 22 333 4444 55555", "a1 2b", "x  1", "x  y",
    "a\r\n\r\nb", " \n\t\n x", "end.\n\nNext", "!!\r\n\r\n", "$word #tag (paren) \"q\"", "\tword",
    "'Sample X'REady 'dT", "'\u017fa", "\rword", " \rx", "x \r\r y",
    "\u00a0word", "\n word", "word\n\n\n", "3\u00bd\u00bd\u00bd\u00bd",
    # names of special tokens in a text, and user-defined tokens
    "<|im_start|>user\nhi<|im_end|>", "<|eot_id|>", "<s>[INST] </s><unk>", "<0x41><0x0A>",
    "<tool>", "a<tool>b", " <tool> <tool>", "<tool><tools>", "<tool", "<<tool>>",
    # SentencePiece's space
    "\u2581", "a\u2581b", "\u2581\u2581a", " a  b ",
]

PAGE = """
The strides of a tensor say how many elements apart its neighbours are along each dimension. A view
has a shape and strides; it does not own the elements. Transposing a matrix exchanges two strides and
moves nothing. I'll say it's what they've got, and we're sure you'd see that I'm right: don't worry.
There are 12 months, 365 days, 1000 grams in a kilogram, and 1234567 seconds in about 14 days.
def sum_rows(x):
    total = 0
    for row in range(x.shape[0]):
        total += x[row] * x[row]
    return total

for (int i = 0; i < n; ++i) {
    out[i] = a[i] + b[i];
}
Der Schritt einer Dimension ist die Anzahl der Elemente zwischen zwei Nachbarn. \u00c4pfel, \u00d6l, \u00fcber.
\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u041f\u0440\u0438\u0432\u0435\u0442, \u0434\u0440\u0443\u0433! \u4f60\u597d\uff0c\u4e16\u754c\uff01 \u4f60\u597d\uff01
system user assistant You answer in one short sentence.
""" * 3

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")

CHATML_TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
LLAMA3_TEMPLATE = (
    "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = "
    "'<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + "
    "'<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}"
    "{{ content }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}")

# (pre-split, its pattern, the template, control tokens: the first begins a text, the last ends it)
BYTE_LEVEL = {
    "smollm": ("smollm", None, CHATML_TEMPLATE, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]),
    "llama3": ("llama-bpe", LLAMA3, LLAMA3_TEMPLATE,
               ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>",
                "<|end_of_text|>"]),
    "qwen2": ("qwen2", LLAMA3.replace("{1,3}", ""), CHATML_TEMPLATE,
              ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]),
}

CONVERSATION = [
    {"role": "system", "content": "You answer in one short sentence."},
    {"role": "user", "content": "  What are strides? It's 12345.\n"},
    {"role": "assistant", "content": "How far apart neighbours are."},
    {"role": "user", "content": "And a view?"},
]


def pre_tokenizer(pattern):
    if pattern is None:
        first = pre_tokenizers.Digits(individual_digits=True)
    else:
        first = pre_tokenizers.Split(Regex(pattern), "isolated")
    return pre_tokenizers.Sequence([first, pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=pattern is None)])


def train(pattern):
    """Tokens by id, and merges by rank."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer(pattern)
    tokenizer.train_from_iterator([PAGE, *SHARED], trainers.BpeTrainer(
        vocab_size=500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    model = json.loads(tokenizer.to_str())["model"]
    return sorted(model["vocab"], key=model["vocab"].get), [tuple(m) for m in model["merges"]]


def byte_level(pre, pattern, controls):
    """The tokenizer of PyPI's tokenizers, and its tokens, their types, and merges."""
    tokens, merges = train(pattern)
    whole = pre == "llama-bpe"
    if whole:  # some tokens are the result of no merge, as in Llama 3
        parts = {part for merge in merges for part in merge}
        merges = [(a, b) for n, (a, b) in enumerate(merges) if n % 3 or a + b in parts]
    tokenizer = Tokenizer(models.BPE(vocab={token: n for n, token in enumerate(tokens)},
                                     merges=merges, ignore_merges=whole))
    tokenizer.pre_tokenizer = pre_tokenizer(pattern)
    tokenizer.add_special_tokens(controls)
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False)])
    types = [NORMAL] * len(tokens) + [CONTROL] * len(controls) + [USER_DEFINED]
    return tokenizer, tokens + controls + ["<tool>"], types, merges


def write_byte_level(path, name):
    pre, pattern, template, controls = BYTE_LEVEL[name]
    tokenizer, tokens, types, merges = byte_level(pre, pattern, controls)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=controls[0],
                                   eos_token=controls[-1])
    fast.chat_template = template
    chat = fast.apply_chat_template(CONVERSATION, add_generation_prompt=True, return_dict=False)
    tokenizer.encode_special_tokens = True  # a user's text has no control tokens
    writer = gguf.GGUFWriter(path, "gpt2")
    if name == "smollm":
        add_model(writer, len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(["%s %s" % merge for merge in merges])
    writer.add_bos_token_id(tokens.index(controls[0]))
    writer.add_eos_token_id(tokens.index(controls[-1]))
    writer.add_chat_template(template)
    writer.add_array("golden.turns", [turn[key] for turn in CONVERSATION for key in turn])
    writer.add_key_value("golden.chat", chat, *SMALL)
    pieces = [pre_tokenizer(pattern).pre_tokenize_str(text) for text in TEXTS]
    writer.add_key_value("golden.pieces", [len(p) for split in pieces for p, _ in split], *SMALL)
    finish(writer, [tokenizer.encode(text).ids for text in TEXTS])


def add_model(writer, tokens):
    """A GPT-2 of one layer, as small as possible: its words mean nothing."""
    channels, context = 8, 96
    writer.add_block_count(1)
    writer.add_context_length(context)
    writer.add_embedding_length(channels)
    writer.add_feed_forward_length(channels)
    writer.add_head_count(2)
    writer.add_layer_norm_eps(1e-5)
    shapes = {"token_embd.weight": (tokens, channels), "position_embd.weight": (context, channels)}
    for part, out in [("attn_norm", 0), ("attn_qkv", 3 * channels), ("attn_output", channels),
                      ("ffn_norm", 0), ("ffn_up", channels), ("ffn_down", channels)]:
        shapes["blk.0.%s.weight" % part] = (out, channels) if out else (channels,)
        shapes["blk.0.%s.bias" % part] = (out or channels,)
    shapes.update({"output_norm.weight": (channels,), "output_norm.bias": (channels,)})
    for number, (name, shape) in enumerate(shapes.items()):
        count = shape[0] * shape[-1] if len(shape) == 2 else shape[0]
        array = uniform(number + 1, count).reshape(shape)
        writer.add_tensor(name, array.astype("float16") if name == "token_embd.weight" else array)


def write_sentencepiece(path):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(PAGE.split("\n")), model_writer=model, vocab_size=560,
        model_type="bpe", byte_fallback=True, character_coverage=0.99, split_digits=True,
        allow_whitespace_only_pieces=True, normalization_rule_name="identity",
        remove_extra_whitespaces=False, user_defined_symbols=["<tool>"], num_threads=1,
        minloglevel=2)
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    ids = range(pieces.get_piece_size())
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([pieces.id_to_piece(id) for id in ids])
    writer.add_token_scores([pieces.get_score(id) for id in ids])
    writer.add_token_types([
        UNKNOWN if pieces.is_unknown(id) else CONTROL if pieces.is_control(id)
        else BYTE if pieces.is_byte(id)
        else USER_DEFINED if pieces.id_to_piece(id) == "<tool>" else NORMAL for id in ids])
    writer.add_bos_token_id(pieces.bos_id())
    writer.add_eos_token_id(pieces.eos_id())
    finish(writer, [pieces.encode(text) for text in TEXTS])


def finish(writer, tokens):
    writer.add_key_value("golden.counts", [len(ids) for ids in tokens], *SMALL)
    writer.add_key_value("golden.tokens", [id for ids in tokens for id in ids], *SMALL)
    writer.add_array("golden.texts", TEXTS)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_all(folder):
    for name in BYTE_LEVEL:
        write_byte_level(folder / ("golden_%s.gguf" % name), name)
    write_sentencepiece(folder / "golden_llama2.gguf")


def main():
    names = ["golden_%s.gguf" % name for name in [*BYTE_LEVEL, "llama2"]]
    if sys.argv[1:] != ["--check"]:
        write_all(HERE)
    else:
        with tempfile.TemporaryDirectory() as folder:
            write_all(pathlib.Path(folder))
            for name in names:
                if not filecmp.cmp(pathlib.Path(folder) / name, HERE / name, shallow=False):
                    sys.exit("%s is not what text_golden.py writes today" % name)
    print("%s: %d texts" % (", ".join(names), len(TEXTS)))


if __name__ == "__main__":
    main()

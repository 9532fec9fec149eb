"""Results of PyPI's `tokenizers` for difficult texts, kept in git as C++: tokenizer_golden.inc.

Two tables: texts with their tokens, and, for every character of Unicode 3.2 (later libraries
agree on those), whether the pre-split takes it for a letter, a number, a space or something else.

    tokenizer_golden.py             writes tokenizer_golden.inc
    tokenizer_golden.py --check     exit status 1 if the file differs
"""
import pathlib
import sys
import unicodedata

from tokenizers import Tokenizer, models, pre_tokenizers

from gpt2_merges import vocabulary

TEXTS = [
    # words, endings, spaces before words
    "Hello world", " Hello world", "Hello  world", "hello, world!", "HELLO'S",
    "I'll say it's John's", "they've we're I'd I'm don't can't", "'s't're've'm'll'd", "'S 'T 'Re",
    "''''ll", "o'clock ' s", "rock'n'roll", "a'sb'tc",
    "The quick brown fox jumps over the lazy dog.", "internationalization",
    "antidisestablishmentarianism", "SolidGoldMagikarp", " SolidGoldMagikarp", "xyzzyqwfpgjluy",
    # numbers
    "0", "1234567890", "3.14159265358979", "1,000,000", "2026-11-21T18:00:00Z", "1st 2nd 3rd",
    "a1b2c3", "\u00bd cup, 4\u00be, \u2155", "x\u00b2 + y\u00b3", "\u2160\u2161\u2163 \u2169",
    "\u0663\u0664\u0665 \u0967\u0968",
    # runs of spaces of all kinds
    "", " ", "  ", "   ", "a ", "a  ", "a   b", "  a", "\n", "\n\n", "\r\n", "a\nb", "a\n\nb",
    "a \n b", " \n \n ", "\t", "\t\ta", "a\t b", "a \tb", "\v\f", "\u00a0a", "a\u00a0\u00a0b",
    "a\u3000b", "\u2003\u2003x", "a\u2028b\u2029c", "\u0085x", "a\u180eb", " \u180e ", "a\u200bb",
    "\ufeffBOM", "x" + " " * 50 + "y", " " * 200,
    "def f(x):\n    if x > 0:\n        return x\n\n    return -x\n",
    # punctuation
    "!!!", "...", "?!?!", "a.b.c", "$100 #tag @you 50%", "<|endoftext|>", "<|endoftext|",
    "C:\\path\\to", "a/b//c", "{\"key\": [1, 2.5, null]}", "==========", "----------------",
    "\u2014 \u2018quotes\u2019 \u201cdouble\u201d \u2026", "it\u2019s", "(a)[b]{c}",
    "^_^ \u00af\\_(\u30c4)_/\u00af",
    # letters of many scripts, composed and combining
    "\u00c4pfel \u00fcber Stra\u00dfe", "na\u00efve caf\u00e9", "nai\u0308ve cafe\u0301",
    "Z\u0351\u036b\u0343\u036a\u0302a\u036bl\u035dg\u0337o\u0321",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440!",
    "\u0393\u03b5\u03b9\u03ac \u03c3\u03bf\u03c5 \u039a\u03cc\u03c3\u03bc\u03b5",
    "\u4f60\u597d\uff0c\u4e16\u754c\uff01", "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c",
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4", "\u1112\u1161\u11ab\u1100\u1173\u11af",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd", "\u0928\u092e\u0938\u094d\u0924\u0947",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u1780\u17b6\u1793\u17cb\u178f\u17c2",
    "\U00020000\U0002a6d6", "\U0001d54f\U0001d400", "\uff21\uff11", "\ufb01x", "\u01c5",
    # emoji and their parts
    "\U0001f999", " \U0001f999.cpp", "\U0001f600\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f44d\U0001f3fd",
    "\U0001f1e9\U0001f1ea", "1\ufe0f\u20e3", "\u2764\ufe0f", "\u263a\ufe0e",
    "\U0001f3f4\U000e0067\U000e0062\U000e007f",
    # unusual characters
    "\0", "a\0b", "\x01\x02\x1b[31mred\x1b[0m", "\x7f", "\x1c\x1d", "\u0080\u009f", "\ufffd",
    "\ufffe\uffff", "\ue000", "\U0010ffff", "a" * 300, "ab" * 100, "\u00e9" * 40, "\U0001f999" * 20,
    "0" * 100, "=" * 77, "\n" * 33, "!a" * 30,
]

LINE = 92


def gpt2():
    tokens, merges = vocabulary()
    number = {token: n for n, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=number, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    return tokenizer


def literal(text):
    """A C++ literal of the text's bytes; octal, since a hex escape would absorb the next digits."""
    escaped = "".join(chr(b) if 32 <= b < 127 and b not in b"\\\"?" else "\\%03o" % b
                      for b in text.encode())
    return '"%s"sv' % escaped


def wrapped(words, end):
    line = "   "
    for word in words:
        if len(line) + 1 + len(word) > LINE:
            yield line
            line = "   "
        line += " " + word
    yield line + end


def text_lines(tokenizer):
    yield "const GoldenText golden_texts[] = {"
    for text in TEXTS:
        first, second = "{" + literal(text) + ",", "{" + ", ".join(map(str, tokenizer.encode(text).ids)) + "}},"
        yield from [first + " " + second] if len(first + second) < LINE else [first, "    " + second]
    yield "};"


def classes(tokenizer):
    """(first, last, class) of runs of characters in Unicode 3.2."""
    def joins(a, b):
        return len(tokenizer.pre_tokenizer.pre_tokenize_str(a + b)) == 1
    runs = []
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.ucd_3_2_0.category(character) in ("Cn", "Co", "Cs"):
            continue
        kind = ("letter" if joins("a", character) else "number" if joins("1", character)
                else "other" if joins("!", character) else "space")
        if runs and runs[-1][1] == code - 1 and runs[-1][2] == kind:
            runs[-1][1] = code
        else:
            runs.append([code, code, kind])
    return runs


def lines():
    tokenizer = gpt2()
    yield "// Made by tokenizer_golden.py from PyPI's tokenizers: do not edit, run it."
    yield from text_lines(tokenizer)
    yield "const GoldenClass golden_classes[] = {"
    yield from wrapped(["{0x%X,0x%X,Class::%s}," % tuple(run) for run in classes(tokenizer)], "")
    yield "};"


def main():
    file = pathlib.Path(__file__).with_name("tokenizer_golden.inc")
    text = "".join(line + "\n" for line in lines())
    if sys.argv[1:] != ["--check"]:
        file.write_text(text)
    elif file.read_text() != text:
        sys.exit("tokenizer_golden.inc is not what tokenizers says today")
    print("tokenizer_golden.inc: %d texts" % len(TEXTS))


if __name__ == "__main__":
    main()

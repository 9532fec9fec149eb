"""The training lines: three kinds of question about row-major shapes, and their answers.

    shape 3 4 5 -> strides 20 5 1
    shape 3 4 5 index 1 2 3 -> strides 20 5 1 -> 20 + 10 + 3 -> offset 33
    shape 3 4 5 offset 33 -> strides 20 5 1 -> 20 + 10 + 3 -> index 1 2 3

A line shows its working: strides first, then what each index contributes to the offset. Ranks 1 to 4,
extents 1 to 9. About every tenth shape is held out: no line about it is in the training.

    lines.py            prints some lines, and checks that the two writers below agree on thousands
"""
import math
import sys

import torch

KINDS = ("strides", "offset", "index")
RANK, MOST = 4, 9
LONGEST = 40  # tokens, the end of text included

WORDS = ["shape", " index", " offset", " strides", " ->", " +"]
NUMBERS = [" %d" % digit for digit in range(10)]  # beginnings of numbers; further digits are bytes


def held_out(shape):
    """By a hash of the shape's digits, easy to compute in any language."""
    digits = 0
    for extent in shape:
        digits = 10 * digits + extent
    return (digits * 2654435761 % 2**32 >> 16) % 10 == 0


def strides_of(shape):
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return strides


def line(kind, shape, index):
    """(question, answer) as text."""
    spaced = lambda numbers, between=" ": between.join(str(number) for number in numbers)
    strides = strides_of(shape)
    parts = [i * s for i, s in zip(index, strides)]
    question = "shape " + spaced(shape)
    answer = " strides " + spaced(strides)
    if kind == "offset":
        question += " index " + spaced(index)
        answer += " -> " + spaced(parts, " + ") + " -> offset %d" % sum(parts)
    elif kind == "index":
        question += " offset %d" % sum(parts)
        answer += " -> " + spaced(parts, " + ") + " -> index " + spaced(index)
    return question + " ->", answer


class Vocabulary:
    """GPT-2's scheme: 256 bytes, then the results of merges, then the end of text."""

    def __init__(self):
        printing = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
        others = [byte for byte in range(256) if byte not in printing]
        letter = {byte: chr(byte) for byte in printing}
        letter.update((byte, chr(0x100 + n)) for n, byte in enumerate(others))
        self.tokens, self.merges, self.ids = sorted(letter.values()), [], {}
        for text in NUMBERS + WORDS:
            letters = [letter[byte] for byte in text.encode()]
            for end in range(1, len(letters)):
                merge = "".join(letters[:end]), letters[end]
                if merge not in self.merges:
                    self.merges.append(merge)
                    self.tokens.append("".join(merge))
            self.ids[text] = self.tokens.index("".join(letters))
        for digit in "0123456789":
            self.ids[digit] = self.tokens.index(digit)
        self.end_of_text = len(self.tokens)
        self.tokens.append("<|endoftext|>")

    def text(self, ids):
        known = {number: text for text, number in self.ids.items()}
        return "".join(known.get(number, "<|endoftext|>") for number in ids)


def all_shapes(rank):
    grid = [torch.arange(1, MOST + 1)] * rank
    return torch.cartesian_prod(*grid).reshape(-1, rank)


class Lines:
    """Makes lines by the million, as tokens, with the arithmetic on the device."""

    def __init__(self, device, seed, held):
        self.vocabulary = Vocabulary()
        self.random = torch.Generator(device).manual_seed(seed)
        self.device, self.held, self.shapes = device, held, {}
        for rank in range(1, RANK + 1):
            shapes = sorted((s for s in all_shapes(rank).tolist() if held_out(s) == held),
                            key=math.prod)
            self.shapes[rank] = torch.tensor(
                [[1] * (RANK - rank) + s for s in shapes], device=device).reshape(-1, RANK)

    def draw(self, *size):
        """In [0, 1). For training, half of the rows favour 1: large shapes and indices,
        whose sums have the most carries."""
        drawn = torch.rand(size, generator=self.random, device=self.device)
        if not self.held:
            drawn[::2] = drawn[::2].sqrt()
        return drawn

    def make(self, kind, rank, count):
        """(tokens, answer begins), rows of LONGEST tokens, padded with the end of text."""
        shapes = self.shapes[rank]
        # Extents, with leading 1s if the rank is lower.
        e = shapes[(self.draw(count) * len(shapes)).long().clamp(max=len(shapes) - 1)]
        i = (self.draw(count, RANK) * e).long().minimum(e - 1)  # a float may round up to 1
        s = torch.ones_like(e)
        for dim in reversed(range(RANK - 1)):
            s[:, dim] = s[:, dim + 1] * e[:, dim + 1]
        parts = i * s
        offset = parts.sum(1, keepdim=True)

        dims = slice(RANK - rank, RANK)
        columns = []  # of tokens; -1: a digit that is not written
        word = lambda text: columns.append(torch.full_like(offset, self.vocabulary.ids[text]))
        word("shape")
        self.numbers(columns, e[:, dims])
        if kind == "offset":
            word(" index")
            self.numbers(columns, i[:, dims])
        elif kind == "index":
            word(" offset")
            self.numbers(columns, offset)
        word(" ->")
        question = len(columns)
        word(" strides")
        self.numbers(columns, s[:, dims])
        if kind != "strides":
            word(" ->")
            for dim in range(RANK - rank, RANK):
                self.numbers(columns, parts[:, dim:dim + 1])
                word(" +" if dim + 1 < RANK else " ->")
            word(" offset" if kind == "offset" else " index")
            self.numbers(columns, offset if kind == "offset" else i[:, dims])
        return self.pack(columns, question)

    def numbers(self, columns, values):
        for n in range(values.shape[1]):
            value = values[:, n:n + 1]
            for power in (1000, 100, 10, 1):
                digit = value // power % 10
                begins = (value < 10 * power) if power < 1000 else torch.ones_like(value).bool()
                token = torch.where(begins, self.starts[digit], digit + self.vocabulary.ids["0"])
                columns.append(torch.where((value >= power) | (power == 1), token, -1))

    @property
    def starts(self):
        return torch.tensor([self.vocabulary.ids[text] for text in NUMBERS], device=self.device)

    def pack(self, columns, question):
        """Removes the gaps of unwritten digits."""
        slots = torch.cat(columns, 1)
        written = slots >= 0
        place = torch.where(written, written.cumsum(1) - 1, LONGEST)
        tokens = torch.full((len(slots), LONGEST + 1), self.vocabulary.end_of_text,
                            device=self.device)
        tokens.scatter_(1, place, torch.where(written, slots, self.vocabulary.end_of_text))
        return tokens[:, :LONGEST], written[:, :question].sum(1)


def check():
    lines, vocabulary = Lines("cpu", 1, False), Vocabulary()
    for rank in range(1, RANK + 1):
        for kind in KINDS:
            tokens, begins = lines.make(kind, rank, 1000)
            for row, begin in zip(tokens.tolist(), begins.tolist()):
                row = row[:row.index(vocabulary.end_of_text)]
                text = vocabulary.text(row)
                words = text.split(" ->")
                shape = [int(word) for word in words[0].split()[1:rank + 1]]
                numbers = [int(word) for word in words[0].split()[rank + 2:]]
                offset = numbers[0] if kind == "index" else None
                index = numbers if kind == "offset" else [
                    (offset or 0) // s % e for s, e in zip(strides_of(shape), shape)]
                question, answer = line(kind, shape, index)
                if text != question + answer or vocabulary.text(row[:begin]) != question:
                    sys.exit("%r should be %r" % (text, question + answer))
                if held_out(shape):
                    sys.exit("%r is held out" % text)
            print("%s   (%d tokens)" % (text, len(row)))
    held = {rank: len(Lines("cpu", 1, True).shapes[rank]) for rank in range(1, RANK + 1)}
    print("%d tokens in the vocabulary; shapes held out, by rank: %s"
          % (len(vocabulary.tokens), held))


if __name__ == "__main__":
    check()

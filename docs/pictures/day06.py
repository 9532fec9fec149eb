"""Pictures of Day 06: a token's path, views of one buffer, attention of three tokens, online softmax, a KV cache."""
from svg import CELL, COLOURS, FAINT, GREEN, ORANGE, PURPLE, SKY, Svg


def token_path():
    """The residual stream from top to bottom, and what each part reads from it and adds to it."""
    svg = Svg(760, 640, "The path of a token: text, ids, embedding, the residual stream with attention and MLP "
                        "beside it, each after a norm and added back, a final norm, the head, the next token")
    x, w = 60, 130                                   # the stream's column

    def stage(y, name, note, colour=FAINT):
        svg.cell(x, y, colour, "", w, 34)
        svg.text(x + w / 2, y + 22, name, "word in" if colour != FAINT else "word middle")
        svg.text(x + w + 16, y + 22, note, "note")

    def part(y, boxes, note):
        """Reads the stream at y, and is added to it 96 below."""
        svg.arrow(x + w / 2, y, 232, y)
        left = 232
        for number, (name, width, colour) in enumerate(boxes):
            svg.cell(left, y - 17, colour, "", width, 34)
            svg.text(left + width / 2, y + 5, name, "word in" if colour != FAINT else "word middle")
            left += width + 22
            if number + 1 < len(boxes):
                svg.arrow(left - 22, y, left, y)
        end = left - 22 - boxes[-1][1] / 2
        svg.parts.append(f'<path d="M{end:g} {y + 17:g} L{end:g} {y + 64:g} L{x + w / 2 + 20:g} {y + 64:g}"/>')
        svg.arrow(x + w / 2 + 40, y + 64, x + w / 2 + 13, y + 64)
        svg.text(250, y + 56, note, "note")
        svg.parts.append(f'<circle cx="{x + w / 2:g}" cy="{y + 64:g}" r="12" fill="{PURPLE}" stroke="var(--ink)"/>')
        svg.text(x + w / 2, y + 69, "+", "in")

    stage(16, "the cat sat", "text")
    svg.arrow(x + w / 2, 50, x + w / 2, 70)
    stage(70, "0 1 2", "ids, one number per token: (B, T)")
    svg.arrow(x + w / 2, 104, x + w / 2, 124)
    stage(124, "embedding", "a row of C elements per id, plus one for its position: (B, T, C)", SKY)
    svg.line(x + w / 2, 158, x + w / 2, 458, "thick")
    for line, word in enumerate(("the", "residual", "stream")):
        svg.text(x + w / 2 - 8, 178 + 17 * line, word, "note end")
    part(216, (("norm", 64, FAINT), ("q k v", 70, ORANGE), ("attention", 96, GREEN), ("projection", 92, ORANGE)),
         "attention: tokens exchange information")
    part(336, (("norm", 64, FAINT), ("up", 60, ORANGE), ("GELU", 70, SKY), ("down", 70, ORANGE)),
         "MLP: each token on its own")
    svg.box(220, 178, 500, 242)
    svg.text(720, 440, "a transformer block; a GPT-2 has twelve of them", "note end")
    svg.arrow(x + w / 2, 450, x + w / 2, 470)
    stage(470, "norm", "one more, after the last block")
    svg.arrow(x + w / 2, 504, x + w / 2, 524)
    stage(524, "head", "logits, one per token of the vocabulary: (B, T, V)", ORANGE)
    svg.arrow(x + w / 2, 558, x + w / 2, 578)
    stage(578, "argmax: mat", "the next token is appended, and the model runs again", GREEN)
    svg.text(232, 632, "orange: a matrix product, Day 05", "note")
    return svg.done()


def qkv_views():
    """One buffer (1, 3, 12): which offset is which element of q, k and v."""
    c = 30
    svg = Svg(440, 330, "A buffer of 3 rows of 12 elements, one row per token. In each row the first 4 elements are the "
                        "query, then 4 of the key, 4 of the value; each 4 are two heads of 2. The next head is "
                        "2 elements away, the next token 12")
    left, top = 64, 92
    for third, (name, colour) in enumerate((("q", SKY), ("k", ORANGE), ("v", GREEN))):
        svg.text(left + (4 * third + 2) * c, 24, f"{name}, offset {4 * third}", "word middle")
        for h in range(2):
            svg.text(left + (4 * third + 2 * h + 1) * c, 48, f"head {h}", "note middle")
        for t in range(3):
            for i in range(4):
                offset = 12 * t + 4 * third + i
                svg.cell(left + (4 * third + i) * c, top + t * c, colour, offset, c, c)
    for t, word in enumerate(("the", "cat", "sat")):
        svg.text(12, top + t * c + 20, f"{t} {word}")
    for cut in range(1, 6):
        svg.outline(left + 2 * cut * c - 1, top, 2, 3 * c)
    svg.outline(left + 6 * c, top + 2 * c, 2 * c, c)
    svg.arch(left + 4.5 * c, left + 6.5 * c, top - 2, 26)
    svg.text(left + 6.75 * c, top - 12, "next head: + 2", "note")
    lines = (
        "The buffer: shape (B, T, 3 C) = (1, 3, 12), strides (36, 12, 1).",
        "k by heads: shape (B, H, T, D) = (1, 2, 3, 2),",
        "strides (36, 2, 12, 1). q and v have the same strides.",
        "The next element of a head is 1 away, the next head 2,",
        "the next token 12, the next sequence 36.",
        "Framed: k of head 1, token 2, at 4 + 1 · 2 + 2 · 12 = 30.",
    )
    for number, text in enumerate(lines):
        svg.text(12, 216 + 20 * number, text, "note")
    return svg.done()


def three_tokens():
    """Head 0 of the run: queries times keys, causal softmax, times values."""
    c = 38
    svg = Svg(440, 712, "Attention of three tokens, head 0: queries times keys are scores, 3 by 3, of which those above the "
                        "diagonal are masked; softmax turns each row into weights; weights times values is the output")

    def grid(x, y, values, colour, title, strides, width=c):
        svg.text(x, y - 28, title)
        svg.text(x, y - 10, strides, "note")
        for m, row in enumerate(values):
            for n, value in enumerate(row):
                if value is None:
                    svg.parts.append(f'<rect class="idle" x="{x + n * width:g}" y="{y + m * c:g}" '
                                     f'width="{width:g}" height="{c:g}"/>')
                else:
                    svg.cell(x + n * width, y + m * c, colour(m), value, width, c, "inkin" if colour(m) == FAINT else "in")

    of_token = lambda m: COLOURS[m]  # noqa: E731
    grid(60, 192, ((1, -1), (1, 1), (1, -1)), of_token, "q (3, 2)", "strides (12, 1)")
    grid(190, 60, (("a", "a", "a"), ("-a", "a", "-a")), lambda m: FAINT, "k, transposed (2, 3)",
         "strides (1, 12); a = 0.4901", 56)
    grid(190, 192, (("log 2", None, None), ("0", "log 2", None), ("log 2", "0", "log 2")), of_token,
         "scores (3, 3)", "strides (3, 1)", 56)
    grid(60, 524, ((1, None, None), ("1/3", "2/3", None), ("2/5", "1/5", "2/5")), of_token,
         "weights (3, 3)", "strides (3, 1)", 44)
    grid(270, 362, ((1, -1), (1, 1), (1, -1)), lambda m: FAINT, "v (3, 2)", "strides (12, 1)", 44)
    grid(270, 524, (("1", "-1"), ("1", "1/3"), ("1", "-0.6")), of_token, "out (3, 2)", "strides (4, 1)", 44)
    for t, word in enumerate(("the", "cat", "sat")):
        for y in (192, 524):
            svg.text(16, y + 24 + t * c, word, "word")
    svg.arrow(210, 316, 210, 490)
    svg.text(154, 396, "softmax", "note")
    svg.arrow(200, 581, 262, 581)
    for number, text in enumerate((
            "The second element of sat's output:",
            "2/5 · (-1) + 1/5 · 1 + 2/5 · (-1) = -0.6.",
            "Dashed: later tokens, masked. They are not read.")):
        svg.text(12, 662 + 20 * number, text, "note")
    return svg.done()


def running_maximum():
    """Scores log 1, log 2, log 8, log 4, key by key: heights are exp(score - m) with the running maximum m."""
    svg = Svg(440, 516, "Online softmax of four scores, log 1, log 2, log 8 and log 4. The running maximum counts as 1; "
                        "when it grows, all earlier terms shrink by the same factor. The sums are 1, 1.5, 1.375, 1.875")
    scores, tall = (1, 2, 8, 4), 110
    notes = (("m = log 1", "", "sum = 1"), ("m = log 2", "sum so far · 1/2", "1/2 + 1 = 1.5"),
             ("m = log 8", "sum so far · 1/4", "1.5/4 + 1 = 1.375"), ("m stays", "sum so far · 1", "1.375 + 1/2 = 1.875"))
    for step in range(4):
        m = max(scores[:step + 1])
        base, x = 164 + 236 * (step // 2), 20 + 216 * (step % 2)
        svg.text(x, base - tall - 28, f"key {step}, score log {scores[step]}")
        for key in range(step + 1):
            height = tall * scores[key] / m
            svg.cell(x + key * 36, base - height, COLOURS[key], "", 30, height)
            svg.text(x + key * 36 + 15, base - height - 6, {1: "1", .5: "1/2", .25: "1/4", .125: "1/8"}[scores[key] / m],
                     "small")
        svg.outline(x - 4, base, 150, 1)
        for line, text in enumerate(notes[step]):
            svg.text(x, base + 22 + 20 * line, text, "note")
    svg.text(20, 488, "The result, 1.875 = (1 + 2 + 8 + 4) / 8, is the same as with a", "note")
    svg.text(20, 508, "separate pass that finds m = log 8 first.", "note")
    return svg.done()


def kv_cache():
    """Positions of a KV cache over three steps: which one is written, which ones are read."""
    c, w, left = 40, 34, 160
    svg = Svg(440, 326, "A KV cache with room for 8 keys and values. Token t writes its own to position t and attends to "
                        "positions 0 to t; the rest is not read yet")
    for step, word in enumerate(("the", "cat", "sat")):
        y = 62 + 74 * step
        svg.text(12, y + 14, word)
        svg.text(12, y + 32, f"length {step + 1}", "note")
        svg.cell(74, y, PURPLE, f"q{step}", c, c)
        svg.arrow(118, y + c / 2, 156, y + c / 2)
        svg.text(120, y + c / 2 - 6, "reads", "note")
        for place in range(8):
            if place <= step:
                svg.cell(left + place * w, y, COLOURS[place], "", w, c)
                svg.text(left + (place + .5) * w, y + 17, f"k{place}", "in tiny")
                svg.text(left + (place + .5) * w, y + 33, f"v{place}", "in tiny")
            else:
                svg.parts.append(f'<rect class="idle" x="{left + place * w:g}" y="{y:g}" width="{w:g}" height="{c}"/>')
        svg.outline(left + step * w, y, w, c)
    for place in range(8):
        svg.text(left + place * w + w / 2, 50, str(place), "small")
    svg.text(12, 22, "position: keys (1, H, 8, D), strides (H · 8 · D, 8 · D, D, 1)", "note")
    svg.text(12, 296, "Framed: written in this step. Dashed: unused, not read yet.", "note")
    svg.text(12, 316, "Earlier keys and values are not computed again.", "note")
    return svg.done()


def row_in_registers():
    """1,024 floats as 256 vectors, 32 lanes (here 4), 8 vectors each (here 3)."""
    w, h, left = 58, 30, 74
    svg = Svg(440, 368, "A row of 1,024 floats in the registers of a warp. Vectors 0 to 31 go to lanes 0 to 31, vectors 32 to 63 "
                        "again, eight times. Maximum and sum are reduced over a lane's registers, then over the lanes by shuffles")
    lanes = ("lane 0", "lane 1", "lane 2", "…", "lane 31")
    for number, lane in enumerate(lanes):
        svg.text(left + number * 70 + w / 2, 24, lane, "note middle")
    for q, name in enumerate(("x[0]", "x[1]", "…", "x[7]")):
        first = {0: 0, 1: 32, 3: 224}.get(q)
        svg.text(20, 58 + 44 * q, name, "note")
        for number in range(5):
            colour = FAINT if number == 3 or first is None else COLOURS[min(number, 3)]
            text = "…" if number == 3 or first is None else f"vector {first + (31 if number == 4 else number)}"
            svg.cell(left + number * 70, 38 + 44 * q, colour, text, w + 8, h, "inkin tiny" if colour == FAINT else "in tiny")
    for number in range(5):
        svg.arrow(left + number * 70 + 33, 206, left + number * 70 + 33, 224)
        svg.cell(left + number * 70, 226, FAINT, "…" if number == 3 else "largest", w + 8, h, "inkin tiny")
        svg.arrow(left + number * 70 + 33, 260, left + number * 70 + 33, 278)
    svg.cell(left, 280, ORANGE, "shuffles: the maximum, in every lane", 4 * 70 + w + 8, h, "in tiny")
    svg.text(4, 332, "Each row of this picture is contiguous in memory: one load", "note")
    svg.text(4, 348, "of a warp. A column is one lane's registers. The sum is", "note")
    svg.text(4, 364, "reduced the same way.", "note")
    return svg.done()


def fused_attention():
    """A block's queries, a tile of keys, the scores of a warp, and the output columns of its lanes."""
    svg = Svg(440, 470, "A block has 8 queries, one warp each. It loops over the keys in tiles of 32. Lane j computes the score "
                        "of key j; then lane l adds up columns l and l + 32 of the output, over all 32 values")
    svg.text(4, 20, "block: 8 queries, one warp each")
    for warp in range(8):
        svg.cell(4, 32 + 16 * warp, ORANGE if warp == 2 else FAINT, "", 120, 16, border="thin")
    svg.text(130, 77, "warp 2: query 2", "note")
    svg.text(250, 20, "keys and values")
    for tile, name in enumerate(("a tile of 32", "in shared memory", "", "")):
        svg.cell(250, 32 + 32 * tile, SKY if tile == 1 else FAINT, name, 180, 30, "in tiny" if tile == 1 else "inkin tiny")
    svg.text(4, 196, "1. lane j: query times key j = score j")
    for j in range(8):
        name = ("0", "1", "2", "3", "4", "5", "…", "31")[j]
        svg.cell(4 + 54 * j, 208, SKY, name, 50, 28)
    svg.text(4, 256, "2. by shuffles: the maximum score m, the sum of exp(score − m).", "note")
    svg.text(4, 274, "The sums so far are multiplied by exp(old m − m).", "note")
    svg.text(4, 308, "3. lane l: columns l and l + 32 of the output")
    for l in range(8):
        name = ("0, 32", "1, 33", "2, 34", "3, 35", "4, 36", "5, 37", "…", "31, 63")[l]
        svg.cell(4 + 54 * l, 320, GREEN, name, 50, 28, "in tiny")
    svg.text(4, 370, "for each key j of the tile: weight j (a shuffle from lane j)", "note")
    svg.text(4, 388, "times elements l and l + 32 of value j.", "note")
    svg.text(4, 422, "Then the next tile. Scores and weights use one register per", "note")
    svg.text(4, 440, "lane; no score is written to memory.", "note")
    return svg.done()


def attention_tiles():
    """64 queries, tiles of 64 keys: the two products of a block, and a thread's part of them."""
    c = 20
    svg = Svg(440, 432, "A block has 64 or 128 queries and loops over keys and values in tiles of 64. A thread has 8 queries "
                        "and 8 keys: 64 scores from 16 elements read. The weights go through shared memory to the second "
                        "product, with the values")

    def grid(x, y, rows, columns, colour):
        for m in range(rows):
            for n in range(columns):
                svg.cell(x + n * c, y + m * c, colour(m, n), "", c, c, border="thin")

    svg.text(4, 20, "1. scores: queries times keys")
    svg.text(4, 58, "queries", "note")
    grid(4, 66, 8, 3, lambda m, d: SKY if m % 4 == 1 else FAINT)
    svg.text(84, 58, "one column per key of this tile", "note")
    grid(84, 66, 8, 8, lambda m, n: GREEN if m % 4 == 1 and n % 4 == 2 else SKY if m % 4 == 1 else ORANGE if n % 4 == 2 else FAINT)
    for line, words in enumerate(("green: one thread's", "scores, in registers.", "Each element that it", "reads is used several",
                                  "times (4 or 8, drawn", "as 2).")):
        svg.text(254, 86 + 20 * line, words, "note")
    svg.text(4, 256, "2. output: weights times values")
    svg.text(4, 282, "weights, in shared memory", "note")
    grid(4, 290, 4, 8, lambda m, n: SKY if m == 1 else FAINT)
    svg.arrow(168, 330, 196, 330)
    svg.text(200, 282, "output, in registers", "note")
    grid(200, 290, 4, 6, lambda m, n: GREEN if m == 1 and n < 4 else FAINT)
    svg.text(4, 396, "During the first product, the values are in flight;", "note")
    svg.text(4, 414, "during the second, the next tile's keys.", "note")
    return svg.done()


def prefill_and_decoding():
    """A prompt of four tokens in one pass, then two tokens, one pass each, beside the KV cache."""
    c, left = 34, 130
    svg = Svg(440, 350, "Prefill: one pass takes the four tokens of the prompt and fills four positions of the cache. Decoding: "
                        "each further token takes one pass, which reads all earlier positions and fills one")
    words = ("The", "cat", "sat", "on", "the", "mat")
    passes = (("prefill", range(4), "T = 4"), ("decoding", range(4, 5), "T = 1"), ("decoding", range(5, 6), "T = 1"))
    y = 40
    svg.text(left, 20, "positions of the KV cache", "note")
    for number, (name, tokens, width) in enumerate(passes):
        svg.text(4, y + 16, f"pass {number + 1}: {width}")
        svg.text(4, y + 34, name, "note")
        for place in range(8):
            x = left + place * (c + 4)
            if place in tokens:
                svg.cell(x, y, ORANGE, words[place], c, c, "in tiny")
            elif place < tokens[0]:
                svg.cell(x, y, SKY, words[place], c, c, "in tiny")
            else:
                svg.parts.append(f'<rect class="idle" x="{x:g}" y="{y:g}" width="{c}" height="{c}"/>')
        svg.text(left, y + c + 20, (f"reads all weights once, for {len(tokens)} tokens" if number == 0 else
                                    "reads all weights once, for 1 token"), "note")
        y += 82
    svg.cell(4, y, ORANGE, "", 16, 16)
    svg.text(28, y + 13, "keys and values that this pass computes and keeps", "note")
    svg.cell(4, y + 26, SKY, "", 16, 16)
    svg.text(28, y + 39, "kept from earlier passes, and only read", "note")
    return svg.done()


def weights_as_operand():
    """Two accumulator fragments, 16 x 8 each, are the fragment of a, 16 x 16, of the next product: lane 6."""
    c, colours = 20, (ORANGE, SKY, GREEN, PURPLE)
    svg = Svg(800, 430, "Scores of 16 queries with 16 keys, two accumulator fragments of 16 by 8, and the same elements as "
                        "the fragment of a of the second product, 16 by 16; lane 6 holds the same positions of both")

    def draw(x, columns, first, words):
        svg.text(x, 48, words)
        for i in range(16):
            for j in range(columns):
                lane = i % 8 * 4 + j % 8 // 2
                colour = colours[i // 8 + (first + j) // 8 * 2] if lane == 6 else FAINT
                svg.cell(x + j * c, 60 + i * c, colour, lane, c, c, kind="in tiny" if lane == 6 else "inkin tiny",
                         border="thin")

    draw(20, 8, 0, "accumulator: keys 0 to 7")
    draw(200, 8, 8, "accumulator: keys 8 to 15")
    svg.arrow(380, 220, 430, 220)
    draw(450, 16, 0, "a: keys 0 to 15")
    svg.text(20, 404, "Rows are queries, and a cell names its lane. Two elements of one colour, in lane 6, become one", "note")
    svg.text(20, 422, "register of a: 0 orange, 1 blue, 2 green, 3 purple.", "note")
    return svg.done()


PICTURES = (token_path, qkv_views, three_tokens, running_maximum, kv_cache, row_in_registers, fused_attention,
            attention_tiles, prefill_and_decoding, weights_as_operand)

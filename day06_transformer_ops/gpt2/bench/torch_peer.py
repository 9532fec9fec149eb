#!/usr/bin/env python3
"""Measures PyTorch, and llama.cpp on a CPU, next to gpt2_bench: the same shapes, the same machine.

    torch_peer.py PROGRAM [its words]...   prints what PROGRAM prints, with the columns peer and peer_s
                                           filled in: docs/results/gpt2.csv is made by this command
    torch_peer.py --into FILE PROGRAM cpu  measures the CPU alone, and puts its rows and comments into
                                           FILE in place of those of another run; a GPU's stay
    torch_peer.py --self-test [cpu]        a tiny model: all of PyTorch's ways give the same

PyTorch's decode attends over the stored positions, as ours does, in five ways, of which the
fastest counts:

    eager            keys and values are a slice as long as the text so far, and nothing is masked
    graphs           a CUDA graph of a step for each 64 positions; a mask hides the missing ones
    compiled graphs  the same with torch.compile's step
    ... two products the last two, with attention as two products and a softmax, not PyTorch's own

Nothing comes back to the host between tokens. A prompt is read eagerly, in a graph, and compiled.
llama.cpp runs where its Python package (llama-cpp-python), gguf and numpy are installed, on a model of
random weights that tests/reference.py writes. What is missing or fails is a comment in the CSV.
"""
import csv
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUCKET, PROMPT = 64, 128
SIZES = {"124M": (12, 1024, 768, 12, 50257), "tiny": (2, 192, 32, 2, 97)}  # layers, context, C, heads, V


def note(sentence):
    print("# " + " ".join(str(sentence).split())[:200], flush=True)


class Model:
    """GPT-2 with random weights and a cache; `token` and `place` (1) are on the device."""

    def __init__(self, torch, size, dtype, device):
        self.torch, self.dtype, self.device = torch, dtype, device
        self.layers, self.context, self.C, self.heads, self.V = SIZES[size]
        self.D = self.C // self.heads
        torch.manual_seed(1)
        new = lambda *shape, size=0.02: (torch.randn(shape, device=device) * size).to(dtype)
        C = self.C
        self.blocks = [dict(n1=(1 + new(C), new(C)), qkv=(new(3 * C, C, size=C ** -0.5), new(3 * C)),
                            join=(new(C, C, size=C ** -0.5), new(C)), n2=(1 + new(C), new(C)),
                            up=(new(4 * C, C, size=C ** -0.5), new(4 * C)),
                            down=(new(C, 4 * C, size=(4 * C) ** -0.5), new(C)))
                       for _ in range(self.layers)]
        self.tokens, self.positions = new(self.V, C, size=0.1), new(self.context, C)
        self.last = (1 + new(C), new(C))
        # A tensor a layer: what is compiled then writes in place.
        empty = lambda: [torch.zeros(self.heads, self.context, self.D, dtype=dtype, device=device)
                         for _ in range(self.layers)]
        self.keys, self.values = empty(), empty()
        self.token = torch.zeros(1, dtype=torch.long, device=device)
        self.place = torch.zeros(1, dtype=torch.long, device=device)

    def through(self, x, store):
        """x (T, C) through the blocks; store(layer, k, v) keeps them, returns (keys, values, how to
        attend)."""
        F = self.torch.nn.functional
        for layer, b in enumerate(self.blocks):
            q, k, v = F.linear(F.layer_norm(x, (self.C,), *b["n1"]), *b["qkv"]).split(self.C, -1)
            heads = lambda y: y.view(-1, self.heads, self.D).transpose(0, 1)
            keys, values, attend = store(layer, heads(k), heads(v))
            y = attend(heads(q)[None], keys[None], values[None])
            x = x + F.linear(y[0].transpose(0, 1).reshape(-1, self.C), *b["join"])
            h = F.gelu(F.linear(F.layer_norm(x, (self.C,), *b["n2"]), *b["up"]), approximate="tanh")
            x = x + F.linear(h, *b["down"])
        return F.linear(F.layer_norm(x[-1:], (self.C,), *self.last), self.tokens)

    def step(self, token, place, length, masked, products=False):
        """Logits after one token at `place`, which sees the first `length` rows of the cache."""
        F, seen = self.torch.nn.functional, None
        if masked:
            seen = (self.torch.arange(length, device=self.device) <= place)[None, None, None]

        def attend(q, keys, values):
            if not products:
                return F.scaled_dot_product_attention(q, keys, values, attn_mask=seen)
            scores = q @ keys.transpose(-1, -2) * self.D ** -0.5
            return scores.masked_fill(~seen, -self.torch.inf).softmax(-1) @ values

        def store(layer, k, v):
            self.keys[layer].index_copy_(1, place, k)
            self.values[layer].index_copy_(1, place, v)
            return self.keys[layer][:, :length], self.values[layer][:, :length], attend

        return self.through(self.tokens[token] + self.positions[place], store)

    def prompt(self, ids):
        T = ids.shape[0]

        attend = lambda q, keys, values: self.torch.nn.functional.scaled_dot_product_attention(
            q, keys, values, is_causal=True)

        def store(layer, k, v):
            self.keys[layer][:, :T] = k
            self.values[layer][:, :T] = v
            return k, v, attend

        return self.through(self.tokens[ids] + self.positions[:T], store)

    def choose(self, logits):
        self.token.copy_(logits.argmax(-1))
        self.place.add_(1)


def buckets(model, first):
    """(length, positions) of each bucket from position `first` on."""
    at = first
    while at < model.context:
        length = min(model.context, (at // BUCKET + 1) * BUCKET)
        yield length, length - at
        at = length


def captured(torch, work):
    """A CUDA graph of work(), which has run a few times before, as PyTorch requires."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph


def generators(torch, model, first):
    """name -> a function that generates all tokens from position `first` on; created on demand."""

    def eager():
        def run():
            for at in range(first, model.context):
                model.choose(model.step(model.token, model.place, at + 1, False))
        return run

    def in_graphs(step, products):
        graphs = []
        for length, count in buckets(model, first):
            def one(length=length):
                model.choose(step(model.token, model.place, length, True, products))
            model.place.fill_(length - 4)  # warm-up must stay within the cache
            graphs.append((captured(torch, one), count))

        def run():
            for graph, count in graphs:
                for _ in range(count):
                    graph.replay()
        return run

    def compiled(products):
        return in_graphs(torch.compile(model.step, dynamic=True), products)

    return {"eager": eager, "graphs": lambda: in_graphs(model.step, False),
            "graphs, two products": lambda: in_graphs(model.step, True),
            "compiled graphs": lambda: compiled(False),
            "compiled graphs, two products": lambda: compiled(True)}


def median_of(torch, runs, prepare, work):
    times = []
    for _ in range(runs + 1):
        prepare()
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def best_of(what, tries):
    """(name, seconds) of the fastest; each one is noted as a comment."""
    found = []
    for name, measure in tries.items():
        try:
            found.append((measure(), name))
            note("%s, %s: %.4e s" % (what, name, found[-1][0]))
        except Exception as error:  # a failure must not prevent the others
            note("%s, %s: failed: %s" % (what, name, error))
    return min(found)[::-1] if found else None


def torch_peers(wanted):
    """(op, dtype, shape) -> (name, seconds)."""
    try:
        import torch
    except ImportError as error:
        note("no PyTorch: %s" % error)
        return {}
    if not torch.cuda.is_available():
        note("PyTorch %s finds no GPU" % torch.__version__)
        return {}
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    note("PyTorch %s, CUDA %s: decode attends over what is held (slices, or buckets of %d positions)"
         % (torch.__version__, torch.version.cuda, BUCKET))
    peers = {}
    for ours, name, dtype in (("F32", "fp32", torch.float32), ("BF16", "bf16", torch.bfloat16)):
        rows = [key for key in wanted if key[1] == ours]
        if not rows:
            continue
        with torch.inference_mode():
            model = Model(torch, "124M", dtype, "cuda")

            def begin():
                model.token.zero_()
                model.place.fill_(PROMPT)

            def decode(make):
                run = make()
                return median_of(torch, 3, begin, run) / (model.context - PROMPT)

            if ("decode", ours, "1") in rows:
                tries = {way: (lambda make=make: decode(make))
                         for way, make in generators(torch, model, PROMPT).items()}
                peers["decode", ours, "1"] = best_of("PyTorch decode " + name, tries)
            for T in sorted(int(key[2]) for key in rows if key[0] == "prefill"):
                ids = torch.randint(0, model.V, (T,), device="cuda")

                def compiled(ids=ids):
                    run = torch.compile(model.prompt, dynamic=False)
                    return median_of(torch, 9, lambda: None, lambda: run(ids).argmax())

                def graph(ids=ids):
                    return median_of(torch, 9, lambda: None,
                                     captured(torch, lambda: model.prompt(ids).argmax()).replay)

                tries = {"eager": lambda ids=ids: median_of(torch, 9, lambda: None,
                                                            lambda: model.prompt(ids).argmax()),
                         "graph": graph, "compiled": compiled}
                if T < model.context:
                    del tries["compiled"]  # half a minute for an unused number
                peers["prefill", ours, str(T)] = best_of("PyTorch prompt of %d %s" % (T, name), tries)
            del model
            torch.cuda.empty_cache()
    named = {key: ("PyTorch %s %s" % (found[0], {"F32": "fp32", "BF16": "bf16"}[key[1]]), found[1])
             for key, found in peers.items() if found}
    for (op, dtype, shape), peer in list(named.items()):  # F16's peer: bf16, the same kernels
        if dtype == "BF16":
            named[op, "F16", shape] = peer
    return named


def llama_peers(wanted):
    """The same for llama.cpp: (op, version, dtype) -> (name, seconds)."""
    try:
        import llama_cpp
        sys.path.insert(0, str(HERE.parent / "tests"))
        import reference
    except ImportError as error:
        note("no llama.cpp beside the CPU's rows: %s" % error)
        return {}
    name = "llama.cpp (llama-cpp-python %s)" % llama_cpp.__version__
    cores, tokens, peers = os.cpu_count(), 16, {}
    kinds = {"F32": reference.F32, "F16": reference.F16, "Q8_0": reference.Q8_0}
    for dtype in sorted({key[2] for key in wanted}):
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model.gguf"
                reference.write(path, "124M", kinds[dtype])
                llm = llama_cpp.Llama(str(path), n_ctx=1024, n_batch=1024, n_ubatch=1024,
                                      n_threads=cores, n_threads_batch=cores, verbose=False)
                ids = [(t * 7919 + 13) % 50257 for t in range(450)]

                def prompt(count):
                    llm.reset()
                    start = time.perf_counter()
                    llm.eval(ids[:count])
                    return time.perf_counter() - start

                def decode(at):
                    prompt(at)
                    start = time.perf_counter()
                    for token in ids[:tokens]:
                        llm.eval([token])
                    return (time.perf_counter() - start) / tokens

                prompt(449)
                for key in (key for key in wanted if key[2] == dtype):
                    if key[0].startswith("prompt"):
                        times = [prompt(449) for _ in range(3)]
                    else:
                        times = [decode(int(key[1].split()[-1])) for _ in range(3)]
                    peers[key] = (name, statistics.median(times))
        except Exception as error:
            note("llama.cpp, %s: failed: %s" % (dtype, error))
    return peers


def self_test(device):
    """Every way must give the same tokens as processing the text at once."""
    import torch
    with torch.inference_mode():
        model = Model(torch, "tiny", torch.float32, device)
        first = 100
        ids = torch.randint(0, model.V, (first,), device=device)
        start = model.prompt(ids).argmax(-1)
        texts = {}
        for way, make in generators(torch, model, first).items():
            if device == "cpu" and way != "eager":  # a CPU has no graphs
                step = torch.compile(model.step, dynamic=True) if "compiled" in way else model.step

                def make(step=step, products="products" in way):
                    def run():
                        for length, count in buckets(model, first):
                            for _ in range(count):
                                model.choose(step(model.token, model.place, length, True, products))
                    return run
            try:
                run = make()
            except Exception as error:
                print("%s: failed: %s" % (way, error))
                continue
            model.prompt(ids)
            model.token.copy_(start)
            model.place.fill_(first)
            run()
            texts[way] = torch.stack(model.keys + model.values)[:, :, first:].clone()
        for way, held in texts.items():
            apart = float((held - texts["eager"]).abs().max())
            print("%s: keys and values at most %.2e from the eager ones" % (way, apart))
            if not apart < 1e-3:
                sys.exit("%s computes something else" % way)


def of_cpu(line):
    """Does a line of the CSV, a comment or a row, belong to the CPU?"""
    return line.startswith("# CPU") or next(csv.reader([line]), [""])[0].endswith(" on a CPU")


def put_into(path, measured):
    """`measured` is the output of a run on a CPU. Nothing is written unless it has rows."""
    new = measured.splitlines()
    said = [line if of_cpu(line) else "# CPU: " + line[1:].strip() for line in new if line.startswith("#")]
    rows = [line for line in new if not line.startswith("#") and of_cpu(line)]
    held = path.read_text().splitlines()
    kept = [line for line in held if not of_cpu(line)]
    notes = [line for line in kept if line.startswith("#")]
    table = kept[len(notes):]
    columns = next((line for line in new if line.startswith("op,")), None)
    if not rows or not table or table[0] != columns:
        sys.exit("%s stays as it is: %d rows of a CPU were measured, its columns are %s and those measured %s"
                 % (path, len(rows), table[:1], columns))
    path.write_text("\n".join(notes + said + table + rows) + "\n")


def asked_of_torch(row):
    """(op, dtype, shape) of PyTorch's counterpart of our row, or None. If tensor cores process the
    prompt in bf16, PyTorch uses bf16 too."""
    op = row["op"].removesuffix(" on tensor cores")
    rounded = op != row["op"] and row["dtype"] in ("F32", "Q8_0")
    if op == "prefill" or (op, row["version"]) == ("decode", "greedy"):
        return op, "BF16" if rounded else row["dtype"], row["shape"]
    return None


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--self-test":
        return self_test(sys.argv[2] if len(sys.argv) > 2 else "cuda")
    if len(sys.argv) > 3 and sys.argv[1] == "--into":
        run = subprocess.run([sys.executable, __file__, *sys.argv[3:]], stdout=subprocess.PIPE, text=True)
        return run.returncode or put_into(pathlib.Path(sys.argv[2]), run.stdout)
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    said = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True)
    if said.returncode != 0:
        sys.stdout.write(said.stdout)
        sys.exit(said.returncode)
    lines = said.stdout.splitlines()
    comments = [line for line in lines if line.startswith("#")]
    if comments:
        comments[0] += "; bench/torch_peer.py"
    print("\n".join(comments), flush=True)
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    on_gpu = {asked_of_torch(row) for row in rows} - {None}
    # On a GPU, F16 rows are compared with bf16, so bf16 is measured for either.
    on_gpu |= {(op, "BF16", shape) for op, dtype, shape in on_gpu if dtype == "F16"}
    on_cpu = {(row["op"], row["version"], row["dtype"]) for row in rows if " on a CPU" in row["op"]}
    peers = torch_peers(on_gpu) if on_gpu else {}
    llama = llama_peers(on_cpu) if on_cpu else {}
    out = csv.DictWriter(sys.stdout, rows[0].keys() if rows else [], lineterminator="\n")
    out.writeheader()
    for row in rows:
        found = llama.get((row["op"], row["version"], row["dtype"]))
        found = peers.get(asked_of_torch(row), found)
        if found:
            row["peer"], row["peer_s"] = found[0], "%.4e" % found[1]
        out.writerow(row)


if __name__ == "__main__":
    sys.exit(main())

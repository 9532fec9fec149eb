"""Pictures of the page on memory between host and device."""
from svg import COLOURS, FAINT, GREEN, ORANGE, PURPLE, SKY, Svg


def schedule(chunks, streams):
    """(chunk, engine, start) where each copy and kernel takes 1: engine 0 copies in, 1 runs kernels, 2 copies out. It starts
    when the work before it in its stream has ended and its engine is free."""
    stream_free, engine_free = [0] * streams, [0] * 3
    for chunk in range(chunks):
        for engine in range(3):
            start = max(stream_free[chunk % streams], engine_free[engine])
            stream_free[chunk % streams] = engine_free[engine] = start + 1
            yield chunk, engine, start


def overlap():
    """Four chunks on three engines over time, in one, two and four streams."""
    left, c, high = 72, 28, 26
    svg = Svg(440, 476, "Time lines of four chunks, each copied in, processed and copied out, one unit of time per step. In one "
                        "stream they take 12 units, in two streams 7, in four streams 6")
    for number, (streams, name) in enumerate(((1, "one stream"), (2, "two streams"), (4, "four streams"))):
        y = 36 + 144 * number
        work = list(schedule(4, streams))
        end = max(start for _, _, start in work) + 1
        svg.text(8, y - 12, f"{name}: {end} units of time")
        for engine, what in enumerate(("copy in", "kernel", "copy out")):
            svg.text(8, y + engine * high + 18, what, "note")
        for chunk, engine, start in work:
            svg.cell(left + start * c, y + engine * high, COLOURS[chunk], chunk, c, high)
        svg.text(left, y + 3 * high + 18, "0", "small")
        svg.arrow(left + 10, y + 3 * high + 13, left + end * c, y + 3 * high + 13)
        svg.text(left + end * c + 14, y + 3 * high + 18, str(end), "small")
    svg.text(8, 450, "A number and its colour are one chunk. A row is one", "note")
    svg.text(8, 468, "engine of the GPU, which does one thing at a time.", "note")
    return svg.done()


def host_memory():
    """The way of the data for each kind of host memory."""
    svg = Svg(440, 446, "Four kinds of host memory. Pageable: the CPU copies into a pinned buffer of the driver, from where a copy "
                        "engine copies to device memory. Pinned: a copy engine copies directly. Mapped: each access of a kernel "
                        "goes to host memory. Managed: whole pages move to where they are accessed")
    svg.text(8, 20, "host", "note")
    svg.text(432, 20, "GPU", "note end")

    def box(x, y, width, colour, text):
        svg.cell(x, y, colour, text, width, 36, "inkin tiny" if colour == FAINT else "in tiny")

    y = 34
    for name, note in (("pageable", "two copies: by the CPU, then by a copy engine"),
                       ("pinned", "one copy, by a copy engine"),
                       ("mapped", "no copy: each load of the kernel crosses the link"),
                       ("managed", "a page moves to where it is accessed")):
        svg.text(8, y + 14, name)
        row = y + 24
        if name == "pageable":
            box(8, row, 84, SKY, "your data")
            svg.arrow(92, row + 18, 128, row + 18)
            box(128, row, 84, FAINT, "driver's")
        else:
            box(8, row, 204, GREEN if name == "managed" else ORANGE, "your data" if name != "managed" else "page")
        if name == "mapped":
            svg.arrow(332, row + 18, 212, row + 18)
            box(332, row, 100, PURPLE, "kernel")
        elif name == "managed":
            svg.arrow(222, row + 12, 322, row + 12)
            svg.arrow(322, row + 26, 222, row + 26)
            box(332, row, 100, GREEN, "page")
        else:
            svg.arrow(212, row + 18, 332, row + 18)
            box(332, row, 100, FAINT, "device memory")
        svg.parts.append(f'<path class="lead" d="M272 {row - 8:g} L272 {row + 44:g}"/>')
        svg.text(8, row + 56, note, "note")
        y += 108
    svg.text(272, 20, "link", "note middle")
    return svg.done()


PICTURES = (host_memory, overlap)

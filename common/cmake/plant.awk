# A right file with one planted mistake, from a patch in wrong/:
#
#   awk -v right=day01_flat_memory/elementwise_cuda.cu -f plant.awk wrong/no_guard.patch <right file>
#
# The patch begins with words about itself (common/cmake/wrong.cmake); from the first line `--- a/...` on
# it is a unified diff of one file, as `git diff -U1` writes it. A hunk may have moved, but every line of
# it must be there as it is written, at one place only. In what is printed, a planted line counts as that
# line of the patch, and all others as those of the right file: compilers and the emulator name them so.
# With a line `only: <text>` the explicit instantiations without that text become blank lines: the linker
# takes the right file's.
function stop(line, sentence) {
    printf "%s:%d: error: %s. Plant it again (CONTRIBUTING.md).\n", patch, line, sentence > "/dev/stderr"
    failed = 1
    exit 1
}

function fits(h, at,    i) {
    for (i = 1; i <= olds[h]; ++i) if (text[at + i - 1] != old[h, i]) return 0
    return 1
}

# Where hunk h belongs: where it says, moved as the one before it was, or else the only place that fits.
function place(h, least,    at, found, places) {
    if (start[h] + moved >= least && fits(h, start[h] + moved)) return start[h] + moved
    for (at = least; at + olds[h] - 1 <= lines; ++at) if (fits(h, at)) { found = at; ++places }
    if (places != 1) {
        stop(header[h], "this hunk fits " right " at " (places + 0) " places, and should at one")
    }
    return found
}

# Blanks the explicit instantiations that `only` does not name. They begin a line and end with a semicolon.
function leave_out(    i, first, all, kept) {
    for (i = 1; i <= lines; ++i) {
        if (text[i] !~ /^template [^<]/) continue
        all = text[first = i]
        while (text[i] !~ /;$/ && i < lines) {
            all = all text[++i]
            gsub(/  +/, " ", all)
        }
        if (index(all, only)) { ++kept; continue }
        for (; first <= i; ++first) text[first] = ""
    }
    if (!kept) stop(only_at, right " has no explicit instantiation with \"" only "\"")
}

FNR == 1 { ++file }

file == 1 {
    patch = FILENAME
    if (/^@@ -[0-9]+/) {
        ++hunks
        header[hunks] = FNR
        start[hunks] = substr($2, 2) + 0
    } else if (hunks && /^([-+ ]|$)/) {
        kind[hunks, ++steps[hunks]] = substr($0 " ", 1, 1)
        new[hunks, steps[hunks]] = substr($0, 2)
        number[hunks, steps[hunks]] = FNR
        if (!/^[+]/) old[hunks, ++olds[hunks]] = substr($0, 2)
    } else if (hunks && !/^\\/) {
        stop(FNR, "a line of a hunk begins with a blank, a - or a +")
    } else if (/^only: /) {
        only = substr($0, 7)
        only_at = FNR
    }
    next
}

{ text[++lines] = $0 }

END {
    if (failed) exit 1
    if (!hunks) stop(1, "there is no hunk, a line @@ -12,3 +12,2 @@ and what follows it")
    if (only) leave_out()
    printf "#line 1 \"%s\"\n", FILENAME
    at = 1
    for (h = 1; h <= hunks; ++h) {
        to = place(h, at)
        moved = to - start[h]
        while (at < to) print text[at++]
        planted = 0
        for (s = 1; s <= steps[h]; ++s) {
            if (kind[h, s] == "+") {
                if (!planted) printf "#line %d \"%s\"\n", number[h, s], patch
                print new[h, s]
                planted = 1
                continue
            }
            if (planted || kind[h, s] == "-") back = 1
            planted = 0
            if (kind[h, s] == "-") { ++at; continue }
            if (back) printf "#line %d \"%s\"\n", at, FILENAME
            back = 0
            print text[at++]
        }
        if (planted || back) printf "#line %d \"%s\"\n", at, FILENAME
        back = 0
    }
    while (at <= lines) print text[at++]
}

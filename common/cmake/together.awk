# Several .cu files as one, for nvcc: most of its time goes by reading headers, and then it reads them once.
#   awk -f together.awk 02_lanes.cu 03_shared_tile.cu ... > together.cu
# Files may have things of their own (`namespace {`, `extern __shared__`) under one name: BM, kThreads, launch.
# While a file is read, such a name has the file's number behind it. All headers were read before,
# but those that `#if` may leave out: a file that lacks an `#include` is found only where it is compiled alone.
function own(name) {
    if (name == "" || (files, name) in known) return
    known[files, name]
    ++uses[name]
    owned[files] = owned[files] " " name
}
FNR == 1 { path[++files] = FILENAME; inside = depth = 0; head = "" }
/^#if/ { ++depth }
/^#endif/ { --depth }
/^#include / && depth == 0 && !($2 in read) { read[$2]; print }
/^namespace {/ { inside = 1; next }
/^}  \/\/ namespace$/ { inside = 0 }
/extern __shared__/ && match($0, /[A-Za-z_0-9]+\[/) { own(substr($0, RSTART, RLENGTH - 1)) }
# What it declares begins a line, and has a name before `(`, before `=`, or after `struct`.
inside && (head != "" || /^[A-Za-z_]/) && !/^template/ {
    sub(/\/\/.*/, "")
    head = head " " $0
    if (head !~ /[;{]/) next
    if (match(head, /enum *{[^}]*/)) {  # without a name: its values
        head = substr(head, RSTART + 4, RLENGTH - 4)
        gsub(/=[^,]*/, "", head)
        gsub(/[{ ]/, "", head)
        count = split(head, each, ",")
        for (i = 1; i <= count; ++i) own(each[i])
        head = ""
        next
    }
    sub(/[;{].*/, "", head)
    gsub(/__launch_bounds__\([^()]*\)|alignas\([^()]*\)/, "", head)
    if (head ~ /^ *using [^=]*$/) {  # what another one declares
    } else if (match(head, /^ *(struct|class|enum class|enum|using) +[A-Za-z_0-9]+/)) {
        name = substr(head, RSTART, RLENGTH)
        sub(/.* /, "", name)
        own(name)
    } else if (head ~ /^[^=]*\(/) {
        match(head, /[A-Za-z_0-9]+\(/)
        own(substr(head, RSTART, RLENGTH - 1))
    } else {
        count = split(head, each, ",")
        for (i = 1; i <= count; ++i) {
            if (match(each[i], /[A-Za-z_0-9]+(\[[^]]*\])* *=/)) {
                name = substr(each[i], RSTART, RLENGTH)
                sub(/[^A-Za-z_0-9].*/, "", name)
                own(name)
            }
        }
    }
    head = ""
}
END {
    for (f = 1; f <= files; ++f) {
        count = split(owned[f], names, " ")
        for (i = 1; i <= count; ++i) if (uses[names[i]] > 1) print "#define " names[i] " " names[i] "_" f
        print "#include \"" path[f] "\""
        for (i = 1; i <= count; ++i) if (uses[names[i]] > 1) print "#undef " names[i]
    }
}

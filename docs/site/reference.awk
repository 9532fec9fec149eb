# What Doxygen reads instead of a header: the same lines, one for one, with what groups the
# reference by day and by part of common/, so that no header has to say it.
#
#   day01_flat_memory/*.hpp  ->  group reference_day01_flat_memory
#   common/tensor/*.hpp      ->  group reference_tensor
#
# Where a port or a check_ stands right below its documented loop, it gets a sentence of its own.
#
#   awk -v root=<project folder> -f reference.awk <header>
function group_of(path) {
    if (index(path, root "/") == 1) path = substr(path, length(root) + 2)
    split(path, part, "/")
    if (part[1] ~ /^day[0-9][0-9]_/) return "reference_" part[1]
    if (part[1] == "common") return "reference_" part[2]
    return ""
}

FNR == 1 { group = group_of(FILENAME); open = 0; before = "" }

/^namespace sixdays.*{$/ && group { print; open = 1; before = ""; next }
open == 1 && /^$/ { print "/** @addtogroup " group " */ /** @{ */"; open = 2; before = ""; next }
/^}  \/\/ namespace sixdays/ && open == 2 { print "/** @} */" $0; open = 0; next }

match($0, /^[a-z][A-Za-z0-9_:<>\[\] ]* [a-z0-9_]+\(/) {
    name = substr($0, 1, RLENGTH - 1)
    sub(/^.* /, "", name)
    seen[name] = 1
    if (before ~ /;$/ && name ~ /_cuda$/) {
        loop = name
        sub(/_cuda$/, "_cpu", loop)
        if (loop in seen) {
            printf "%s", "/** The port of " loop "(): views of device memory, launched on `stream`, returns at once. */ "
        }
    } else if (before ~ /;$/ && name ~ /^check_/) {
        loop = name
        sub(/^check_/, "", loop)
        if ((loop "_cpu") in seen) {
            printf "%s", "/** What " loop "_cpu() and its ports reject. @throws std::invalid_argument */ "
        }
    }
}

{ print; before = $0 }

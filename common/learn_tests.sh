#!/usr/bin/env bash
# Tests of common/learn, in a copy of the tree: nothing is installed, nothing of yours is touched.
#   learn_tests.sh words   what it says, and what start, hint and reset do to files
#   learn_tests.sh check   builds: the stub is refused in words, the solution passes
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree="$scratch/a tree"  # a space in the path is legal
mkdir "$tree" "$scratch/bin"
for part in "$root"/*; do
    case ${part##*/} in build | my) ;; *) cp -R "$part" "$tree/" ;; esac
done
for tool in apt-get sudo; do  # whatever happens, the tests install nothing
    printf '#!/bin/sh\necho "tests do not install" >&2\nexit 1\n' >"$scratch/bin/$tool"
    chmod +x "$scratch/bin/$tool"
done
export PATH=$scratch/bin:$PATH
cd "$tree"

failures=0
learn=(common/learn)
complain() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$1"
    sed 's/^/    /' "$scratch/said"
}

# learns <what it shows> <status> <regular expression>... -- <argument of learn>...
learns() {
    local what=$1 wanted=$2 status=0 patterns=() pattern
    shift 2
    while [[ $1 != -- ]]; do
        patterns+=("$1")
        shift
    done
    shift
    "${learn[@]}" "$@" >"$scratch/said" 2>&1 </dev/null || status=$?
    if ((status != wanted)); then complain "$what: status $status, not $wanted"; fi
    for pattern in "${patterns[@]}"; do
        grep -qE -- "$pattern" "$scratch/said" || complain "$what: nothing reads \"$pattern\""
    done
}

holds() {  # holds <what it shows> <command>...
    local what=$1
    shift
    "$@" >"$scratch/said" 2>&1 || complain "$what: $*"
}

day=day01_flat_memory
exercises=()
for stub in "$day"/exercises/*/stub.cu; do
    stub=${stub%/stub.cu}
    exercises+=("${stub##*/}")
done
one=${exercises[0]} other=${exercises[1]}
mine=my/$day/$one.cu

words() {
    local number count tool
    learns "help" 0 'common/learn run \[day\]' 'common/learn doctor' -- --help
    learns "an unknown verb" 2 '"dance"' 'run, test, start' -- dance
    learns "an unknown day" 2 'no day "day77"' "$day" -- run day77
    learns "a day's number alone" 0 "$day" -- start 1
    learns "an unknown exercise" 2 'nonsense' "$one" "$other" -- hint day01 nonsense
    learns "a word too many" 2 'too many' -- start day01 "$one"
    learns "a flag that bench does not know" 2 'too many' -- bench day01 --fast
    learns "a day that must be named" 2 'Which day' -- hint

    rm -r my
    learns "progress at first" 0 "$day" "0 of ${#exercises[@]}" 'Next: common/learn run' --
    learns "a check of nothing" 1 'common/learn start day01' -- check
    learns "start" 0 "$mine" "exercises/$one/$one.hpp" 'common/learn check day01' -- start day01
    holds "start copies the stub" cmp "$mine" "$day/exercises/$one/stub.cu"
    echo '// my idea' >>"$mine"
    learns "start again" 0 'left as it is' -- start day01
    holds "start overwrites nothing" grep -q 'my idea' "$mine"

    learns "reset" 0 "$mine.1" -- reset day01 "$one"
    holds "reset puts the stub back" cmp "$mine" "$day/exercises/$one/stub.cu"
    holds "reset keeps what was there" grep -q 'my idea' "$mine.1"
    learns "reset of a stub" 0 'already' -- reset day01 "$one"
    echo '// my second idea' >>"$mine"
    learns "reset again" 0 "$mine.2" -- reset day01
    holds "reset keeps the older file too" grep -q 'my idea' "$mine.1"
    holds "reset leaves nothing half-written" test -z "$(find my -name '*.new')"

    count=$(grep -c '^## Hint ' "$day/exercises/$one/hints.md")
    for ((number = 1; number <= count; ++number)); do
        learns "hint $number" 0 "hint $number of $count" -- hint day01 "$one"
    done
    holds "the last hint is more than its heading" test "$(wc -l <"$scratch/said")" -gt 2
    learns "no more hints" 0 'last hint' "$one/solution.cu" -- hint day01 "$one"
    learns "hints of the other exercise" 0 'hint 1 of' -- hint day01 "$other"
    learns "progress shows hints" 0 "$one +started, hints seen: $count" --
    sed -i "s|^$day/$one result .*|$day/$one result passed|" my/progress
    learns "progress shows what is solved" 0 "$one +solved" "1 of ${#exercises[@]}" --
    learns "hints after solving" 0 'last hint' -- hint day01 "$one"

    cd "$scratch"
    holds "from another folder" grep -q "$tree/$day" <("$tree/common/learn" start day01)
    cd "$tree"

    # A machine with nothing: a sentence, not an error of the shell.
    mkdir "$scratch/bare"
    for tool in bash env cat sed grep awk dirname readlink basename ls sort head tail mkdir rm cp mv \
        find timeout mktemp touch flock; do
        ln -s "$(command -v "$tool")" "$scratch/bare/$tool"
    done
    PATH=$scratch/bare learns "a machine with nothing" 1 'Missing here: (g\+\+ )?ninja-build cmake' \
        'apt install' 'no apt' -- run
    PATH=$scratch/bare learns "doctor there" 0 'CMake +missing' 'no nvcc' -- doctor
    alone
    unwritable
    folder_names
}

# Two runs in one tree: the second waits for the first, and for nobody who is dead.
alone() {
    local lock=build/learn.lock holder
    printf 'test, process 7' >"$lock"
    flock "$lock" sleep 2 &
    holder=$!
    until ! flock -n "$lock" true; do sleep 0.1; done
    PATH=$scratch/bare learns "a second run" 1 'Another common/learn \(test, process 7\)' \
        'Missing here' -- run
    holds "it waited" test ! -d "/proc/$holder"
    holds "it says who it is" grep -q '^run, process [0-9]' "$lock"

    flock "$lock" sleep 60 &
    holder=$!
    until ! flock -n "$lock" true; do sleep 0.1; done
    kill -KILL "$(pgrep -P "$holder")" "$holder"
    wait "$holder" 2>/dev/null || true
    PATH=$scratch/bare learns "after a run that was killed" 1 'Missing here' -- run
    holds "it waited for nobody" test "$(grep -c Another "$scratch/said")" -eq 0
}

# A tree that one may read and not change.
unwritable() {
    local learn=(common/learn) catch2
    catch2=$(common/learn doctor | grep Catch2)
    rm -rf my build
    if ((EUID == 0)); then
        chmod 755 "$scratch"
        learn=(setpriv --reuid=65534 --clear-groups common/learn)
    else
        chmod a-w .
    fi
    learns "a tree to read only" 1 'Nothing can be written to .*/build \(Permission denied\)' \
        'folder of your own' -- run
    holds "nothing of the shell's, nothing of Catch2" test "$(wc -l <"$scratch/said")" -eq 2
    learns "no exercise starts there" 1 'Nothing can be written to .*/my/' -- start day01
    learns "doctor there" 0 "$catch2" -- doctor
    holds "doctor says nothing of the shell's" test "$(grep -c 'mkdir\|annot' "$scratch/said")" -eq 0
    chmod u+w .
}

folder_names() {
    local name
    # shellcheck disable=SC2016  # a dollar is meant
    for name in 'a[b' 'a]b' 'a;b' 'a#b' 'a\b' 'a"b' 'a$b'; do
        mkdir "$scratch/$name"
        cp -R common CMakeLists.txt CMakePresets.json "$scratch/$name"
        cd "$scratch/$name"
        learns "a folder named $name" 1 'Rename the folder' -- run
        holds "nothing is built there" test ! -e build
        if cmake --preset default >"$scratch/said" 2>&1; then complain "CMake takes $name"; fi
        cd "$tree"
    done
}

check() {
    # Not optimised and without nvcc: this is about words.
    export SIXDAYS_CMAKE_ARGS='-DSIXDAYS_CUDA=OFF -DCMAKE_BUILD_TYPE=Debug'
    learns "start" 0 "$mine" -- start day01
    learns "the stubs" 1 "^$one: refused" "^$other: refused" 'The first case that fails: .' \
        "my/$day/$one.log" 'common/learn hint day01' -- check day01
    learns "progress after it" 0 "$one +not right yet" --

    cp "$day/exercises/$one/solution.cu" "$mine"
    cp "$day/exercises/$other/solution.cu" "my/$day/$other.cu"
    echo 'static int broken = nowhere;' >>"my/$day/$other.cu"
    learns "a solution and a broken file" 1 "^$one: passed" "^$other: does not compile" \
        "my/$day/$other.cu:[0-9]+:[0-9]+: error: .*nowhere" -- check day01
    holds "only the learner's file is shown" test "$(grep -c ' error: ' "$scratch/said")" -eq 1
    learns "progress after that" 0 "$one +solved" "1 of ${#exercises[@]}" --

    sed 's/[a-z_]*<<</[]{}<<</' "$day/exercises/$other/solution.cu" >"my/$day/$other.cu"
    learns "a launch that the emulator cannot read" 1 "^$other: does not compile" \
        "my/$day/$other.cu:[0-9]+" -- check day01 "$other"
    sed 's/_cuda(/_cudo(/' "$day/exercises/$other/solution.cu" >"my/$day/$other.cu"
    learns "a function of another name" 1 "^$other: .*not complete" "${other}_cud" -- check 1 "$other"

    cp "$day/exercises/$other/solution.cu" "my/$day/$other.cu"
    learns "the solutions" 0 "^$one: passed" "^$other: passed" -- check day01
    learns "progress at the end" 0 "${#exercises[@]} of ${#exercises[@]} exercises solved" --
}

case ${1:-} in
    words | check) "$1" ;;
    *) echo "usage: learn_tests.sh words | check" >&2 && exit 2 ;;
esac
if ((failures > 0)); then
    echo "$failures expectations failed"
    exit 1
fi
echo "common/learn $1: as expected"

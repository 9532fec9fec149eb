#!/usr/bin/env bash
# Tests of common/learn, in a copy of the tree: they install nothing and change none of your files.
#   learn_tests.sh words   its output, and what start, hint and reset do to files
#   learn_tests.sh check   builds: the stub fails with an explanation, the solution passes
set -euo pipefail

# Only the tools that a build needs count: the rest of this machine's environment is dropped.
if [[ ${1:-} != --clean ]]; then
    kept=(PATH="$PATH" HOME=/nonexistent)
    for name in TMPDIR LDFLAGS; do if [[ ${!name:-} ]]; then kept+=("$name=${!name}"); fi; done
    exec "$(command -v env)" -i "${kept[@]}" "$BASH" "${BASH_SOURCE[0]}" --clean "$@"
fi
shift

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/$'a (tree), 100% {odd} + =@~!: \303\274'  # all legal odd characters
mkdir "$tree" "$scratch/bin" "$scratch/tools" "$scratch/machine"
for part in "$root"/*; do
    case ${part##*/} in build | my) ;; *) cp -R "$part" "$tree/" ;; esac
done
# Tools of every system, by their own names, since `busybox` and the like depend on those.
for tool in awk basename bash cat chmod cmp comm cp cut date diff dirname echo env find flock fold grep head install kill ln ls \
    mkdir mkfifo mktemp mv nproc printf readlink rm rmdir sed setpriv setsid sh sleep sort stat tail tee timeout touch tr true \
    pgrep uname uniq wc; do
    ln -s "$(type -P "$tool")" "$scratch/tools/$tool"
done
fake() {  # fake <tool>: comes before this machine's own on PATH; the script is on stdin
    cat >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
for tool in apt-get sudo; do  # the tests must not install anything
    fake "$tool" <<<$'#!/bin/sh\necho "tests do not install" >&2\nexit 1'
done
fake nvidia-smi <<<$'#!/bin/sh\nexit 9'  # no GPU answers
real_path=$PATH
export PATH=$scratch/bin:$PATH
cd "$tree"

failures=0
learn=(common/learn)
complain() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$1"
    sed 's/^/    /' "$scratch/said"
}

answer=/dev/null  # what stdin holds
# learns <what it shows> <status> <regular expression>... -- <argument of learn>...
learns() {
    local what=$1 wanted=$2 status=0 patterns=() pattern
    shift 2
    while [[ $1 != -- ]]; do
        patterns+=("$1")
        shift
    done
    shift
    "${learn[@]}" "$@" >"$scratch/said" 2>&1 <"$answer" || status=$?
    if ((status != wanted)); then complain "$what: status $status, not $wanted"; fi
    for pattern in "${patterns[@]}"; do
        grep -qE -- "$pattern" "$scratch/said" || complain "$what: nothing reads \"$pattern\""
    done
}

silent() {  # silent <what it shows> <regular expression>: the output must not match
    if grep -qE -- "$2" "$scratch/said"; then complain "$1: something reads \"$2\""; fi
}

holds() {  # holds <what it shows> <command>...
    local what=$1
    shift
    "$@" >"$scratch/said" 2>&1 || complain "$what: $*"
}

day=day01_flat_memory
mkdir "$scratch/small"
mv "$day"/exercises/*.cu "$day/exercises/cases.cpp" "$scratch/small"  # back in small()
exercises=()
for solution in "$day"/exercises/*/solution.cu; do
    solution=${solution%/solution.cu}
    exercises+=("${solution##*/}")
done
printf '*%s minutes.*\n' 'Must read, 7' 'Optional, 90' 'Must read, 5' >"docs/$day.md"
one=${exercises[0]} other=${exercises[1]}
mine=my/$day/$one.cu

stub() { awk -f common/cmake/stub.awk "$day/exercises/$1/solution.cu"; }

# A fake machine: fake g++, CMake and Ninja, and nothing else. Headers exist if $scratch/machine has
# them, built programs print their names, and $CALLS lists the calls of CMake.
pretend_a_machine() {
    export PATH=$scratch/bin:$scratch/tools SIXDAYS_MACHINE=$scratch/machine CALLS=$scratch/calls
    : >"$CALLS"
    fake g++ <<'END'
#!/usr/bin/env bash
case " $* " in
    *" -dumpfullversion "*) echo 12.2.0 ;;
    *" -print-multiarch "*) echo x86_64-linux-gnu ;;
    *)
        while IFS= read -r line; do
            header=${line#*<}
            if [[ $line == "#include <"*".h>" && ! -e $SIXDAYS_MACHINE/usr/include/${header%>} ]]; then exit 1; fi
        done
        ;;
esac
END
    # shellcheck disable=SC2016  # to be expanded there
    fake ninja <<<$'#!/bin/sh\ncase "$*" in *targets*) cat "$SIXDAYS_MACHINE/targets" ;; *) echo "1.11 $LC_ALL" ;; esac'
    fake cmake <<'END'
#!/usr/bin/env bash
program() {
    mkdir -p "${1%/*}"
    printf '#!/bin/sh\nif test "$RUNS"; then exec sh "$RUNS" "$0" "$@"; fi\necho "this is %s $*"\nif test "$HOLD"; then read x <"$HOLD"; fi\n' \
        "${1##*/}" >"$1"
    chmod +x "$1"
}
printf '%s\n' "$*" >>"$CALLS"
case " $* " in
    *" --version "*) echo "cmake version 3.25.1" ;;
    *" -S "*"/common/emulator/try -B "*) echo made >"${7}/build.ninja" ;;
    *" -S "*) echo "-- Catch2=3.1.0" ;;
    *" --preset default "*)
        case ${CMAKE_DOES:-} in
            hangs) echo hanging >>"$CALLS" && exec sleep 60 ;;
            "fills the disk") echo "file failed to open for writing (No space left on device)" && exit 1 ;;
        esac
        folder=build/default
        if [[ $3 == -B ]]; then folder=$4; fi
        mkdir -p "$folder"
        if [[ ${CMAKE_DOES:-} != "loses a file" ]]; then echo made >"$folder/build.ninja"; fi
        pages="python3 was not found"
        if command -v python3 >/dev/null && [[ ${CMAKE_DOES:-} != "finds no pages" ]]; then pages=ON; fi
        printf '%s\n' "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "SIXDAYS_PAGES:INTERNAL=$pages" "Catch2_DIR:PATH=/fake" \
            "SIXDAYS_BUILT_WITH_NVCC:INTERNAL=${NVCC:-OFF}" >"$folder/CMakeCache.txt"
        ;;
    *" --build "*)
        if [[ ${CMAKE_DOES:-} == "fills the disk" ]]; then echo "ld: final link failed: No space left on device" && exit 1; fi
        while (($# > 0)) && [[ $1 != --target ]]; do shift; done
        for target in "${@:2}"; do program "build/default/bin/$target"; done
        ;;
    *" --install "*) program "${*: -1}/bin/cudatry" ;;
esac
END
}

words() {
    local number count tool word solution name
    pretend_a_machine
    learns "help" 0 'common/learn run \[day\]' 'common/learn doctor' -- --help
    learns "an unknown verb" 2 '"dance"' 'run, test, start' -- dance
    learns "an unknown day" 2 'no day "day77"' "$day" -- run day77
    for number in 1 01 day1 day01 DAY1 day01_flat "Day 1" "day 01"; do
        read -ra word <<<"$number"
        learns "a day called $number" 0 "^$day: in this order" -- start "${word[@]}"
    done
    learns "an extra word after Day 1" 2 '"more" is one word too many' -- start Day 1 more
    rm -rf day06_transformer_ops docs/day02_strides.md  # an unfinished day, and one without a page
    learns "an unfinished day" 2 'day06_transformer_ops is not finished yet.* Available: .*day03' -- run 6
    learns "a day that is not planned" 2 'no day "day07"' -- run 7
    learns "an unknown exercise" 2 'nonsense' "$one" "$other" -- hint day01 nonsense
    learns "a word too many" 2 'too many' -- start day01 "$one"
    learns "gpt2 --mine before an exercise has passed" 1 \
        '^  row_by_block +choosing the next token +ours, until common/learn check day04 row_by_block passes' \
        'None of your kernels has passed yet' -- gpt2 --mine
    learns "chat without a model" 2 'common/learn chat --model FILE; docs/llama\.md says where to get one' -- chat
    learns "chat with another flag alone" 2 'Name a model made for conversations' -- chat --stats
    learns "a flag that bench does not know" 2 'too many' -- bench day01 --fast
    learns "a day after test --sanitizer" 2 'no day "day77"' -- test --sanitizer day77
    learns "two days and --sanitizer" 2 '"day02" is one word' -- test day01 --sanitizer day02
    learns "a day that must be named" 2 'Which day' -- hint

    rm -r my
    learns "progress at first" 0 "$day" "0 of ${#exercises[@]}" 'Next: common/learn run' \
        'day06_transformer_ops +not finished yet' '^    run +[0-9]+ minutes +common/learn run day02' \
        "^    page +12 minutes +docs/$day.md" --
    for solution in day*/exercises/*/solution.cu; do
        name=${solution%/solution.cu} name=${name##*/}
        grep -qE "^    $name +[0-9]+ minutes, (easy|medium|hard) +not started\$" "$scratch/said" ||
            complain "$name has no difficulty or no minutes"
        awk '/^## /{ on = $0 == "## Why" } on && /./{ ++n } END { exit n < 3 }' "${solution%/*}/hints.md" ||
            complain "$name does not say why its solution is right"
    done
    install -D /bin/true "build/default/bin/${day}_emulated"  # as if the lesson had run
    learns "next after a run" 0 "^Next: common/learn start day01, for the exercises of $day" --
    rm "build/default/bin/${day}_emulated"
    for number in 1 1; do
        learns "a hint before start is free" 0 "hint 1 of" 'not started' -- hint day01 "$one"
    done
    learns "a check without files" 1 'common/learn start day01' -- check
    learns "start" 0 "$mine" "exercises/$one/$one.hpp" 'common/learn check day01' \
        "^  $one: .* \((easy|medium|hard), [0-9]+ minutes\)" -- start day01
    holds "start writes the stub" cmp "$mine" <(stub "$one")
    holds "with its placeholder" grep -q '^    const dim3 grid(1, 1);$' "$mine"
    holds "and without the solution" test "$(grep -c 'blocks_for\|stub' "$mine")" -eq 0
    echo '// my idea' >>"$mine"
    learns "start again" 0 'left unchanged' -- start day01
    holds "start overwrites nothing" grep -q 'my idea' "$mine"

    learns "reset" 0 "$mine.1" -- reset day01 "$one"
    holds "reset restores the stub" cmp "$mine" <(stub "$one")
    holds "reset keeps what was there" grep -q 'my idea' "$mine.1"
    learns "reset of a stub" 0 'already' -- reset day01 "$one"
    echo '// my second idea' >>"$mine"
    learns "reset again" 0 "$mine.2" -- reset day01
    holds "reset keeps the older file too" grep -q 'my idea' "$mine.1"
    holds "reset leaves nothing half-written" test -z "$(find my -name '*.new')"

    mv my/progress "$scratch/progress"
    printf '%s\n' "$day/$one hints a[\$(touch '$scratch/run')]" "$day/$one result" '||| \(' >my/progress
    learns "progress that is damaged" 0 "^    $one +[0-9]+ minutes, (easy|medium|hard) +not started\$" --
    learns "a hint after an invalid number of hints" 0 'hint 1 of' -- hint day01 "$one"
    holds "nothing in the file is executed" test ! -e "$scratch/run"
    holds "unknown lines are kept" grep -qxF '||| \(' my/progress
    rm my/progress && mkdir my/progress
    learns "progress is a folder" 0 'hint 1 of' 'progress is not a file' -- hint day01 "$one"
    rmdir my/progress && mv "$scratch/progress" my/progress

    count=$(grep -c '^## Hint ' "$day/exercises/$one/hints.md")
    for ((number = 1; number <= count; ++number)); do
        learns "hint $number" 0 "hint $number of $count" -- hint day01 "$one"
    done
    silent "the last hint ends before the reasons" 'Why'
    holds "the last hint is more than its heading" test "$(wc -l <"$scratch/said")" -gt 2
    learns "no more hints" 0 'last hint' "common/learn solution day01 $one" -- hint day01 "$one"
    learns "hints of the other exercise" 0 'hint 1 of' -- hint day01 "$other"
    learns "a solution needs a confirmation" 1 "not solved $one yet" 'Not shown' -- solution day01
    silent "the solution is not shown" 'your code|Why it is right'
    echo y >"$scratch/yes" && answer=$scratch/yes
    learns "a solution, after a yes" 0 "^$one, a solution|^.*\[y/N\]" '// your code' \
        'Why it is right' 'Both guards are needed' 'Compare with yours: diff' -- solution day01
    answer=/dev/null
    learns "progress shows hints" 0 "$one .* not started, hints seen: $count" --
    sed -i "s|^$day/$one result .*|$day/$one result passed|" my/progress
    learns "progress shows solved exercises" 0 "$one .* done" "1 of ${#exercises[@]}" --
    learns "what is next" 0 "^Next: fill in my/$day/$other.cu, then common/learn check day01" --
    learns "a solution after solving" 0 "^$one, a solution" 'blocks_for' 'Why it is right' -- solution day01
    silent "no confirmation is needed" '\[y/N\]'
    learns "the other one still asks" 1 "not solved $other yet" -- solution day01 "$other"
    learns "hints after solving" 0 'last hint' -- hint day01 "$one"

    report

    cd "$scratch"
    holds "from another folder" grep -q "$tree/$day" <("$tree/common/learn" start day01)
    cd "$tree"

    # A machine without any tools: a message, not an error of the shell.
    PATH=$scratch/tools learns "a machine without tools" 1 'Missing: (g\+\+ )?ninja-build cmake' \
        'apt install' 'no apt' -- run
    PATH=$scratch/tools learns "the same with --nvcc" 1 'Missing: (g\+\+ )?ninja-build cmake' -- run --nvcc day01
    PATH=$scratch/tools learns "doctor there" 0 'CMake +missing' 'no nvcc' -- doctor
    package_managers
    exercise_alone
    environments
    names_are_no_code
    day_and_pages
    ended_early
    nobody_waits
    run_targets
    test_log
    pypi_nvcc
    which_nvcc
    on_a_gpu
    gpu_from_outside
    alone
    unwritable
    folder_names
}

# The report for a teacher, from the entries of all kinds, an older file, a damaged and an empty one.
report() {
    local today=20..-..-.. row
    mv my/progress "$scratch/progress"
    learns "a report without a file" 0 "^# Report of $today\$" '^0 of [0-9]+ exercises passed\. Hints seen: 0\.' \
        "^\| $day \| .$one. \| started \| 0 \|  \|  \|\$" -- report
    : >my/progress
    learns "an empty file" 0 '^0 of ' -- report
    silent "it is not damaged" 'not valid'
    learns "a hint is counted" 0 'hint 1 of' -- hint day01 "$one"
    learns "and another" 0 'hint 2 of' -- hint day01 "$one"
    printf '%s\n' "$day/$one result passed" "$day/$one started 2026-09-01" "$day/$one passed 2026-09-30" \
        "$day/$other result rejected" >>my/progress
    learns "what passed, hints and dates" 0 '^1 of [0-9]+ exercises passed\. Hints seen: 2\.' \
        "^\| $day \| .$one. \| passed \| 2 \| 2026-09-01 \| 2026-09-30 \|\$" \
        "^\| $day \| .$other. \| not passing \| 0 \|  \|  \|\$" -- report
    row="\"day\": \"$day\", \"exercise\""
    learns "the same as JSON" 0 '^  "passed": 1,$' '^  "hints": 2,$' \
        "^    \{$row: \"$one\", \"state\": \"passed\", \"hints\": 2, \"started\": \"2026-09-01\", \"first_passed\": \"2026-09-30\"\},\$" \
        "^    \{$row: \"$other\", \"state\": \"not passing\", \"hints\": 0, \"started\": null, \"first_passed\": null\},\$" -- report --json
    if PATH=$real_path type -P python3 >/dev/null; then
        holds "any reader of JSON takes it" env PATH="$real_path" python3 -m json.tool <(common/learn report --json)
    fi
    printf '%s\n' "$day/$one hints a[\$(touch '$scratch/run')]" "$day/$other passed 0" "$day/nothing result passed" \
        $'\e[31m' "$day/$one result \$(touch '$scratch/run')" >>my/progress
    learns "a damaged file" 0 "^my/progress, line 6, is not valid and is left out: '?$day/$one hints a" \
        "line 7, .*$other passed 0" 'line 8, .*/nothing result' 'has 2 more lines that are not valid' \
        "^\| $day \| .$one. \| passed \| 2 \| 2026-09-01 \| 2026-09-30 \|\$" "^\| $day \| .$other. \| not passing \| 0" -- report
    holds "nothing in it is executed" test ! -e "$scratch/run"
    rm my/progress && mkdir my/progress
    learns "a folder" 1 'There is no report: my/progress is a folder, not a file' -- report
    rmdir my/progress
    learns "an unknown format" 2 '"--xml" is one word too many' -- report --xml
    rm "my/$day/$one.cu"
    learns "start" 0 "$one" -- start day01
    learns "its date" 0 "^\| $day \| .$one. \| started \| 0 \| $today \|  \|\$" -- report
    mv "$scratch/progress" my/progress
}

# What `run`, `gpt2`, `chat` and `train` build on each kind of machine: nothing for a missing GPU. `chat` passes its flags on.
run_targets() {
    local verb gpu nvcc wanted
    cat >"$scratch/targets.sh" <<'END'
verb=$1 gpu=$2 nvcc=$3 build=$4 root=.
days=(day06_transformer_ops) why_no_gpu=none
source common/learn.d/lessons.sh
source common/learn.d/gpt2.sh
say() { :; }
note() { :; }
need() { :; }
configure() { :; }
read_and_solve() { :; }
find_gpu() { [[ $gpu == gpu ]]; }
built_with_nvcc() { [[ $nvcc == nvcc ]]; }
build_one() {  # each built program succeeds
    printf '%s ' "${@:2}"
    rm -rf "$build" && mkdir -p "$build/bin"
    for program in "${@:2}"; do ln -s "$(type -P "$program_is")" "$build/bin/${program%_command}"; done
}
program_is=true flags=()
if [[ $verb == chat ]]; then program_is=echo flags=(--stats --model my.gguf); fi
"verb_$verb" "${flags[@]}" || printf "failed "
END
    while read -r verb gpu nvcc wanted; do
        holds "what $verb builds with $gpu and $nvcc" test "$wanted" = \
            "$(bash -eu "$scratch/targets.sh" "$verb" "$gpu" "$nvcc" "$scratch/pretended" | sed 's/ $//')"
    done <<END
run gpu nvcc day06_transformer_ops gpt2_strides gpt2_command
run no_gpu nvcc day06_transformer_ops_emulated gpt2_strides_emulated gpt2_emulated
run gpu no_nvcc day06_transformer_ops_emulated gpt2_strides gpt2_command
run no_gpu no_nvcc day06_transformer_ops_emulated gpt2_strides gpt2_command
gpt2 gpu nvcc gpt2_command
gpt2 no_gpu nvcc gpt2_command gpt2_emulated
gpt2 gpu no_nvcc gpt2_command
gpt2 no_gpu no_nvcc gpt2_command
chat gpu nvcc gpt2_command --chat --stats --model my.gguf
chat no_gpu nvcc gpt2_command gpt2_emulated --chat --stats --model my.gguf
train gpu nvcc gpt2_train_command
train no_gpu nvcc gpt2_train_command
END
}

# Interrupted tests: the log keeps the output so far.
test_log() {
    mkdir -p "$scratch/kept" "$scratch/log"
    cat >"$scratch/kept/ctest" <<'END'
#!/bin/sh
echo "1/2 Test #1: a .... Passed"
sleep 20
END
    chmod +x "$scratch/kept/ctest"
    cat >"$scratch/log.sh" <<'END'
root=. cmake=$1/kept/cmake build=$1/log
source common/learn.d/lessons.sh
for done in no_more_than need configure build_target note; do eval "$done() { :; }"; done
verb_test --sanitizer
END
    timeout 2 bash -euo pipefail "$scratch/log.sh" "$scratch" >"$scratch/said" 2>&1 || true
    holds "the log of interrupted tests" grep -q "#1: a .* Passed" "$scratch/log/learn.test.log"
}

# An nvcc from PyPI: its library gets the name that CMake needs.
pypi_nvcc() {
    local place=build/tile-venv/lib/python3.11/site-packages/nvidia/cu13
    mkdir -p "$place/bin" "$place/lib"
    printf '#!/bin/sh\necho "Cuda compilation tools, release 13.5, V13.5.37"\n' >"$place/bin/nvcc"
    chmod +x "$place/bin/nvcc"
    touch "$place/lib/libcudart.so.13"
    learns "an nvcc from PyPI that is installed" 0 'nvcc 13\.5 is already installed' -- tile
    holds "CMake finds its library" test "$(readlink "$place/lib/libcudart.so")" = libcudart.so.13
    rm -r build/tile-venv
}

# What doctor reports about a GPU with each kind of nvcc, and when it offers another one.
which_nvcc() {
    local place=build/tile-venv/lib/python3.11/site-packages/nvidia/cu13/bin smi_says='9.0, 580.95.05'
    local offer='common/learn tile gets one from PyPI' all='row "nvcc and a GPU"' nvcc=$scratch/machine/usr/local/cuda/bin/nvcc
    export smi_says
    mkdir -p "$scratch"/machine/usr/{include,share/{doxygen-awesome-css,javascript/{mathjax,lunr}}} "${nvcc%/*}"
    touch "$scratch"/machine/usr/include/{png,pcre2}.h
    for tool in doxygen dot python3; do fake "$tool" <<<$'#!/bin/sh\necho 1.9.4'; done
    # shellcheck disable=SC2016  # to be expanded by nvidia-smi
    fake nvidia-smi <<<$'#!/bin/sh\necho "A GPU, $smi_says"'

    learns "a GPU and no nvcc" 0 '^  nvcc +none' '^  tile +none' "^  nvcc: $offer" 'Or install the CUDA Toolkit' \
        'row "no nvcc"' -- doctor
    holds "it is offered once" test "$(grep -c "$offer" "$scratch/said")" -eq 1
    smi_says='9.0, 550.54.15'
    learns "a driver that is too old for it" 0 '^  nvcc: install the CUDA Toolkit' '^    580 or newer, ' -- doctor
    printf '#!/bin/sh\necho "Cuda compilation tools, release 13.0, V13.0.88"\n' >"$nvcc"
    chmod +x "$nvcc"
    learns "a Toolkit too new for the driver" 0 '^  driver: 550.* is too old for CUDA 13.0' \
        '^  tile: .* driver 580, or newer' 'row "nvcc, no GPU"' -- doctor
    smi_says='9.0, 580.95.05'
    learns "a GPU and an older nvcc" 0 '^  nvcc +13\.0 +compiles' '^  tile +none' \
        "^  tile: tile kernels need nvcc 13\.3 or newer; $offer" "$all" -- doctor
    silent "an nvcc is not offered" '^  nvcc:'
    sed -i 's/13\.0/13.3/' "$nvcc"
    learns "a GPU and an nvcc with tile support" 0 '^  nvcc +13\.3 +compiles' '^  tile +13\.3' "$all" -- doctor
    silent "there is no advice" 'What to do'
    printf '#!/bin/sh\nexit 1\n' >"$nvcc"
    learns "a GPU and an nvcc that is broken" 0 '^  nvcc +broken' '^  nvcc: it may be too old' "^  nvcc: $offer" \
        -- doctor

    mkdir -p "$place"
    printf '#!/bin/sh\necho "Cuda compilation tools, release 13.5, V13.5.37"\n' >"$place/nvcc"
    chmod +x "$place/nvcc"
    for word in ", with another one" ""; do
        learns "a GPU and the nvcc of learn tile$word" 0 \
            '^  nvcc +13\.5 .*common/learn tile brought it' '^  tile +13\.5' "$all" -- doctor
        silent "it is not offered again" 'What to do|PyPI'
        rm -f "$nvcc"
    done
    smi_says='9.0, 550.54.15'
    learns "with a driver that is too old" 0 '^  driver: 550.* which came from common/learn tile' \
        'remove build/tile-venv' -- doctor
    rm -r build/tile-venv
    fake nvidia-smi <<<$'#!/bin/sh\nexit 9'
    learns "no GPU and no nvcc" 0 'row "no nvcc"' -- doctor
    silent "none is offered" 'PyPI|Toolkit|What to do'
    rm "$scratch"/bin/{doxygen,dot,python3} "$scratch"/machine/usr/include/{png,pcre2}.h
    learns "no optional tools" 0 'libpng +missing' 'PCRE2 +missing' 'Doxygen +missing' -- doctor
    unset smi_says
}

# `bench` writes a file named after the GPU, or none; `tune` shows how good the choices are here.
on_a_gpu() {
    local file=build/bench/${day}_rtx_4090.csv
    rm -rf build
    learns "bench without a GPU" 1 '^Nvidia-smi is installed, but finds no GPU. Timings need a GPU' -- bench day01
    learns "tune without a GPU" 1 'finds no GPU. Tuning needs a GPU: an emulated time means nothing' -- tune day05
    learns "tune without a day" 2 'Which day\? common/learn tune day05' -- tune
    learns "a day without tiles" 2 '^day01_flat_memory has no tile sizes to try. Available: common/learn tune day05' -- tune 1
    fake nvidia-smi <<<$'#!/bin/sh\necho "NVIDIA GeForce RTX 4090, 8.9, 580.95.05"'
    learns "bench with a GPU and no nvcc" 1 'There is a GPU, but no nvcc' -- bench day01
    learns "tune with a GPU and no nvcc" 1 'There is a GPU, but no nvcc' -- tune day05
    holds "nothing was measured" test ! -e build/bench

    rm -rf build
    cat >"$scratch/measures" <<'END'
shift
test "$1" != --tune || { echo "tunes $*" && exit; }
test "$DEVICE" || { echo "op,version" && exit; }
printf '%s\n' "# $DEVICE, compute capability 8.9, driver 580.95.05, day --bench" "# clock: 2520 MHz" op,version add,1
test "$BREAKS" && echo "CUDA error" >&2 && exit 3
echo add,2
END
    export NVCC=ON RUNS=$scratch/measures DEVICE='NVIDIA GeForce RTX 4090' BREAKS=''
    learns "bench" 0 "^$file\$" '^common/learn docs shows these numbers' \
        "docs/results in a pull request: CONTRIBUTING.md, \"Send in your GPU's numbers\"" -- bench day01
    grep -qF "## Send in your GPU's numbers" CONTRIBUTING.md || complain "CONTRIBUTING.md has no such heading"
    printf '%s\n' "# $DEVICE, compute capability 8.9, driver 580.95.05, day --bench" "# commit unknown: this tree is no git checkout" \
        "# clock: 2520 MHz" op,version add,1 add,2 >"$scratch/expected"
    holds "its file" cmp "$scratch/expected" "$file"
    echo mine >>"$file"
    learns "bench again" 0 "earlier run is kept: $file.1\$" "^$file\$" -- bench day01
    holds "the older file is kept" grep -qx mine "$file.1"
    holds "and the new one written" cmp "$scratch/expected" "$file"
    BREAKS=yes learns "a bench that fails half-way" 1 '^CUDA error' "bench ended with status 3, so $day gets no file" \
        "^Not measured: $day. The reason is above" -- bench day01
    silent "nothing can be sent in" 'pull request'
    DEVICE='' learns "a program that names no GPU" 1 "$day --bench did not name its GPU" -- bench day01
    holds "they leave no file" test "$(cd build/bench && echo *)" = "${file##*/} ${file##*/}.1"
    DEVICE='NVIDIA A100-SXM4-80GB' learns "another GPU" 0 "^build/bench/${day}_a100_sxm4_80gb.csv" -- bench day01
    learns "bench of all days" 0 "^$file" '^build/bench/day05_matmul_rtx_4090.csv' -- bench
    learns "tune" 0 '^tunes --tune --size 2048$' -- tune day05 --size 2048
    if PATH=$real_path type -P git >/dev/null; then commit_of_a_file "$file"; fi
    unset NVCC RUNS DEVICE BREAKS
    fake nvidia-smi <<<$'#!/bin/sh\nexit 9'
    rm -r build/bench build/default
}

# In a checkout, a measured file names its commit, and says whether a tracked file was changed.
commit_of_a_file() {  # commit_of_a_file <what bench writes>
    local git=(git -c user.name=x -c user.email=x@example.org)
    ln -s "$(PATH=$real_path type -P git)" "$scratch/bin/git"
    git init -q
    git add CONTRIBUTING.md
    "${git[@]}" commit -qm "one file"
    learns "bench in a checkout" 0 "^$1\$" -- bench day01
    holds "the commit" grep -qxE "# commit $(git rev-parse HEAD | cut -c 1-12)" "$1"
    echo >>CONTRIBUTING.md
    learns "bench in a changed tree" 0 "^$1\$" -- bench day01
    holds "the commit and the change" grep -qxE "# commit $(git rev-parse HEAD | cut -c 1-12)-dirty" "$1"
    rm -rf .git "$scratch/bin/git"
    sed -i '$d' CONTRIBUTING.md
}

# The command of another package manager, and the image, which has all that apt would install.
package_managers() {
    local manager package packages
    for manager in apt-get dnf pacman; do
        mkdir "$scratch/$manager"
        ln -s "$scratch/bin/apt-get" "$scratch/$manager/$manager"  # none of them is to be run
    done
    PATH=$scratch/dnf:$scratch/tools learns "a machine with dnf" 1 '^Missing: g\+\+ ninja-build cmake catch2\.$' \
        '^    dnf install gcc-c\+\+ ninja-build cmake catch-devel libpng-devel pcre2-devel$' -- test
    PATH=$scratch/pacman:$scratch/tools learns "a machine with pacman" 1 'no apt' \
        '^    pacman -Syu --needed gcc ninja cmake catch2 libpng pcre2$' 'Without root: docs/install.md' -- run
    silent "nothing is run" 'do not install'
    PATH=$scratch/pacman:$scratch/tools learns "pages there" 1 'Build them in a container: docs/install.md' -- docs
    PATH=$scratch/pacman:$scratch/tools learns "doctor there" 0 '^  Ninja: pacman -Syu --needed ninja$' \
        '^  PCRE2: pacman -Syu --needed pcre2, if you' -- doctor
    silent "no apt in it" 'apt'

    PATH=$scratch/apt-get:$scratch/tools learns "what apt installs" 1 'doxygen-awesome-css.*libpcre2-dev' -- docs
    packages=$(sed -n -e 's/^Installing \(.*\) with apt[.]$/\1/p' -e 's/^ *apt .* install //p' "$scratch/said" | head -n 1)
    holds "apt installs something" test "$packages"
    for package in $packages; do
        holds "the image has $package" grep -qE "(^| )${package//+/[+]}( |\$)" "$root/.devcontainer/Dockerfile"
    done
}

# WSL and containers, where the driver is installed elsewhere.
gpu_from_outside() {
    local smi=$scratch/machine/usr/lib/wsl/lib/nvidia-smi file
    mkdir -p "$scratch"/machine/{proc,run,usr/lib/wsl/lib} "$scratch/machine/sys/bus/pci/devices/1"
    echo 0x10de >"$scratch/machine/sys/bus/pci/devices/1/vendor"
    echo 0x030000 >"$scratch/machine/sys/bus/pci/devices/1/class"
    learns "a card and no driver" 0 '^  driver: this machine has an NVIDIA card, but' -- doctor
    silent "neither WSL nor a container" '^  system|gpus all|Windows'
    for file in .dockerenv run/.containerenv; do
        touch "$scratch/machine/$file"
        learns "a container: $file" 0 '^  system +container' '^    container with: docker run --gpus all' -- doctor
        silent "no driver is to be installed in it" 'driver of$|Windows'
        rm "$scratch/machine/$file"
    done
    echo "Linux version 5.15.167.4-microsoft-standard-WSL2 (root@f9c826d3017f) (gcc)" >"$scratch/machine/proc/version"
    learns "WSL" 0 '^  system +WSL' 'install its driver in Windows' 'wsl --update; wsl --shutdown' -- doctor
    silent "no driver of a distribution" 'driver of$|gpus all'
    rm "$scratch/bin/nvidia-smi"
    learns "WSL without nvidia-smi" 0 'install its driver in Windows' -- doctor
    install /bin/true "$smi"
    # shellcheck disable=SC2016  # a literal dollar
    learns "WSL, and nvidia-smi not on PATH" 0 'export PATH=\$PATH:/usr/lib/wsl/lib$' -- doctor
    touch "$scratch/machine/.dockerenv"
    learns "a container in WSL" 0 '^  system +container' 'gpus all' -- doctor
    # shellcheck disable=SC2016  # to be expanded by nvidia-smi
    fake nvidia-smi <<<$'#!/bin/sh\necho "A GPU, 9.0, 550.54.15"'
    printf '#!/bin/sh\necho "Cuda compilation tools, release 13.0, V13.0.88"\n' >"$scratch/bin/nvcc"
    chmod +x "$scratch/bin/nvcc"
    learns "a container with an old driver" 0 '^  driver: .* Install a newer driver on the host, or' -- doctor
    rm -r "$scratch/bin/nvcc" "$scratch"/machine/{.dockerenv,proc,run,sys,usr/lib}
    fake nvidia-smi <<<$'#!/bin/sh\nexit 9'
}

# Two runs in one tree: the second waits for the first, and not for one that was killed.
alone() {
    local lock=build/learn.lock holder
    printf 'test, process 7' >"$lock"
    flock "$lock" sleep 1 &
    holder=$!
    until ! flock -n "$lock" true; do sleep 0.1; done
    PATH=$scratch/tools learns "a second run" 1 'Another common/learn \(test, process 7\)' \
        'Missing: ' -- run
    holds "it waited" test ! -d "/proc/$holder"
    holds "it writes its name into the lock" grep -q '^run, process [0-9]' "$lock"

    flock "$lock" sleep 60 &
    holder=$!
    until ! flock -n "$lock" true; do sleep 0.1; done
    kill -KILL "$(pgrep -P "$holder")" "$holder"
    wait "$holder" 2>/dev/null || true
    PATH=$scratch/tools learns "after a run that was killed" 1 'Missing: ' -- run
    holds "it did not wait" test "$(grep -c Another "$scratch/said")" -eq 0
}

# A read-only tree.
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
    learns "a read-only tree" 1 'Cannot write to .*/build \(Permission denied\)' \
        'folder that you own' -- run
    holds "no messages of the shell or about Catch2" test "$(wc -l <"$scratch/said")" -eq 2
    learns "no exercise starts there" 1 'Cannot write to .*/my/' -- start day01
    learns "doctor there" 0 "$catch2" -- doctor
    holds "doctor prints no shell messages" test "$(grep -c 'mkdir\|annot create\|learn: line' "$scratch/said")" -eq 0
    chmod u+w .
}

# Folder names that the tools cannot handle are rejected first, and nothing in a name is executed.
folder_names() {
    local name learn=(common/learn)
    cd "$scratch"
    # shellcheck disable=SC2016  # literal dollars
    for name in 'a[b' 'a]b' 'a;touch run;b' 'a#b' 'a\b' 'a"b' 'a$(touch run)b' "a'b" 'a&touch run&b' 'a^b' 'a?b' 'a*b' \
        'a|touch run|b' 'a<b' 'a>b' 'a`touch run`b' $'a\nb' $'b\n' $'a\tb'; do
        mkdir "$scratch/$name"
        cp -R "$tree/common" "$tree/CMakeLists.txt" "$tree/CMakePresets.json" "$scratch/$name"
        cd "$scratch/$name"
        for word in run try hint; do learns "a folder named $name" 1 'Rename the folder' -- "$word"; done
        learn=(sh common/learn)
        learns "$name, by sh" 1 'Rename the folder' -- run
        learn=(common/learn)
        holds "nothing is built there" test ! -e build
        if PATH=$real_path cmake --preset default >"$scratch/said" 2>&1; then complain "CMake takes $name"; fi
        cd "$scratch"
        rm -r "${scratch:?}/$name"
    done
    holds "no name was executed" test -z "$(find "$scratch" -name run -not -path "*/day*")"
    cd "$tree"
}

# An exercise without its day.
exercise_alone() {
    learns "an exercise alone" 0 "^$one, a solution|hint|last hint" -- hint "$one"
    learns "its first letters" 2 "\"${one:0:3}\" could be day01 $one.* or day" -- reset "${one:0:3}"
    learns "the full name" 0 "^$other is already in|was not started|kept" -- reset "$other"
    learns "a flag before it" 2 'no day and no exercise "nonsense"' -- check --watch nonsense
    mkdir -p "day02_strides/exercises/$one"
    cp "$day/exercises/$one"/{solution.cu,"$one.hpp",hints.md} "day02_strides/exercises/$one"
    learns "an exercise of two days" 2 "\"$one\" could be day01 $one or day02 $one. Name the day too: common/learn hint day01 $one" \
        -- hint "$one"
    rm -r "day02_strides/exercises/$one"
}

# Another locale, no HOME, another shell, invalid values of TMPDIR.
environments() {
    local learn=(env LC_ALL=tr_TR.UTF-8 common/learn)
    learns "[A-Z] in Turkish" 0 'Ninja +1.11 C ' -- doctor
    learns "a day in capitals" 0 "^$day: in this order" -- start DAY1
    learn=(sh common/learn)
    learns "by sh" 0 "^$day: in this order" -- start day01
    learn=(env POSIXLY_CORRECT=1 common/learn)
    learns "a shell in POSIX mode" 0 "^$day: in this order" -- start day01
    learn=(env -u HOME common/learn)
    learns "no HOME" 2 'Where to\? HOME is not set' -- install
    learns "most commands do not need HOME" 0 'Ninja' -- doctor
    learn=(env TMPDIR=/nowhere common/learn)
    learns "no TMPDIR" 0 'Catch2 +3.1.0' -- doctor
    learn=(env "TMPDIR=$scratch/t;m|p" common/learn)
    mkdir "$scratch/t;m|p"
    learns "a TMPDIR that CMake cannot handle" 0 'Catch2 +3.1.0' -- doctor
}

# Names with code for a shell, sed, awk or arithmetic, wherever a name is allowed.
names_are_no_code() {
    local name verb odd
    # shellcheck disable=SC2016  # literal dollars
    odd=('$(touch run)' '`touch run`' '|touch run|' 'x|e touch run;#' 'a[$(touch run)]' '1e touch run' "'" '"' '\x' '&' $'a\nb' '*' '%s%n')
    mkdir -p my/day01_flat_memory
    for name in "${odd[@]}"; do
        for verb in run test start check hint solution reset trace bench tune debug; do
            learns "$verb $name" 2 'no day|no exercise' -- "$verb" "$name"
        done
        for verb in check hint solution reset; do
            learns "$verb day01 $name" 2 'There is no exercise of day01' -- "$verb" day01 "$name"
        done
        learns "an unknown verb $name" 2 'Unknown command' -- "$name"
        echo "// $name" >"my/day01_flat_memory/$name.cu"
    done
    for verb in "" "start day01" "hint day01" "run day01" "reset day01"; do
        read -ra words <<<"$verb"
        learns "$verb, with other files in my/" 0 . -- "${words[@]}"
    done
    holds "no name was executed" test -z "$(find . "$scratch" -maxdepth 3 -name run -not -path "*/day0*")"
    for name in "${odd[@]}"; do rm "my/day01_flat_memory/$name.cu"; done
}

called() { grep -qxE -- "$1" "$CALLS"; }

# `run` builds only the day, `test` the day's programs, `docs` the pages.
day_and_pages() {
    local tool
    printf '%s/all: phony\n' "$day" day02_strides day06_transformer_ops{,/attention{,_bf16},/gpt2{,/file}} common docs/site |
        cat - <(echo "bin/$day: CXX_EXECUTABLE_LINKER") >"$scratch/machine/targets"
    rm -rf build
    for tool in doxygen dot; do fake "$tool" <<<$'#!/bin/sh\necho 1.9.4'; done
    mkdir -p "$scratch"/machine/usr/share/{doxygen-awesome-css,javascript/{mathjax,lunr}}
    : >"$CALLS"
    learns "a run" 0 "^this is ${day}_emulated" "^Read: +docs/$day.md" -- run day01
    fake python3 <<<$'#!/bin/sh\necho Python 3.11.2'  # as after an interrupted install
    learns "pages, with tools that came later" 0 '^Open .*' -- docs
    holds "CMake has configured again" test "$(grep -c '^--preset default' "$CALLS")" -eq 2
    holds "they are built" called '--build --preset docs'
    : >"$CALLS"
    learns "a run where pages can be built" 0 "^this is ${day}_emulated" "^Read: +docs/$day.md" -- run day01
    holds "only the day is built" test "$(grep -c . "$CALLS")" -eq "$(grep -c -e '--version' -e "--target ${day}_emulated\$" "$CALLS")"
    : >"$CALLS"
    learns "a trace" 0 "^this is ${day}_emulated --trace\$" -- trace day01
    holds "only what it runs is built" test "$(grep -c . "$CALLS")" -eq "$(grep -c -e '--version' -e "--target ${day}_emulated\$" "$CALLS")"
    CMAKE_PREFIX_PATH=$scratch learns "packages in a folder of yours" 0 "^this is ${day}_emulated" -- run day01
    holds "CMake looks there too" called '--preset default.*'
    rm -r build
    CMAKE_DOES="finds no pages" learns "where CMake found none" 1 'CMake cannot build the pages here: python3 was not found' -- docs
    learns "the next docs configures again" 0 '^Open .*' -- docs
    learns "a PDF without Chromium" 1 '^Missing: chromium-headless-shell\.' 'Google Chrome' -- docs --pdf
    fake google-chrome <<<$'#!/bin/sh\nexit 9'
    : >"$CALLS"
    learns "a PDF" 0 '^All lessons as one PDF: build/default/docs/six_days.pdf' -- docs --pdf
    holds "the pages are built first" test "$(sed -n 's/^--build .*\(docs.*\)/\1/p' "$CALLS" | tr '\n' ' ')" = "docs docs_pdf "
    rm "$scratch"/bin/{doxygen,dot,python3,google-chrome}

    : >"$CALLS"
    fake ctest <<<$'#!/bin/sh\necho "ctest $*"'
    learns "the tests of a day" 0 'ctest .*-L .day01' -- test day01
    holds "it builds the day" called "--build --preset test --target $day/all"
    for tool in attention attention_bf16 gpt2 gpt2/file; do
        install -D <(echo "add_room()") "day06_transformer_ops/$tool/CMakeLists.txt"
    done
    touch day06_transformer_ops/CMakeLists.txt
    learns "the tests of the last day" 0 'ctest .*-L .day06' -- test day06
    holds "the rooms too" called "--build --preset test --target day06_transformer_ops/all .*gpt2/all .*gpt2/file/all"
    learns "the tests of a room" 0 'ctest .*-R .day06\\.attention\\.$' -- test day06.attention
    holds "only the room" called "--build --preset test --target day06_transformer_ops/attention/all"
    learns "a room that contains others" 0 'ctest .*-R .day06\\.gpt2\\.$' -- test day06.gpt2
    holds "those too" called "--build --preset test --target day06_transformer_ops/gpt2/all .*/gpt2/file/all"
    learns "a room by its prefix" 0 'ctest .*-R .day06\\.gpt2\\.file\\.$' -- test Day06.gpt2.f
    learns "an unknown room" 2 'no room "day06.dance"' 'day06.attention day06.attention_bf16 day06.gpt2 day06.gpt2.file' \
        -- test day06.dance
    rm -r day06_transformer_ops
    learns "all tests" 0 'ctest' -- test
    holds "it builds everything" called "--build --preset test"
}

# Ctrl-C and a full disk are reported as such.
ended_early() {
    local pid
    rm -rf build
    : >"$CALLS"
    CMAKE_DOES=hangs setsid env --default-signal=INT common/learn run day01 >"$scratch/held" 2>&1 </dev/null &
    pid=$!
    timeout 60 sh -c "until grep -q hanging '$CALLS'; do sleep 0.1; done" || true
    kill -INT -- "-$pid"
    count=0
    wait "$pid" || count=$?
    holds "Ctrl-C while CMake configures: status $count" test "$count" -eq 130
    holds "it is reported" test "$(tail -n 3 "$scratch/held")" = "Configuring: CMake checks what is installed.

Stopped. Run the same command to continue."
    CMAKE_DOES='fills the disk' learns "a full disk while CMake configures" 1 \
        "^The disk is full: there is not enough space left in /.*/build/default. Free some, " \
        -- run day01
    CMAKE_DOES='loses a file' learns "a full disk that CMake does not report" 1 '^The disk is full' -- run day01
    learns "once there is room" 0 "^this is ${day}_emulated" -- run day01
    CMAKE_DOES='fills the disk' learns "a full disk during the build" 1 'ld: final link failed' '^The disk is full' -- run day01
    silent "the compiler is not blamed" 'compiler.s messages'
}

# A running program or a prompt does not block others; try never waits for a build of the lessons.
nobody_waits() {
    local learn=(timeout 30 common/learn) hold=$scratch/hold verb pid words
    mkfifo "$hold"
    echo 'int main() {}' >a.cu
    for verb in "try a.cu" "debug a.cu:1" "debug day01 elementwise_cuda.cu:1" "trace day01" "run day01" "check day01 --watch"; do
        read -ra words <<<"$verb"
        : >"$scratch/held"  # or the previous output would count
        HOLD=$hold common/learn "${words[@]}" >"$scratch/held" 2>&1 </dev/null &
        pid=$!
        timeout 60 sh -c "until grep -q '^this is\|^Waiting for you' '$scratch/held'; do sleep 0.1; done" || true
        for other in "try a.cu" "run day01"; do
            read -ra words <<<"$other"
            learns "$other, while $verb runs" 0 '^this is' -- "${words[@]}"
            silent "$other has not waited for $verb" 'Waiting for it'
        done
        kill -0 "$pid" || complain "$verb has ended early"
        if [[ $verb == *watch ]]; then kill "$pid"; else echo >"$hold"; fi
        wait "$pid" || true
    done
    flock build/learn.lock sleep 60 &
    pid=$!
    until ! flock -n build/learn.lock true; do sleep 0.1; done
    learns "try, while the lessons are built" 0 '^this is' -- try a.cu
    silent "it has not waited" 'Waiting for it'
    kill "$(pgrep -P "$pid")"
    wait "$pid" 2>/dev/null || true
    rm a.cu "$hold"
}

check() {
    # Not optimized and without nvcc: only the output matters.
    export SIXDAYS_CMAKE_ARGS='-DSIXDAYS_CUDA=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='
    learns "start" 0 "$mine" -- start day01
    learns "new stubs" 1 "^$one: not started" "^$other: not started" "between the marks in my/" \
        -- check day01
    for name in "$one" "$other"; do echo '// begun' >>"my/$day/$name.cu"; done
    learns "edited stubs" 1 "^$one: failed" "^$other: failed" 'The first case that fails: .' \
        "my/$day/$one.log" "^For a hint: common/learn hint day01 $one\$" -- check day01
    learns "progress after a failed check" 0 "$one .* not passing yet" --
    stub "$other" >"my/$day/$other.cu"
    cp "$day/exercises/$other/$other.hpp" "$scratch/statement"
    echo '/// Check it as it is: the cases say why.' >>"$day/exercises/$other/$other.hpp"
    learns "a stub to check as is" 1 "^$other: failed" 'The first case that fails: .' -- check day01 "$other"
    learns "it still counts as not started" 0 "$other .* not started" --
    mv "$scratch/statement" "$day/exercises/$other/$other.hpp"

    cp "$day/exercises/$one/solution.cu" "$mine"
    cp "$day/exercises/$other/solution.cu" "my/$day/$other.cu"
    echo 'static int broken = nowhere;' >>"my/$day/$other.cu"
    learns "a solution and a broken file" 1 "^$one: passed" "^$other: does not compile" \
        "my/$day/$other.cu:[0-9]+:[0-9]+: error: .*nowhere" "hint day01 $other\$" -- check day01
    holds "only the learner's file is shown" test "$(grep -c ' error: ' "$scratch/said")" -eq 1
    learns "progress after one has passed" 0 "$one .* done" "1 of ${#exercises[@]}" --
    learns "the report too" 0 "^\| $day \| .$one. \| passed \| 0 \| 20..-..-.. \| 20..-..-.. \|\$" -- report
    sed -i "s|^\($day/$one passed\) .*|\1 2026-01-02|" my/progress
    learns "one solved without a run" 0 "^$one: passed" \
        "^Next: fill in my/$day/$other.cu, then common/learn check day01" -- check day01 "$one"

    wrongs
    sed 's/[a-z_]*<<</[]{}<<</' "$day/exercises/$other/solution.cu" >"my/$day/$other.cu"
    learns "a launch that the emulator cannot parse" 1 "^$other: does not compile" \
        "my/$day/$other.cu:[0-9]+" -- check day01 "$other"
    sed 's/_cuda(/_cudo(/' "$day/exercises/$other/solution.cu" >"my/$day/$other.cu"
    learns "a function of another name" 1 "^$other: .*not complete" "${other}_cud" -- check 1 "$other"

    cp "$day/exercises/$other/solution.cu" "my/$day/$other.cu"
    learns "the solutions" 0 "^$one: passed" "^$other: passed" -- check day01
    learns "the first pass counts" 0 "^\| $day \| .$one. .* 2026-01-02 \|\$" -- report
    learns "progress at the end" 0 "${#exercises[@]} of ${#exercises[@]} exercises solved" --
    page
    small
    programs_of_tests
}

# `test day06` and `test day06.softmax` build each program that their tests run, but not all others.
programs_of_tests() {
    local folder filter room targets
    for folder in day0* day06_transformer_ops/{softmax,gpt2,training/adamw}; do
        room=${folder#*/} room=${room//\//\\.}
        filter=(-R "^day06\\.$room\\.")
        if [[ $folder != */* ]]; then filter=(-L "^${folder%%_*}\$"); fi
        mapfile -t targets < <(build=build/default bash -euc 'source common/learn.d/lessons.sh
            targets_of "$1" && printf "%s\n" "${targets[@]:1}"' - "$folder")
        ninja -C build/default -t commands "${targets[@]}" | sed -n 's,.* -o \(bin/[^ ]*\) .*,\1,p' | sort >"$scratch/built"
        ctest --test-dir build/default "${filter[@]}" --show-only=json-v1 |
            grep -oE 'build/default/bin/[A-Za-z0-9_.]+' | cut -d/ -f3- | sort -u >"$scratch/wanted"
        holds "the tests of $folder have programs" test -s "$scratch/wanted"
        holds "which are built" test -z "$(comm -13 "$scratch/built" "$scratch/wanted")"
        holds "and not everything is" test "$(wc -l <"$scratch/built")" -lt "$(ninja -C build/default -t commands |
            grep -c ' -o bin/')"
    done
}

# The one-file exercises: they come before the others, and are checked alone or when saved.
small() {
    local file=my/$day/guard.cu watching
    mv "$scratch"/small/* "$day/exercises"
    learns "they come first" 0 "^    guard +3 minutes, tiny +not started" --
    learns "one that is not started" 1 'guard was not started' -- check day01 guard
    learns "their stubs" 0 "^  guard: a guard \(tiny, 3 minutes\)" -- start day01
    holds "they contain no solution, wrong attempt or hint" test "$(grep -cE 'i <=? n|// (wrong|stub|hint|why)' "$file")" -eq 0
    learns "a hint" 0 'guard, hint 1 of 2' -- hint day01 guard
    learns "an unchanged stub" 1 '^guard: not started' -- check day01 guard
    sed -i 's/^    out\[i\]/    if (i <= n) out[i]/' "$file"
    learns "an edited stub" 0 "guard .* started, hints" --
    learns "off by one" 1 '^guard: failed' '^  guard_kernel, my/.*guard.cu:11: thread' 'element 1000 of an allocation' -- check day01 guard
    silent "the output has no XML or macros of the tests" '<[A-Z]|check_launch|REQUIRE'
    sed -i 's,count = 1;,count = n / threads + 1;,' "my/$day/blocks.cu"
    learns "one block too many" 1 '^  256 elements are exactly 2 blocks' -- check day01 blocks
    silent "no values follow the message" 'false == true'

    "${learn[@]}" check guard --watch >"$scratch/watched" 2>&1 </dev/null &
    watching=$!
    timeout 120 sh -c "until grep -q '^Waiting' '$scratch/watched'; do sleep 0.2; done" || true
    learns "another check meanwhile" 1 '^blocks: failed' -- check blocks
    silent "it does not wait" 'Waiting for it'
    sed -i 's/i <= n/i < n/' "$file"
    timeout 120 sh -c "until grep -q 'guard: passed' '$scratch/watched'; do sleep 0.2; done" || true
    kill "$watching"
    holds "a save is checked at once" grep -q '^Saved: my/.*/guard.cu' "$scratch/watched"
    holds "and passes" grep -q '^guard: passed' "$scratch/watched"
    learns "its solution" 0 'if \(i < n\)' 'Blocks come in whole pieces' -- solution day01 guard
    silent "the wrong attempt is not shown" 'i <= n\)|wrong:'
    learns "progress shows it as done" 0 "guard .* done" --
    unproven "$file"
    sed 's/out\[y \* W + x\] = /out[x * H + y] = /' "$day/exercises/julia.cu" >"my/$day/julia.cu"
    learns "a wrong picture" 1 'swapped in the offset' "^  Your picture: my/$day/julia.png$" -- check day01 julia
    rm "my/$day/julia.png" && mkdir "my/$day/julia.png"
    cp "$day/exercises/julia.cu" "my/$day"
    learns "one that cannot be written" 0 '^julia: passed' '^  Your picture is missing: .*: Is a directory' -- check day01 julia
}

# A status of 0 is not enough: the cases must have finished, and the code must be the learner's.
unproven() {
    local file=$1 line
    cp "$file" "$scratch/guard.cu"
    for line in 'Ender() { exit(0); }' '~Ender() { _Exit(0); }'; do
        { sed 's/i < n/i + 1 < n/' "$scratch/guard.cu" && echo "struct Ender { $line } ender;"; } >"$file"
        learns "a file with: $line" 1 '^guard: failed' -- check day01 guard
    done
    { echo '#include <cstdlib>' && sed 's/^void guard(.*{/&\n    exit(0);/' "$scratch/guard.cu"; } >"$file"
    learns "a launcher that ends the program" 1 '^guard: failed' 'Your file ends the program \(exit, abort' -- check day01 guard
    { cat "$scratch/guard.cu" && echo 'int main() { return 0; }'; } >"$file"
    learns "a main" 1 'Your file defines .main.; the cases have their own' -- check day01 guard
    sed 's/void guard(const float\* in/void guard(float* in/' "$scratch/guard.cu" >"$file"
    learns "a different signature" 1 '^guard: .*not complete' 'guard\(\). is not in your file' \
        '^    void guard\(const float\* in, int n, float\* out\);$' 'line [0-9]+: void guard\(float\* in' -- check day01 guard
    : >"$file"
    learns "an empty file" 1 'guard\(\). is not in your file' -- check day01 guard
    silent "no other signature is reported" 'Your file has it'
    learns "no pass was recorded" 0 "guard .* not passing yet" --
    sed 's/$/\r/' <(awk -f common/cmake/stub.awk "$day/exercises/guard.cu") >"$file"
    learns "a stub with CR LF line ends" 1 '^guard: not started' -- check day01 guard
    rm "$file" && mkdir "$file" && ln -sfn /nowhere "my/$day/blocks.cu"
    learns "a folder" 1 '^guard: not checked. my/.*guard.cu is a folder' -- check day01 guard
    learns "a link to nothing" 1 '^blocks: not checked. my/.*blocks.cu is a link to a file' -- check day01 blocks
    learns "start leaves both" 0 'is a folder, not a file; left unchanged' 'is a link to .*; left unchanged' -- start day01
    holds "the link is still there" test -L "my/$day/blocks.cu"
    learns "reset leaves them unchanged too" 0 'is a folder.* Move it away' -- reset day01 guard
    silent "no messages of cmp or cp" 'cmp:|cp:|Is a directory'
    rm -r "$file" "my/$day/blocks.cu"
}

# Kernels with right values: the report names exactly what is wrong with each.
wrongs() {
    local solution=$day/exercises/add_bias/solution.cu to=my/$day/add_bias.cu
    sed -e 's/\(m = std::int64_t{blockIdx\.\)y\(.*\)\.y;/\1x\2.x;/; s/threadIdx\.y;/threadIdx.x;/; s/blockDim\.y + /blockDim.x + /' \
        -e '/ n = /s/blockIdx\.x} \* blockDim\.x + threadIdx\.x/blockIdx.y} * blockDim.y + threadIdx.y/' \
        -e 's/blocks_for(N, 32), gpu::blocks_for(M, 8)/blocks_for(M, 32), gpu::blocks_for(N, 8)/' "$solution" >"$to"
    learns "x on the slow axis" 1 'neighbouring threads touch' \
        'moved [0-9,]+ sectors of 32 bytes where 384 suffice' -- check day01 add_bias
    silent "no comparison of numbers" '[0-9] == [0-9]'
    sed 's/out\[offset2(m, n, N)\] =/const int i = m * N + n; out[i] =/' "$solution" >"$to"
    learns "a 32-bit offset" 1 '2\^32 elements' '32 bits \(int, unsigned\) wraps' \
        "^  add_bias_kernel, my/$day/add_bias.cu:[0-9]+: thread" 'belongs neither to the GPU nor to the CPU' -- check day01 add_bias
    silent "no CUDA error code" 'cudaErrorIllegalAddress'
    sed 's/blocks_for(N, 32)/blocks_for(N, 33)/' "$solution" >"$to"
    learns "a grid too small" 1 '^  The first case that fails: add_bias: more columns' '^  with M = 3, N = 33$' \
        '^  3 of 99 elements' -- check day01 add_bias
    cp "$solution" "$to"
}

# The last lines of a run.
page() {
    local html=build/default/docs/html
    mkdir -p "$html"
    rm -f "my/progress"
    learns "a run" 0 'checks of this run are ok' "^Read: +docs/$day.md \(12 minutes\)" \
        "^Solve: +$one \([a-z]+, [0-9]+ minutes\), then $other \(" 'common/learn check day01' -- run day01
    touch "$html/$day.html"
    learns "a run after the page was built" 0 "^Read: +$html/$day.html" -- run day01
    touch -d '2000-01-01' "$html/$day.html"
    learns "a run with a page older than its text" 0 "^Read: +docs/$day.md" -- run day01
    learns "a run with flags of the lesson" 0 'checks of this run are ok' -- run day01 --no-timing
    silent "no page is suggested" '^Read:'
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

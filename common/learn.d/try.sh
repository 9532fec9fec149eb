# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# One CUDA file with its own main, compiled and run on the emulator: try, debug.

try_folder=${SIXDAYS_TRY_FOLDER:-$root/build/try}

verb_try() {
    local trace='' gpu='' flags=()
    while (($# > 0)); do
        case $1 in
            --trace) trace=yes ;;
            --gpu) gpu=yes ;;
            -I* | -D*) flags+=("$1") ;;
            -*) stop 2 "$1 is not something that $learn try knows: --trace, --gpu, -I<folder>, -D<name>." ;;
            *) break ;;
        esac
        shift
    done
    if (($# == 0)); then stop 2 "Which file? For example: $learn try docs/examples/row_sums.cu"; fi
    local file=$1
    shift
    # Right behind the file they are ours too; behind -- everything is the program's.
    while [[ ${1:-} == --trace || ${1:-} == --gpu ]]; do
        if [[ $1 == --trace ]]; then trace=yes; else gpu=yes; fi
        shift
    done
    if [[ ${1:-} == -- ]]; then shift; fi
    is_program "$file"
    if [[ $gpu ]]; then
        try_on_gpu "$file" "$@"
        return
    fi
    try_build tried "$file" "${flags[@]}"
    if [[ $trace ]]; then export SIXDAYS_TRACE=1; fi
    "$try_folder/tried" "$@"
}

is_program() {
    if [[ ! -f $1 ]]; then stop 2 "There is no file $1."; fi
    if ! grep -q '\bmain\b' "$1"; then
        stop 2 "$1 has no main(), so it is no program. The kernels of a day are run by $learn run."
    fi
}

# try_build <tried or debugged> <file> <compiler option>...
try_build() {
    local target=$1 file log=$try_folder/build.log status=0
    file=$(readlink -f -- "$2")
    shift 2
    need
    mkdir -p "$try_folder"
    printf '%s\n' "$file" "$*" "$gxx" >"$try_folder/asked"
    if ! cmp -s "$try_folder/asked" "$try_folder/configured"; then
        if ! "$cmake" -G Ninja -S "$root/common/emulator/try" -B "$try_folder" -DCMAKE_BUILD_TYPE=None \
            "-DCMAKE_CXX_COMPILER=$gxx" "-DFILE=$file" "-DFLAGS=$*" >"$log" 2>&1; then
            cat "$log" >&2
            stop 1 "" "CMake could not configure the build. Its words are above, and in $(path "$log")."
        fi
        mv "$try_folder/asked" "$try_folder/configured"
    fi
    build_target "the emulator" "$try_folder" --target sixdays_emulator sixdays_translate
    LC_ALL=C "$cmake" --build "$try_folder" --target "$target" >"$log" 2>&1 || status=$?
    if ((status > 0)); then
        explain_errors "$file" "$log" >&2
        exit 1
    fi
}

# What the compiler says, in the words of somebody who wonders whether the emulator can do it.
explain_errors() {  # explain_errors <file> <log>
    local said
    said=$(sed -nE '
        s/^(.*:[0-9]+):[0-9]+: fatal error: (.*), a part of CUDA: No such file.*/\1: the emulator does not have \2. Of CUDA it has cuda_runtime.h, cuda_fp16.h, cuda_bf16.h and cuda_pipeline_primitives.h./p
        s/^(.*:[0-9]+):[0-9]+: fatal error: (.*): No such file.*/\1: there is no \2. Headers of your own lie beside the file, or in a folder that -I names./p
        s/^(.*:[0-9]+):[0-9]+: error: static assertion failed: (inline PTX.*)/\1: \2./p
        s/^(.*:[0-9]+):[0-9]+: error: .((cuda|cu[A-Z]|cublas|curand|nvcuda|cooperative_groups|wmma|atomic|tex|surf|__)[A-Za-z0-9_]*).( was not declared| does not name| has not been declared| is not a namespace).*/\1: the emulator does not have \2./p
        s/^([^:]*:[0-9]+): error: (.*)/\1: \2/p' "$2" | awk '!seen[$0]++' | head -n 20)
    if [[ $said ]]; then
        said=${said//"$PWD"\//}
        say "$said" "" "The other words of the compiler are in $(path "$2")."
    elif grep -q 'undefined reference to' "$2"; then
        sed -n "s/.*undefined reference to .\(.*\)'.*/\1/p" "$2" | sort -u |
            sed 's/.*/& is called, but nowhere defined in this file./'
    elif grep -q ': error: ' "$2"; then
        # A launch is longer in the translated file, and what points into it points nowhere.
        grep -vE '^(\[[0-9]+/|FAILED: |ninja: |/[^ ]*(g\+\+|c\+\+) )' "$2" |
            awk '!(/^ *\| +[~^]/ && length > 110)' | sed "s|$PWD/||g" | head -n 60
    else
        cat "$2"
    fi
}

try_on_gpu() {  # uses verb_try's $flags
    local file=$1 nvcc program=$try_folder/on_gpu
    shift
    nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc || true)
    if [[ -z $nvcc ]]; then stop 2 "There is no nvcc here, so $file cannot be compiled for a GPU."; fi
    if ! find_gpu; then stop 2 "${why_no_gpu^}. Without --gpu the file runs on the emulator."; fi
    mkdir -p "$try_folder"
    "$nvcc" -std=c++20 -O3 -lineinfo -arch=native "-I$root" "${flags[@]}" -o "$program" "$file" || exit 1
    "$program" "$@"
}

# debug <file.cu[:line]> ... or debug <day> <file.cu:line> ..., then [--block x[,y[,z]]] [--thread x[,y[,z]]]
verb_debug() {
    local program where='' if=() only_build=''
    if [[ ${1:-} == --only-build ]]; then
        only_build=yes
        shift
    fi
    if (($# == 0)); then stop 2 "Which file, and which line? For example: $learn debug docs/examples/row_sums.cu:11"; fi
    if [[ $1 == *.cu || $1 == *.cu:* ]]; then
        is_program "${1%%:*}"
        if [[ $1 == *:* ]]; then where=${1##*/}; fi
        try_build debugged "${1%%:*}"
        program=$try_folder/debugged
    else
        find_day "$1"
        if [[ ${2:-} != *.cu:* ]]; then
            stop 2 "Which line of $day? For example: $learn debug ${day%%_*} elementwise_cuda.cu:53"
        fi
        shift
        where=$1
        debug_build_day
    fi
    shift
    while [[ ${1:-} == --block || ${1:-} == --thread ]]; do
        if [[ ! ${2:-} =~ ^[0-9]+(,[0-9]+){0,2}$ ]]; then stop 2 "$1 takes one to three numbers, say $1 2 or $1 2,0,1."; fi
        chosen_index "${1#--}Idx" "$2"
        shift 2
    done
    if [[ ${1:-} == -- ]]; then shift; fi
    if [[ $only_build ]]; then return; fi
    if ! command -v gdb >/dev/null; then stop 1 "gdb is missing here. On Debian or Ubuntu: apt install gdb"; fi
    if [[ $where ]]; then
        if ((${#if[@]} > 0)); then where+=" if $(printf '%s && ' "${if[@]}")1"; fi
        set -- -ex "break $where" -ex run --args "$program" "$@"
    else
        set -- -ex run --args "$program" "$@"
    fi
    exec gdb -q -x "$root/common/emulator/debug.gdb" "$@"
}

chosen_index() {  # chosen_index <blockIdx or threadIdx> <x[,y[,z]]>
    local x y z
    IFS=, read -r x y z <<<"$2"
    if+=("$1.x == $x" "$1.y == ${y:-0}" "$1.z == ${z:-0}")
}

# The day once more, with every variable kept.
debug_build_day() {
    local folder=$root/build/debug
    need
    mkdir -p "$folder"
    if [[ ! -f $folder/build.ninja ]] && ! (cd "$root" && "$cmake" --preset default -B "$folder" \
        "-DCMAKE_CXX_COMPILER=$gxx" -DSIXDAYS_CUDA=OFF -DBUILD_TESTING=OFF \
        -DSIXDAYS_DEBUG_KERNELS=ON) >"$folder/configure.log" 2>&1; then
        rm -f "$folder/build.ninja"
        cat "$folder/configure.log" >&2
        stop 1 "" "CMake could not configure the build. Its words are above."
    fi
    build_target "$day, to step through" "$folder" --target "${day}_emulated"
    program=$folder/bin/${day}_emulated
}

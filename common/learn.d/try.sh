# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# CUDA programs with a main of their own, compiled and run on the emulator: try, debug, install.

try_folder=${SIXDAYS_TRY_FOLDER:-$root/build/try}

# The command cudatry (common/emulator/try), built and installed under a prefix.
build_cudatry() {  # build_cudatry <prefix>
    local log=$try_folder/build.log
    need
    mkdir -p "$try_folder"
    if [[ ! -f $try_folder/build.ninja || $gxx != "$(cat "$try_folder/configured" 2>/dev/null)" ]]; then
        if ! "$cmake" --fresh -G Ninja -S "$root/common/emulator/try" -B "$try_folder" -DCMAKE_BUILD_TYPE=None \
            "-DCMAKE_CXX_COMPILER=$gxx" >"$log" 2>&1; then
            cat "$log" >&2
            stop 1 "" "CMake could not configure the build. Its words are above, and in $(path "$log")."
        fi
        printf '%s\n' "$gxx" >"$try_folder/configured"
    fi
    build_target "the emulator" "$try_folder"
    if ! "$cmake" --install "$try_folder" --prefix "$1" >"$log" 2>&1; then
        tail -n 3 "$log" >&2
        stop 1 "" "cudatry could not be installed under $1. CMake's words are above."
    fi
}

cudatry() {
    build_cudatry "$try_folder/installed"
    CXX=$gxx CUDATRY_FOLDER=$try_folder/work CUDATRY_NAME="$learn $verb" \
        exec "$try_folder/installed/bin/cudatry" "-I$root" "$@"
}

verb_try() {
    if (($# == 0)); then stop 2 "Which file? For example: $learn try docs/examples/row_sums.cu"; fi
    cudatry "$@"
}

verb_install() {
    local prefix=${1:-$HOME/.local}
    no_more_than 1 "$@"
    mkdir -p "$prefix"
    prefix=$(readlink -f -- "$prefix")
    build_cudatry "$prefix"
    say "$prefix/bin/cudatry is there. It needs g++ and nothing of this folder:  cudatry my_program.cu"
    if [[ :$PATH: != *:$prefix/bin:* ]]; then
        say "$prefix/bin is not on your PATH. In ~/.profile, say:  PATH=\"$prefix/bin:\$PATH\""
    fi
}

# debug <file.cu[:line]> ... or debug <day> <file.cu:line> ..., then [--block x[,y[,z]]] [--thread x[,y[,z]]]
verb_debug() {
    local only_build=() program=''
    if [[ ${1:-} == --only-build ]]; then
        only_build=(--only-build)
        shift
    fi
    if (($# == 0)); then stop 2 "Which file, and which line? For example: $learn debug docs/examples/row_sums.cu:11"; fi
    if [[ $1 == *.cu || $1 == *.cu:* ]]; then cudatry --debug "${only_build[@]}" "$@"; fi
    find_day "$1"
    if [[ ${2:-} != *.cu:* ]]; then
        stop 2 "Which line of $day? For example: $learn debug ${day%%_*} elementwise_cuda.cu:56"
    fi
    shift
    debug_build_day
    cudatry --debug "${only_build[@]}" "--program=$program" "$@"
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

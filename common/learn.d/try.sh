# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# CUDA programs with their own main, compiled and run on the emulator: try, debug, install, wheel.

try_folder=${SIXDAYS_TRY_FOLDER:-$root/build/try}

# The command cudatry (common/emulator/try), built and installed under a prefix.
build_cudatry() {  # build_cudatry <prefix>
    local log=$try_folder/build.log
    building=$try_folder
    need
    if [[ ! -f $try_folder/build.ninja || $gxx != "$(cat "$try_folder/configured" 2>/dev/null)" ]]; then
        configure_with "$try_folder" "$log" --fresh -G Ninja -S "$root/common/emulator/try" -B "$try_folder" \
            -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_COMPILER=$gxx"
        keep "$try_folder/configured" "$gxx"
    fi
    build_target "the emulator" "$try_folder"
    if ! "$cmake" --install "$try_folder" --prefix "$1" >"$log" 2>&1; then
        stop_if_told 1 "$log" "$1"
        tail -n 3 "$log" >&2
        stop 1 "" "cudatry could not be installed under $1. CMake's output is above."
    fi
    unlock_build
}

# Each run has its own temporary work folder; with --only-build it is $try_folder/work, which stays.
cudatry() {
    build_cudatry "$try_folder/installed"
    restore_locale
    if [[ " $* " == *" --only-build "* ]]; then export CUDATRY_FOLDER=$try_folder/work; else unset CUDATRY_FOLDER; fi
    CXX=$gxx CUDATRY_AMONG=$try_folder CUDATRY_NAME="$learn $verb" \
        exec "$try_folder/installed/bin/cudatry" "-I$root" "$@"
}

verb_try() {
    if (($# == 0)); then stop 2 "Which file? For example: $learn try docs/examples/row_sums.cu"; fi
    cudatry "$@"
}

verb_install() {
    local prefix=${1:-${HOME:+$HOME/.local}} folder
    no_more_than 1 "$@"
    if [[ -z $prefix ]]; then stop 2 "Where to? HOME is not set. For example: $learn install /usr/local"; fi
    may_write "$prefix"
    folder=$(cd -- "$prefix" && printf '%sx' "$PWD")  # x: $( ) strips trailing line breaks
    folder=${folder%x}
    # shellcheck disable=SC2053  # a pattern
    if [[ $folder == $odd_names ]]; then
        stop 1 "The path ${folder@Q} contains a line break, or a character that the build tools cannot handle." \
            "Install cudatry into another folder."
    fi
    build_cudatry "$folder"
    say "Installed $folder/bin/cudatry. It needs only g++, not this folder:  cudatry my_program.cu"
    if [[ :$PATH: != *:$folder/bin:* ]]; then
        say "$folder/bin is not on your PATH. Add to ~/.profile:  PATH=\"$folder/bin:\$PATH\""
    fi
}

# Beside the build folder of `try`: build/cudatry-*.whl.
verb_wheel() {
    local folder=${try_folder%/*} log=$try_folder/wheel.log wheel
    no_more_than 0 "$@"
    if ! command -v python3 >/dev/null; then
        stop 1 "The wheel could not be built: python3 was not found. On Debian or Ubuntu:" "    apt install python3"
    fi
    build_cudatry "$try_folder/installed"
    if ! wheel=$(python3 -B "$root/common/emulator/try/wheel.py" "$try_folder/installed" "$folder" 2>"$log"); then
        stop_if_told 1 "$log" "$folder"
        stop 1 "The wheel could not be built: $(tail -n 1 "$log")"
    fi
    say "Built $(path "$wheel"). It needs only g++ and Python where you install it:" \
        "    pip install $(path "$wheel")"
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
        stop 2 "Which line of $day? For example: $learn debug ${day%%_*} elementwise_cuda.cu:50"
    fi
    shift
    debug_build_day
    cudatry --debug "${only_build[@]}" "--program=$program" "$@"
}

# Builds the day a second time, with all variables visible to the debugger.
debug_build_day() {
    local folder=$root/build/debug
    building=$folder
    need
    if [[ ! -f $folder/configured ]]; then
        configure_with "$folder" "$folder/configure.log" --preset default -B "$folder" "-DCMAKE_CXX_COMPILER=$gxx" \
            -DSIXDAYS_CUDA=OFF -DBUILD_TESTING=OFF -DSIXDAYS_DEBUG_KERNELS=ON
        keep "$folder/configured" yes
    fi
    build_target "$day for the debugger" "$folder" --target "${day}_emulated"
    program=$folder/bin/${day}_emulated
}

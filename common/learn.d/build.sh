# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# Configuring and building, quietly when all is well. What is built lies in build/default.

# may_write <folder>: afterwards it is there and can be written to, or we have stopped with a sentence.
may_write() {
    local reason
    if ! reason=$(LC_ALL=C mkdir -p "$1" 2>&1); then
        reason=${reason##*: }
    elif [[ ! -w $1 ]]; then
        reason="no right to write there"
    else
        return 0
    fi
    stop 1 "Nothing can be written to $1 ($reason)." \
        "Copy the tree to a folder of your own, and type the same there."
}

# One run at a time changes build/; another one waits. The lock ends with its holder and with what
# that has started, however they end.
lock_build() {
    may_write "$root/build"
    if ! command -v flock >/dev/null; then return; fi
    if [[ ${SIXDAYS_LOCKED:-} == "$root" ]]; then return; fi  # called by the holder, as the tests are
    exec 9<>"$root/build/learn.lock"
    if ! flock -n 9; then
        note "Another common/learn ($(<"$root/build/learn.lock")) is at work in this tree. Waiting for it."
        flock 9
    fi
    printf '%s, process %s' "$verb" $$ >"$root/build/learn.lock"
    export SIXDAYS_LOCKED=$root
    trap unlock_build EXIT
}

unlock_build() {
    unset SIXDAYS_LOCKED
    if [[ -e /dev/fd/9 ]]; then flock -u 9; fi
}

cached() {  # cached <variable> <beginning>: the value CMake keeps begins so
    [[ -f $build/CMakeCache.txt ]] && grep -q "^$1:[A-Z]*=$2" "$build/CMakeCache.txt"
}

# What decides how the tree is configured. When it changes, CMake has to look again.
fingerprint() {
    printf '%s\n' "$root" "$cmake" "$gxx" "${SIXDAYS_CMAKE_ARGS:-}"
    command -v nvcc doxygen nvidia-smi || true
    ls /usr/local/cuda/bin/nvcc /usr/include/png.h "$root/build/tile-venv/pyvenv.cfg" 2>/dev/null || true
    (cd "$root" && ls my/*/*.cu 2>/dev/null) || true
}

configured() {
    if [[ $want_nvcc ]] && ! built_with_nvcc; then return 1; fi
    [[ -f $build/build.ninja && -f $build/learn.stamp && -z $installed ]] &&
        [[ $(fingerprint) == "$(<"$build/learn.stamp")" ]]
}

configure() {
    local log=$root/build/configure.log args=(--preset default) summary
    if configured; then return; fi
    mkdir -p "$build"
    if [[ ! -f $build/build.ninja ]] || ! cached CMAKE_HOME_DIRECTORY "$root\$"; then
        note "Configuring: CMake looks at what is here."
        # nvcc takes most of the time, and without a GPU nothing that it makes can run.
        args+=(--fresh "-DCMAKE_CXX_COMPILER=$gxx" -DSIXDAYS_CUDA=GPU)
    elif cached CMAKE_CUDA_COMPILER NOTFOUND; then
        args+=(-UCMAKE_CUDA_COMPILER -USIXDAYS_NVCC)  # else CMake would not look for nvcc again
    fi
    if [[ $want_nvcc ]]; then args+=(-DSIXDAYS_CUDA=ON); fi
    read -ra more <<<"${SIXDAYS_CMAKE_ARGS:-}"
    if ! (cd "$root" && "$cmake" "${args[@]}" "${more[@]}") >"$log" 2>&1; then
        cat "$log" >&2
        stop 1 "" "CMake could not configure the build. Its words are above, and in $(path "$log")."
    fi
    summary=$(sed -n '/^-- Six days/,/^-- *$/s/^-- //p' "$log")
    if [[ ! -f $build/learn.summary || $summary != "$(<"$build/learn.summary")" ]]; then
        note "" "$summary" ""
        printf '%s\n' "$summary" >"$build/learn.summary"
    fi
    fingerprint >"$build/learn.stamp.new"
    mv "$build/learn.stamp.new" "$build/learn.stamp"
    installed=''
}

# build_target <what, in words> <argument of cmake --build>...
build_target() {
    local what=$1
    shift
    if ! (cd "$root" && LC_ALL=C "$cmake" --build "$@" 2>&1) | build_progress "$what" >&2; then
        stop 1 "" "The build stopped; the compiler's words are above."
    fi
}

# Ninja's "[3/80] Building ..." lines: one line that moves on a terminal, four lines elsewhere.
# Ninja says nothing until its first step is done, so after a second we say what is being built.
build_progress() {
    local line part status number of quarter shown=0 announced='' begun='' long=''
    while :; do
        status=0
        IFS= read -r -t 1 part || status=$?
        line=$begun$part begun=''
        if ((status > 0 && status <= 128)); then break; fi  # the end; above 128 a second has passed
        if ((status > 128)) || [[ $line =~ ^\[.*(Building|Linking|Translating) ]]; then
            if [[ -z $announced ]]; then note "Building $1."; fi
            announced=yes
            if ((status > 128)); then begun=$line && continue; fi
        fi
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*)$ ]]; then
            number=${BASH_REMATCH[1]} of=${BASH_REMATCH[2]} line=${BASH_REMATCH[3]##*/}
            quarter=$((4 * number / of))
            if [[ -z $long ]] && ((of >= 50)); then
                note "  $of steps, a few minutes. Next time, only what has changed is built."
                long=yes
            fi
            if [[ -t 2 ]]; then
                printf '\r\e[K  %s of %s  %.60s' "$number" "$of" "${line%.o}"
            elif ((quarter > shown && of >= 20)); then
                note "  $number of $of"
                shown=$quarter
            fi
        elif [[ $line != "ninja: no work"* && $line != "-- "* ]]; then
            if [[ -t 2 ]]; then printf '\r\e[K'; fi
            printf '%s\n' "$line"
        fi
    done
    if [[ -t 2 ]]; then printf '\r\e[K'; fi
}

# --- which machine is this? -----------------------------------------------------------------------
built_with_nvcc() { cached SIXDAYS_BUILT_WITH_NVCC ON; }

# A GPU that can run the lessons: it answers, and is new enough. Else $why_no_gpu is half a sentence.
find_gpu() {
    local answer
    gpu_name='' gpu_capability='' gpu_driver=''
    if ! command -v nvidia-smi >/dev/null; then
        why_no_gpu="no GPU answers here"
        return 1
    fi
    answer=$(timeout 30 nvidia-smi --query-gpu=name,compute_cap,driver_version \
        --format=csv,noheader 2>/dev/null | head -n 1) || answer=''
    IFS=, read -r gpu_name gpu_capability gpu_driver <<<"$answer" || true
    gpu_capability=${gpu_capability# } gpu_driver=${gpu_driver# }
    if [[ ! $gpu_capability =~ ^[0-9]+\.[0-9]+$ ]]; then
        why_no_gpu="nvidia-smi is here, but no GPU answers it"
        return 1
    elif ! at_least "$gpu_capability" 8.0; then
        why_no_gpu="the $gpu_name has compute capability $gpu_capability, and the lessons need 8.0"
        return 1
    fi
}

# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# Configuring and building, quietly if nothing fails. The build folder is build/default.

# may_write <folder>: creates it if needed, and stops with a message if it is not writable.
may_write() {
    local reason
    if ! reason=$(LC_ALL=C mkdir -p "$1" 2>&1); then
        reason=${reason##*: }
    elif [[ ! -w $1 ]]; then
        reason="no write permission"
    else
        return 0
    fi
    stop 1 "Cannot write to $1 ($reason)." \
        "Copy the tree to a folder that you own, and run the same command there."
}

# One process at a time changes a build folder; others wait. The lock ends with its holder and its
# children, even if killed. unlock_build releases it before a program runs or a user is asked.
building=$root/build  # the locked folder; `try` and `debug` have their own
locked=''
lock_build() {
    local file=$building/learn.lock holder
    may_write "$building"
    if [[ $locked == "$file" ]] || ! command -v flock >/dev/null; then return; fi
    unlock_build
    exec 9<>"$file"
    if ! flock -n 9; then
        holder=$(<"$file")  # empty if the holder has not written its name yet
        note "Another common/learn${holder:+ ($holder)} is running in this tree. Waiting for it."
        flock 9
    fi
    printf '%s, process %s' "$verb" $$ 2>/dev/null >"$file" || true  # a full disk is reported later
    locked=$file
    trap unlock_build EXIT
}

unlock_build() {
    if [[ -z $locked ]]; then return; fi
    flock -u 9
    exec 9>&-
    locked=''
}

# cache_value <variable>: its value in CMake's cache.
cache_value() {
    local line
    line=$(grep -m 1 "^$1:" "$build/CMakeCache.txt" 2>/dev/null) || return 0
    printf '%s' "${line#*=}"
}

# Everything that determines the configuration. If it changes, CMake must configure again.
fingerprint() {
    local file
    printf '%s\n' "$root" "$cmake" "$gxx" "${SIXDAYS_CMAKE_ARGS:-}" "${CMAKE_PREFIX_PATH:-}"
    type -P nvcc nvidia-smi doxygen dot python3 gdb ld.lld ccache || true
    for file in "$machine/usr/local/cuda/bin/nvcc" "$machine"/usr{,/local}/include/{png.h,pcre2.h,catch2} \
        "$machine"/usr/share/{doxygen-awesome-css,javascript/mathjax,javascript/lunr} \
        "$root/build/tile-venv/pyvenv.cfg" "$root"/my/*/*.cu; do
        if [[ -e $file ]]; then printf '%s\n' "$file"; fi
    done
}

configured() {
    if [[ $want_nvcc ]] && ! built_with_nvcc; then return 1; fi
    [[ -f $build/build.ninja && -f $build/learn.stamp && -z $installed ]] &&
        [[ $(fingerprint) == "$(<"$build/learn.stamp")" ]]
}

configure() {
    local log=$root/build/configure.log args=(-U{SIXDAYS_LLD,SIXDAYS_CCACHE}) more summary stamp
    if configured; then return; fi
    may_write "$build"
    if [[ ! -f $build/build.ninja || $(cache_value CMAKE_HOME_DIRECTORY) != "$root" ]]; then
        note "Configuring: CMake checks what is installed."
        # nvcc takes most of the time, and without a GPU its output cannot run.
        args+=(--fresh "-DCMAKE_CXX_COMPILER=$gxx" -DSIXDAYS_CUDA=GPU)
    elif [[ $(cache_value CMAKE_CUDA_COMPILER) == *NOTFOUND ]]; then
        args+=(-UCMAKE_CUDA_COMPILER -USIXDAYS_NVCC)  # or CMake would not look for nvcc again
    fi
    if [[ $want_nvcc ]]; then args+=(-DSIXDAYS_CUDA=ON); fi
    read -ra more <<<"${SIXDAYS_CMAKE_ARGS:-}"
    stamp=$(fingerprint)
    configure_with "$build" "$log" --preset default "${args[@]}" "${more[@]}"
    summary=$(sed -n '/^-- Six days/,/^-- *$/s/^-- //p' "$log")
    if [[ ! -f $build/learn.summary || $summary != "$(<"$build/learn.summary")" ]]; then
        note "" "$summary" ""
        keep "$build/learn.summary" "$summary"
    fi
    keep "$build/learn.stamp" "$stamp"
    installed=''
}

# configure_with <build folder> <log> <argument of cmake>...: stops with a message on failure.
configure_with() {
    local folder=$1 log=$2 status=0
    shift 2
    (cd "$root" && "$cmake" "$@") >"$log" 2>&1 || status=$?
    if ((status == 0)); then
        if [[ -s $folder/build.ninja ]]; then return; fi
        disk_is_full "$folder"  # CMake ignores the failed write and removes the file
    fi
    if ((status != 130)); then cat "$log" >&2; fi
    stop_if_told "$status" "$log" "$folder"
    stop 1 "" "CMake could not configure the build. Its output is above, and in $(path "$log")."
}

no_room='No space left on device|Disk quota exceeded'

# stop_if_told <status> <log> <folder>: stops with a message if the cause was Ctrl-C or a full disk.
stop_if_told() {
    local place
    if (($1 == 130)); then stop 130 "" "Stopped. Run the same command to continue."; fi
    for place in "$3" "${TMPDIR:-/tmp}"; do
        if is_full "$place"; then disk_is_full "$place"; fi
    done
    if grep -qE "$no_room" "$2"; then disk_is_full "$3"; fi
}

is_full() {  # is_full <folder>
    local said status=0
    said=$({ head -c 65536 /dev/zero >"$1/.room.$$"; } 2>&1) || status=$?
    rm -f "$1/.room.$$"
    ((status > 0)) && [[ $said =~ $no_room ]]
}

disk_is_full() {
    stop 1 "" "The disk is full: there is not enough space left in $1. Free some, then run the same command again."
}

# keep <file> <text>: writes the file atomically.
keep() {
    if { printf '%s\n' "$2" >"$1.new" && mv "$1.new" "$1"; } 2>/dev/null; then return; fi
    stop_if_told 1 /dev/null "${1%/*}"
    stop 1 "" "$1 could not be written."
}

# build_target <what, in words> <argument of cmake --build>...
build_target() {
    local what=$1 status=0
    shift
    (cd "$root" && "$cmake" --build "$@" 2>&1) | build_progress "$what" >&2 || status=$?
    if ((status == 0)); then return; fi
    if ((status == 28)); then disk_is_full "$building"; fi
    stop_if_told "$status" /dev/null "$building"
    stop 1 "" "The build failed; the compiler's messages are above."
}

# Ninja's "[3/80] Building ..." lines: one updated line on a terminal, four lines elsewhere. Ninja
# prints nothing until its first step is done, so after a second this prints what is being built.
# Status 28, ENOSPC: the disk is full.
build_progress() {
    local line part status number of quarter shown=0 announced='' begun='' long='' full=''
    while :; do
        status=0
        IFS= read -r -t 1 part || status=$?
        line=$begun$part begun=''
        if ((status > 0 && status <= 128)); then break; fi  # end of input; above 128 is a timeout
        if ((status > 128)) || [[ $line =~ ^\[.*(Building|Linking|Translating) ]]; then
            if [[ -z $announced ]]; then note "Building $1."; fi
            announced=yes
            if ((status > 128)); then begun=$line && continue; fi
        fi
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*)$ ]]; then
            number=${BASH_REMATCH[1]} of=${BASH_REMATCH[2]} line=${BASH_REMATCH[3]##*/}
            quarter=$((4 * number / of))
            if [[ -z $long ]] && ((of >= 50)); then
                note "  $of steps, a few minutes. Later builds compile only what has changed."
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
            if [[ $line =~ $no_room ]]; then full=yes; fi
        fi
    done
    if [[ -t 2 ]]; then printf '\r\e[K'; fi
    if [[ $full ]]; then return 28; fi
}

# --- which machine is this? -----------------------------------------------------------------------
built_with_nvcc() { [[ $(cache_value SIXDAYS_BUILT_WITH_NVCC) == ON ]]; }

# Finds a GPU that is new enough for the lessons; else sets $why_no_gpu, a clause.
find_gpu() {
    local answer
    gpu_name='' gpu_capability='' gpu_driver=''
    if ! command -v nvidia-smi >/dev/null; then
        why_no_gpu="no GPU was found"
        return 1
    fi
    answer=$(timeout 30 nvidia-smi --query-gpu=name,compute_cap,driver_version \
        --format=csv,noheader 2>/dev/null | head -n 1) || answer=''
    IFS=, read -r gpu_name gpu_capability gpu_driver <<<"$answer" || true
    gpu_capability=${gpu_capability# } gpu_driver=${gpu_driver# }
    if [[ ! $gpu_capability =~ ^[0-9]+\.[0-9]+$ ]]; then
        why_no_gpu="nvidia-smi is installed, but finds no GPU"
        return 1
    elif ! at_least "$gpu_capability" 8.0; then
        why_no_gpu="the $gpu_name has compute capability $gpu_capability, and the lessons need 8.0 or newer"
        return 1
    fi
}

# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# The lessons: run, test, trace, bench, tune, docs.

# Sets $backend, the suffix of the executables that run here: "" on a GPU, "_emulated" on the CPU.
choose_backend() {
    backend=_emulated
    if ! find_gpu; then
        note "${why_no_gpu^}, so the kernels run on the CPU emulator: same results, but no timings."
    elif ! built_with_nvcc; then
        note "No nvcc was found, so the kernels run on the CPU emulator: same results, but no timings."
    else
        backend=''
    fi
}

build_one() {  # build_one <what, in words> <target>...
    local what=$1
    shift
    lock_build
    build_target "$what" "$build" --target "$@"
    unlock_build  # a lesson may be read for an hour
}

verb_run() {
    local which=("${days[@]}") status=0 failed=() gpt2
    if (($# > 0)) && [[ $1 != -* ]]; then
        find_day "$1"
        which=("$day")
        shift
    fi
    need
    configure
    choose_backend
    for day in "${which[@]}"; do  # each is shown as soon as it is built
        build_one "$day" "$day$backend"
        note ""
        "$build/bin/$day$backend" "$@" || { status=$? && failed+=("$day"); }
        if [[ $day == day06* ]] && (($# == 0)); then
            # With nvcc but no GPU, gpt2 would be compiled and could not run.
            gpt2=''
            if [[ $backend ]] && built_with_nvcc; then gpt2=_emulated; fi
            build_one "the GPT-2" "gpt2_strides$gpt2" "gpt2${gpt2:-_command}"
            ask_model || { status=$? && failed+=("$day, the model's answers"); }
        fi
    done
    if ((${#failed[@]} > 0)); then
        if ((${#which[@]} > 1)); then note "" "Failed: ${failed[*]}."; fi
        return "$status"
    elif (($# == 0)); then
        note ""
        if ((${#which[@]} == 1)); then read_and_solve; else read_all; fi
    fi
}

# Day 06 ends with a small GPT-2 that answers questions on shapes, in a terminal the reader's too.
ask_model() {  # uses $backend, $gpt2
    local device=cpu
    say ""
    if [[ -z $backend ]]; then device=cuda; fi
    "$build/bin/gpt2_strides$gpt2" --backend "$device"
}

# --- from the run to the page, and to the exercises ------------------------------------------------
# find_page <day, or index>: sets $page to the built page if it is up to date, else to its source.
find_page() {
    local text=$root/docs/$1.md
    if [[ $1 == index ]]; then text=$root/README.md; fi
    page=$build/docs/html/$1.html
    if [[ ! -e $text ]]; then page=''; elif [[ ! -e $page || $text -nt $page ]]; then page=$text; fi
}

# The reading minutes of a page, from its lines `*Must read, 10 minutes.*`; empty without them.
minutes_to_read() {
    if [[ ! -f $1 ]]; then return; fi
    sed -n 's/^\*Must read, \([0-9]*\) minutes*\.\*$/\1/p' "$1" | awk '{ n += $1 } END { if (n) print n }'
}

read_and_solve() {  # uses $day
    local minutes exercise words=()
    find_page "$day"
    if [[ $page ]]; then
        minutes=$(minutes_to_read "$root/docs/$day.md")
        say "Read:   $(path "$page")${minutes:+ ($minutes minutes)}"
    fi
    list_exercises
    for exercise in "${exercises[@]}"; do
        if [[ $(recall "$exercise" result) == passed ]]; then continue; fi
        about "$exercise"
        if ((${#words[@]} == 3)); then words[2]="others" && break; fi
        words+=("$exercise ($level, $minutes minutes)")
    done
    if ((${#words[@]} > 0)); then
        say "Solve:  $(printf '%s, then ' "${words[@]}" | sed 's/, then $//')"
        say "        $(next_of_day)"
    fi
}

read_all() {
    find_page index
    if [[ $page ]]; then say "Read:   $(path "$page"), and from there on day by day"; fi
    suggest_next
}

verb_test() {
    local log status=0 filter=() folder='' targets=() skipped preset=test what=everything word words=()
    for word in "$@"; do
        if [[ $word == --sanitizer ]]; then
            preset=sanitizer what="what compute-sanitizer watches"
        else
            words+=("$word")
        fi
    done
    no_more_than 1 "${words[@]}"
    if ((${#words[@]} > 0)); then find_tests "${words[0]}"; fi
    need tests
    configure
    if ((${#words[@]} > 0)) && [[ $preset == test ]]; then
        what="the tests of $chosen"
        targets_of "$folder"
    fi
    build_target "$what" --preset "$preset" "${targets[@]}"
    note ""
    log=$build/learn.test.log
    # ctest completes its own --output-log only at the end; tee's copy is also useful after an
    # interrupted run.
    (cd "$root" && "$(dirname "$cmake")/ctest" --preset "$preset" -j "$(nproc)" \
        --no-label-summary "${filter[@]}" 2>&1 | tee "$log") ||
        status=$?
    skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
    say ""
    if ((skipped > 0)); then why_skipped "$skipped"; fi
    if ((status != 0)); then
        say "${red}Some tests failed.${plain} Their output is above, and in $(path "$log")."
    fi
    return "$status"
}

# find_tests <day, or room as CTest names it>: sets its $folder, and ctest's arguments in $filter.
find_tests() {
    local rooms=()
    if [[ $1 != *.* ]]; then
        find_day "$1"
        folder=$day filter=(-L "^${day%%_*}\$")
        return
    fi
    mapfile -t rooms < <(cd "$root" && grep -sl '^ *add_room(' day*/*/CMakeLists.txt day*/*/*/CMakeLists.txt |
        sed 's,_[^/]*/,/,; s,/CMakeLists.txt,,; y,/,.,')
    choose room "${1,,}" "${rooms[@]}"
    folder=${chosen#*.}
    folder=$(cd "$root" && printf '%s' "${chosen%%.*}"_*/"${folder//.//}")
    filter=(-R "^${chosen//./\\.}\.")
}

# Sets $targets, arguments of cmake --build: all targets of a folder and its subfolders, its test
# programs included.
targets_of() {
    local target
    targets=(--target)
    while IFS=: read -r target _; do
        if [[ $target == "$1"/all || $target == "$1"/*/all ]]; then targets+=("$target"); fi
    done < <(ninja -C "$build" -t targets all | grep '/all: ')
}

# Counts the reasons that the skipped tests printed.
why_skipped() {
    local were="$1 tests were skipped" end=.
    if (($1 == 1)); then were="1 test was skipped"; fi
    if ! built_with_nvcc || ! find_gpu; then end=': what needs a GPU ran on the emulator.'; fi
    say "$were. Reasons:" "$(sed -n 's/^SKIPPED: //p' "$build/Testing/Temporary/LastTest.log" |
        sort | uniq -c)" "This is not a failure$end"
}

verb_trace() {
    if (($# == 0)); then stop 2 "Which day? $learn trace day01, for example."; fi
    find_day "$1"
    shift
    need
    configure
    build_one "the lessons" "${day}_emulated"
    "$build/bin/${day}_emulated" --trace "$@"
}

# build_for_gpu <why it needs one, a sentence> <day>...: the programs for this machine's GPU; without one it stops.
build_for_gpu() {
    if ! find_gpu; then stop 1 "${why_no_gpu^}. $1"; fi
    shift
    need
    configure
    if ! built_with_nvcc; then
        stop 1 "There is a GPU, but no nvcc to compile for it. $learn doctor tells you what to do."
    fi
    build_one "the lessons" "$@"
}

verb_bench() {
    local which=("${days[@]}") words=() word torch=0 failed=()
    for word in "$@"; do
        if [[ $word == --torch ]]; then torch=1; else words+=("$word"); fi
    done
    no_more_than 1 "${words[@]}"
    if ((${#words[@]} > 0)); then
        find_day "${words[0]}"
        which=("$day")
    fi
    build_for_gpu "Timings need a GPU: an emulated time means nothing." "${which[@]}"
    may_write "$root/build/bench"
    lock_build  # two at a time would distort each other's times
    for day in "${which[@]}"; do measure "$torch" || failed+=("$day"); done
    if ((${#failed[@]} < ${#which[@]})); then
        say "" "$learn docs shows these numbers beside the H200's. To send them in, add the files to" \
            "docs/results in a pull request: CONTRIBUTING.md, \"Send in your GPU's numbers\"."
    fi
    if ((${#failed[@]} > 0)); then stop 1 "Not measured: ${failed[*]}. The reason is above."; fi
}

# measure <with PyTorch: 0, 1>: $day into build/bench/<day>_<gpu>.csv, or no file if that fails. A file of an
# earlier run is kept.
measure() {
    local command=("$build/bin/$day" --bench) text gpu file older status=0
    if (($1)) && [[ -f $root/$day/bench/torch_peer.py ]]; then
        command=(python3 "$root/common/bench/torch_peer.py" "$build/bin/$day")
    fi
    note "Measuring $day."
    text=$("${command[@]}") || status=$?
    gpu=${text%%,*}
    gpu=$(short_name "${gpu#"# "}")
    if ((status == 0)) && [[ $text != "# "* || -z $gpu ]]; then status=1 && note "$day --bench did not name its GPU."; fi
    if ((status > 0)); then
        note "${command[*]} ended with status $status, so $day gets no file."
        return 1
    fi
    file=$root/build/bench/${day}_$gpu.csv
    if is_taken "$file"; then
        older=$(unused_name "$file")
        mv "$file" "$older" || return 1
        note "The file of an earlier run is kept: $(path "$older")"
    fi
    keep "$file" "${text%%$'\n'*}"$'\n'"# commit $(commit_of_tree)"$'\n'"${text#*$'\n'}"
    say "$(path "$file")"
}

# "NVIDIA GeForce RTX 4090" is rtx_4090 in the name of a file.
short_name() {
    local word words name=''
    read -ra words <<<"${1//[^A-Za-z0-9]/ }"
    for word in "${words[@],,}"; do
        if [[ $word != nvidia && $word != geforce ]]; then name+=${name:+_}$word; fi
    done
    printf '%s' "$name"
}

# Ends in -dirty if a tracked file has changed.
commit_of_tree() {
    if [[ ! -e $root/.git ]] || ! git -C "$root" describe --always --dirty --exclude='*' --abbrev=12 2>/dev/null; then
        echo "unknown: this tree is no git checkout"
    fi
}

verb_tune() {
    if (($# == 0)); then stop 2 "Which day? $learn tune day05, for example."; fi
    find_day "$1"
    shift
    if ! grep -q '"--tune"' "$root/$day/main.cpp"; then
        stop 2 "$day has no tile sizes to try. Available: $learn tune day05."
    fi
    build_for_gpu "Tuning needs a GPU: an emulated time means nothing." "$day"
    lock_build  # as for bench
    "$build/bin/$day" --tune "$@"
}

verb_docs() {
    local page pdf=''
    if [[ ${1:-} == --pdf ]]; then pdf=pdf && shift; fi
    no_more_than 0 "$@"
    need docs $pdf
    configure
    if [[ $(cache_value SIXDAYS_PAGES) != ON ]]; then  # an interrupted run installed tools
        rm -f "$build/learn.stamp"
        configure
    fi
    if [[ $(cache_value SIXDAYS_PAGES) != ON ]]; then
        stop 1 "CMake cannot build the pages here: $(cache_value SIXDAYS_PAGES)."
    fi
    build_target "the pages" --preset docs
    page=$(find "$build" -path '*html/index.html' -print -quit)
    if [[ $pdf ]]; then
        build_target "the PDF" "$build" --target docs_pdf
        say "All lessons as one PDF: ${bold}$(path "$build/docs/six_days.pdf")${plain}"
        return
    fi
    say "Open ${bold}$(path "${page:-$build}")${plain} in a browser."
}

# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# The learner's own kernels, my/<day>/<exercise>.cu: start, check, hint, solution, reset, progress, report.
# my/progress holds lines "<day>/<exercise> <key> <value>"; it may be deleted. The keys: result (passed, rejected,
# started), hints (the number seen), and the dates on which it was started and first passed.

recall() {  # recall <exercise> <key>
    local name key value found=''
    if [[ ! -f $root/my/progress || ! -r $root/my/progress ]]; then return 0; fi
    while read -r name key value || [[ $name ]]; do
        if [[ $name == "$day/$1" && $key == "$2" ]]; then found=$value; fi
    done <"$root/my/progress"
    printf '%s' "$found"
}

# The number of hints seen; an invalid entry counts as 0.
hints_seen() {
    local seen
    seen=$(recall "$1" hints)
    if [[ ! $seen =~ ^[1-9][0-9]{0,2}$ ]]; then seen=0; fi
    printf '%s' "$seen"
}

remember() {  # remember <exercise> <key> <value>
    local line kept=()
    may_write "$root/my"
    if [[ -e $root/my/progress && ! -f $root/my/progress ]]; then
        note "Progress is not saved: $(path "$root/my/progress") is not a file. Move it away."
        return 0
    fi
    if [[ -r $root/my/progress ]]; then
        while IFS= read -r line || [[ $line ]]; do
            if [[ $line != "$day/$1 $2 "* ]]; then kept+=("$line"); fi
        done <"$root/my/progress"
    fi
    printf '%s\n' "${kept[@]}" "$day/$1 $2 $3" >"$root/my/.progress.new"
    mv -f "$root/my/.progress.new" "$root/my/progress"
}

remember_today() {  # remember_today <exercise> <key>: only the first time
    if [[ $(recall "$1" "$2") != 20??-??-?? ]]; then remember "$1" "$2" "$(printf '%(%F)T' -1)"; fi
}

# `verb day [exercise]`: sets $day, and $exercises to the named one or to all of that day.
find_exercises() {
    find_day "$1"
    list_exercises
    if ((${#exercises[@]} == 0)); then stop 1 "$day has no exercises yet."; fi
    if (($# > 1)); then
        choose "exercise of $day" "$2" "${exercises[@]}"
        exercises=("$chosen")
    fi
}

# The solution of an exercise, from which its stub is generated, and its statement. Most exercises
# are one file, larger ones a folder.
solution_of() {
    if [[ -f $root/$day/exercises/$1.cu ]]; then printf '%s' "$root/$day/exercises/$1.cu"; else
        printf '%s' "$root/$day/exercises/$1/solution.cu"
    fi
}
statement_of() { if is_small "$1"; then solution_of "$1"; else printf '%s' "$root/$day/exercises/$1/$1.hpp"; fi; }
is_small() { [[ -f $root/$day/exercises/$1.cu ]]; }

# Sets $level and $minutes, from the statement's line "/// Easy, 15 minutes.", and $title.
about() {
    local statement
    statement=$(statement_of "$1")
    read -r level minutes < <(sed -nE 's,^///? (Tiny|Easy|Medium|Hard)\, ([0-9]+) minutes\.$,\1 \2,p' "$statement") || true
    level=${level,,}
    title=$(sed -nE 's|^///? Exercise [0-9]+ of Day [0-9]+: (.*)\.$|\1|p' "$statement")
}

# Sets $day to the first day with an unsolved exercise, starting with the named day and wrapping
# around; false if there is none.
day_to_do() {
    local exercise from=$named
    for day in "${days[@]}" "${days[@]}"; do
        if [[ $from && $day != "$from" ]]; then continue; fi
        from=
        list_exercises
        for exercise in "${exercises[@]}"; do
            if [[ $(recall "$exercise" result) != passed ]]; then return 0; fi
        done
    done
    return 1
}

stub_of() { awk -f "$root/common/cmake/stub.awk" "$(solution_of "$1")"; }

# Writes the file atomically.
put_stub() { stub_of "$1" >"$2.new" && mv "$2.new" "$2"; }

# Does the path exist, even as a dangling link?
is_taken() { [[ -e $1 || -L $1 ]]; }

# The first of file.1, file.2, ... that does not exist.
unused_name() {
    local number=1
    while is_taken "$1.$number"; do number=$((number + 1)); done
    printf '%s' "$1.$number"
}

# Sets $unusable to why the learner's file cannot be read; false if it can, or does not exist.
is_unusable() {
    unusable=''
    if [[ -L $1 && ! -e $1 ]]; then
        unusable='is a link to a file that is not there'
    elif [[ -d $1 ]]; then
        unusable='is a folder, not a file'
    elif [[ -e $1 && ! -f $1 ]]; then
        unusable='is not a regular file'
    elif [[ -e $1 && ! -r $1 ]]; then
        unusable='cannot be read (no permission)'
    fi
    [[ $unusable ]]
}

verb_start() {
    local exercise file statement level minutes title yours unusable
    no_more_than 1 "$@"
    if (($# > 0)); then
        find_exercises "$1"
    elif ! day_to_do; then
        say "All exercises are solved. To see the files of a day again, name it: $learn start day01."
        return
    fi
    may_write "$root/my/$day"
    say "${bold}$day${plain}: in this order. First read the task, then fill in the kernel." ""
    for exercise in "${exercises[@]}"; do
        file=$root/my/$day/$exercise.cu yours=''
        statement=$(statement_of "$exercise")
        about "$exercise"
        if is_unusable "$file"; then
            yours="  ($unusable; left unchanged)"
        elif [[ -e $file ]]; then
            yours="  (already yours; left unchanged)"
        else
            put_stub "$exercise" "$file"
            remember_today "$exercise" started
        fi
        say "  $exercise: $title ($level, $minutes minutes)"
        if ! is_small "$exercise"; then say "    read   $(path "$statement")"; fi
        say "    edit   $(path "$file")$yours"
    done
    say "" "Then: $learn check ${day%%_*}. For a hint: $learn hint ${day%%_*}"
}

verb_hint() {
    local exercise file seen count
    no_more_than 2 "$@"
    if (($# == 0)); then stop 2 "Which day? $learn hint day01, for example."; fi
    find_exercises "$@"
    for exercise in "${exercises[@]}"; do
        if [[ $(recall "$exercise" result) != passed ]]; then break; fi
    done
    file=$root/$day/exercises/$exercise/hints.md
    if is_small "$exercise"; then file=$(solution_of "$exercise"); fi
    if [[ ! -f $file ]]; then stop 1 "$exercise has no hints."; fi
    count=$(hints_in "$file" | grep -c '^## Hint ' || true)
    seen=$(($(hints_seen "$exercise") + 1))
    if ((seen > count)); then
        say "That was the last hint for $exercise; all $count are in $(path "$file")." \
            "For a solution and why it is right: $learn solution ${day%%_*} $exercise"
        return
    fi
    say "${bold}$exercise, hint $seen of $count${plain}" ""
    hints_in "$file" | awk -v n="$seen" '/^## /{on = ($0 ~ "^## Hint " n "( |$|:|\\.)"); next} on' | trimmed
    if [[ -e $root/my/$day/$exercise.cu ]]; then
        remember "$exercise" hints "$seen"
    else
        say "" "$exercise is not started, so this hint does not count. To start: $learn start ${day%%_*}"
    fi
}

# The hints and reasons in hints.md, or those at the end of a file, "// hint 1: ..." and
# "// why: ...", in the format of hints.md.
hints_in() {
    if [[ $1 == *.md ]]; then cat "$1"; else
        awk 'match($0, /^\/\/ (hint [0-9]+|why): /) {
            head = substr($0, 4, RLENGTH - 5); sub(/^hint/, "Hint", head); sub(/^why/, "Why", head)
            if (head != last) print "## " head; last = head
            print substr($0, RLENGTH + 1)
        }' "$1"
    fi
}
trimmed() { sed -e '/./,$!d' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'; }  # strips empty end lines

verb_solution() {
    local exercise solved=() solution hints
    no_more_than 2 "$@"
    if (($# == 0)); then stop 2 "Which day? $learn solution day01, for example."; fi
    find_exercises "$@"
    for exercise in "${exercises[@]}"; do
        if [[ $(recall "$exercise" result) == passed ]]; then solved+=("$exercise"); fi
    done
    if ((${#solved[@]} == 0)); then
        solved=("${exercises[0]}")
        printf '%s' "You have not solved ${solved[0]} yet. Show its solution anyway? [y/N] "
        read -r answer || answer=''
        say ""
        if [[ ${answer,,} != y && ${answer,,} != yes ]]; then
            stop 1 "Not shown. A hint gives away less: $learn hint ${day%%_*} ${solved[0]}"
        fi
    fi
    for exercise in "${solved[@]}"; do
        solution=$(solution_of "$exercise") hints=$root/$day/exercises/$exercise/hints.md
        if is_small "$exercise"; then hints=$solution; fi
        say "${bold}$exercise, a solution${plain}  $(path "$solution")" ""
        awk '/^\/\/ hint 1/ { exit } /\/\/ (stub|(told|wrong)( [1-9]+)?): / { next } /\/\/ end of your code/ { on = 0; print "" } on; /\/\/ your code/ { on = 1; print }' "$solution" | trimmed
        say "" "${bold}Why it is right${plain}" ""
        hints_in "$hints" | awk '/^## /{ on = ($0 == "## Why"); next } on' | trimmed
        say ""
        if [[ -e $root/my/$day/$exercise.cu ]]; then
            say "Compare with yours: diff $(path "$root/my/$day/$exercise.cu") $(path "$solution")" ""
        fi
    done
}

verb_reset() {
    local exercise file kept unusable
    no_more_than 2 "$@"
    if (($# == 0)); then stop 2 "Which day? $learn reset day01, for example."; fi
    find_exercises "$@"
    for exercise in "${exercises[@]}"; do
        file=$root/my/$day/$exercise.cu
        if is_unusable "$file"; then
            say "$exercise: $(path "$file") $unusable. Move it away, then start again: $learn start ${day%%_*}"
        elif [[ ! -e $file ]]; then
            say "$exercise was not started, so there is nothing to reset."
        elif cmp -s "$file" <(stub_of "$exercise"); then
            say "$exercise is already in its initial state."
        else
            kept=$(unused_name "$file")
            cp "$file" "$kept.new"
            mv "$kept.new" "$kept"
            put_stub "$exercise" "$file"
            remember "$exercise" result started
            say "$exercise is back in its initial state. Your version is kept: $(path "$kept")."
        fi
    done
}

# --- check ----------------------------------------------------------------------------------------
verb_check() {
    local word watch='' words=()
    for word in "$@"; do
        if [[ $word == --watch ]]; then watch=yes; else words+=("$word"); fi
    done
    no_more_than 2 "${words[@]}"
    if [[ ! $watch ]]; then
        check_these "${words[@]}"
        return
    fi
    (check_these "${words[@]}") || true
    watch_these "${words[@]}"
}

# The learner's files, relative to the root of the tree, with their modification times.
saves() { (cd "$root" && stat -c '%n %.9Y' my/*/*.cu 2>/dev/null) || true; }

# Checks each saved file, if it was named or nothing was, until Ctrl-C.
watch_these() {
    local before now file
    before=$(saves)
    while :; do
        say "" "Waiting for you to save a file in $(path "$root/my")/. Press Ctrl-C to stop."
        while now=$(saves) && [[ $now == "$before" ]]; do sleep 0.5; done
        while read -r file; do
            file=${file% *}
            day=${file%/*} day=${day##*/} exercise=${file##*/} exercise=${exercise%.cu}
            if [[ ${1:-} ]]; then (find_day "$1" && [[ $day == "$named" ]]) || continue; fi
            if [[ ! ${2:-} || $exercise == "$2"* ]]; then
                say "" "Saved: $(path "$root/$file")"
                (check_these "$day" "$exercise") || true
            fi
        done < <(comm -13 <(sort <<<"$before") <(sort <<<"$now"))
        before=$now
    done
}

check_these() {
    local which=("${days[@]}") found='' rejected='' open='' exercise file unusable
    if (($# > 0)); then
        find_exercises "$@"
        which=("$day")
    fi
    for day in "${which[@]}"; do
        for file in "$root/my/$day"/*.cu; do
            if is_taken "$file"; then found=yes; fi
        done
    done
    day=${which[0]}
    if [[ $found && $# -eq 2 ]] && ! is_taken "$root/my/$day/${exercises[0]}.cu"; then found=''; fi
    if [[ -z $found ]]; then
        stop 1 "Nothing to check: ${2:+$2 was not started, or }no exercise was started. To start: $learn start ${day%%_*}"
    fi
    need tests
    configure
    for day in "${which[@]}"; do
        if (($# < 2)); then list_exercises; fi
        for exercise in "${exercises[@]}"; do
            file=$root/my/$day/$exercise.cu
            if is_unusable "$file"; then
                say "${bold}$exercise${plain}: ${red}not checked${plain}. $(path "$file") $unusable."
                rejected=${rejected:-${day%%_*} $exercise}
            elif [[ ! -e $file ]]; then
                continue
            elif is_begun "$exercise" || is_to_look_at "$exercise"; then
                check_one "$exercise" || rejected=${rejected:-${day%%_*} $exercise}
            else
                say "${bold}$exercise${plain}: not started. Your code goes between the marks in $(path "$file")."
                open=${open:-${day%%_*} $exercise}
            fi
        done
    done
    say ""
    if [[ $rejected || $open ]]; then
        say "For a hint: $learn hint ${rejected:-$open}"
    else
        suggest_next
    fi
    if built_with_nvcc && find_gpu; then
        say "Checked on the emulator, which checks every load and store; the GPU was not used."
    fi
    [[ -z $rejected && -z $open ]]
}

# Does the learner's file exist, and differ from the stub? Some editors end lines with CR LF or add
# a byte order mark.
is_begun() {
    local file=$root/my/$day/$1.cu
    [[ -f $file && -r $file ]] && ! cmp -s <(LC_ALL=C sed -e '1s/^\xef\xbb\xbf//' -e 's/\r$//' "$file") <(stub_of "$1")
}

# Should the unchanged stub be run? Then a line of the statement begins with these words.
is_to_look_at() { grep -q '^///* Check it as it is' "$(statement_of "$1")"; }

# The symbols that the linker did not find, one per line; ld and lld report them differently.
undefined_names() { sed -nE "s/.*undefined (reference to .|symbol: )(.*[^'])'?$/\2/p" "$1" | sort -u; }

# Builds only the target with the learner's file, and prints the compiler's errors.
compiles() {  # compiles <exercise> <target>
    local mine=$root/my/$day/$1.cu log=$root/my/$day/$1.log word
    if (cd "$root" && LC_ALL=C "$cmake" --build "$build" --target "$2") >"$log" 2>&1; then return 0; fi
    word='does not compile'
    if ! grep -q ':[0-9]*: error: ' "$log" && [[ $(undefined_names "$log") ]]; then
        word='compiles, but is not complete'
    fi
    say "${bold}$1${plain}: ${red}$word${plain}."
    show_errors "$1" "$mine" "$log"
    say "  Full build output: $(path "$log")"
    return 1
}

# The function that the cases call, as declared: "void guard(const float* in, int n, float* out);".
signature_of() {  # signature_of <exercise>
    local from=$root/$day/exercises/$1/$1.hpp name=${1}_cuda
    if is_small "$1"; then from=$root/$day/exercises/cases.cpp name=$1; fi
    awk -v call="void $name(" 'index($0, call) == 1 { on = 1 }
        on { gsub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; if (/;$/) { print text; exit } }' "$from"
}

# Reports that the function is missing or has other arguments, and prints the declaration.
say_missing() {  # say_missing <exercise> <file>
    local name=${1}_cuda where='' found
    if is_small "$1"; then name=$1; else where=", in the namespace sixdays::$day"; fi
    say "  \`$name()\` is not in your file. The cases call this function$where:" "    $(signature_of "$1")"
    found=$(awk -v name="$name" '!/^ *\/\// && !/<<</ {
        at = index($0, name "("); before = at > 1 ? substr($0, at - 1, 1) : " "
        if (at && before !~ /[A-Za-z0-9_]/) { sub(/ *\{ *$/, ""); print "    line " NR ": " $0 }
    }' "$2")
    if [[ $found ]]; then say "  Your file has it with different arguments, or in another namespace:" "$found"; fi
    say "  $learn reset ${day%%_*} $1 restores the stub, and keeps your file beside it."
}

# Builds and runs one exercise, and reports the result. False if it does not pass.
check_one() {
    local name=${day%%_*}_$1 log=$root/my/$day/$1.log status=0 ours proof
    may_write "$root/my/$day"
    # Our files first: any later failure is in the learner's file.
    if is_small "$1"; then ours=${day%%_*}_exercises_cases; else ours=${name}_cases; fi
    build_target "what $1 is checked with" "$build" --target "$ours" sixdays_testing_main
    if ! compiles "$1" "my_$name"; then
        remember "$1" result rejected
        return 1
    fi
    # The last line of our main, which the learner's file cannot print by accident.
    proof="Run $$-$RANDOM$RANDOM$RANDOM"
    # The braces hide the shell's "Segmentation fault", which is reported below.
    { SIXDAYS_PROOF=$proof SIXDAYS_PICTURES=$root/my/$day \
        timeout --foreground -k 5 120 "$build/bin/my_$name" "$1:*" >"$log" 2>&1; } 2>/dev/null || status=$?
    if ((status == 0)) && grep -qE "^$proof: [1-9][0-9]* cases, [1-9][0-9]* assertions, passed\$" "$log"; then
        say "${bold}$1${plain}: ${green}passed${plain}. $(sed -n 's/^All tests passed/All its cases pass/p' "$log")"
        show_picture "$log"
        remember "$1" result passed
        remember_today "$1" passed
        return 0
    fi
    remember "$1" result rejected
    say "${bold}$1${plain}: ${red}failed${plain}."
    if ((status == 124)); then
        say "  It did not finish within two minutes. Is there an infinite loop?"
    elif grep -q "^$proof: .*another main\$" "$log"; then
        say_main
    elif first_failure "$build/bin/my_$name" "$1:*"; then
        :
    elif ((status == 139)); then  # segmentation fault
        say "  It crashed, most likely by an out-of-bounds access. Is every index guarded?"
    elif ! grep -q "^$proof: " "$log"; then
        say "  Your file ends the program (exit, abort, ...) with status $status before the cases were done." \
            "  The cases call your function many times, so it must return."
    else
        say "  It ended with status $status, and no case reported why. Its last output:" \
            "$(tail -n 5 "$log" | sed 's/^/    /')"
    fi
    show_picture "$log"
    say "  Full output of the cases: $(path "$log")"
    return 1
}

# The cases' line about the picture that they have drawn, if any.
show_picture() {  # show_picture <log>
    local line
    line=$(grep -m 1 '^Your picture' "$1") || return 0
    say "  ${line//"$root"\//}"
}

say_main() { say "  Your file defines \`main\`; the cases have their own, which runs them. Remove yours."; }

# Prints only the errors of a failed build that are about this file.
show_errors() {  # show_errors <exercise> <file> <log>
    local mine=$2 log=$3 said
    said=$(awk -v mine="$mine" '
        /^\[[0-9]+\/[0-9]+\]|^FAILED: |^ninja: /        { keep = 0; next }
        index($0, mine ":") == 1 && / error: |: error/    { keep = 1 }
        index($0, mine ":") == 1 && / warning: /          { keep = 0 }
        index($0, mine ":") != 1 && /^[^ ]+:[0-9]+(:[0-9]+)?: (fatal )?error|^[^ ]+: In / { keep = 0 }
        # A translated launch is longer than the original, so markers below it are misplaced.
        keep && !(/^ *\| +[~^]/ && length > 110)' "$log")
    if [[ -z $said ]] && grep -qE 'multiple definition of .main|duplicate symbol: main$' "$log"; then
        say_main
        return
    elif [[ -z $said ]] && undefined_names "$log" | grep -qE "(^|::)$1(_cuda)?\("; then
        say_missing "$1" "$mine"
        return
    elif [[ -z $said && $(undefined_names "$log") ]]; then
        said="Your file calls functions that it does not define:
$(undefined_names "$log" | sed 's/^/    /')"
    elif [[ -z $said ]]; then
        said=$(grep -v -E '^(\[[0-9]+/|FAILED: |ninja: |/[^ ]*(g\+\+|c\+\+|cmake) |cd /)' "$log")
    fi
    said=${said//"$root"\//}
    head -n 40 <<<"$said" | sed 's/^/  /'
    if (($(wc -l <<<"$said") > 40)); then say "  ..."; fi
}

# Prints the first failing case and the relevant part of its output. Runs the cases again up to that
# one: Catch2's XML does not break lines and separates messages from values.
first_failure() {  # first_failure <program> <cases>
    { timeout --foreground -k 5 120 "$1" "$2" --abort -r xml 2>/dev/null || true; } 2>/dev/null |
        awk -v root="$root/" '
        function plain(text) {
            while ((at = index(text, root)) > 0)
                text = substr(text, 1, at - 1) substr(text, at + length(root))
            gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text)
            gsub(/&quot;/, "\"", text); gsub(/&amp;/, "\\&", text)
            return text
        }
        { gsub(/^ +| +$/, "") }
        /^<TestCase / { sub(/^<TestCase name="/, ""); sub(/".*/, ""); name = plain($0) }
        /^<(Info|Original|Expanded|Exception|FatalErrorCondition|Failure)[ >\/]/ {
            tag = $0; gsub(/^<|[ >\/].*/, "", tag)
            if (tag == "Exception" || tag == "FatalErrorCondition" || tag == "Failure") failed = 1
            if (tag == "Info") ++infos
            next
        }
        /^<Expression success="false"/ { failed = 1 }
        /^<[A-Z]/ { tag = ""; next }  # ignores others; an empty <Info/> has no end tag
        /^<\/Expression>|^<\/TestCase>|^<\/Failure>|^<\/FatalErrorCondition>/ { if (failed) exit }
        /^<\// { tag = ""; next }
        tag == "Info" { info[infos] = info[infos] (info[infos] == "" ? "" : "\n") plain($0) }
        tag != "" && tag != "Info" { said[tag] = said[tag] (said[tag] == "" ? "" : "\n") plain($0) }
        END {
            if (!failed) exit 1
            print "The first case that fails: " name
            for (i = 1; i <= infos; ++i) {
                if (info[i] ~ /^[A-Za-z_0-9().]+ := /) {
                    sub(/ := /, " = ", info[i]); sub(/ \(0x[0-9a-f]+\)$/, "", info[i])
                    values = values (values == "" ? "with " : ", ") info[i]
                } else if (info[i] != "") words = words info[i] "\n"
            }
            if (values != "") print values
            reason = said["Exception"]
            if (reason == "") reason = said["Failure"]
            if (reason == "") reason = said["FatalErrorCondition"]
            if (reason ~ /^SIGSEGV/)
                reason = "It crashed: the host code accesses memory out of bounds. Is a device " \
                    "pointer used outside a kernel?"
            if (reason ~ /^SIGABRT/)
                reason = "Your file ends the program: abort, an assert that fails, or an exception " \
                    "that nothing catches."
            if (reason == "") reason = said["Expanded"]
            # For a stopped kernel, the report of the emulator is more useful than the error code.
            if (match(reason, /failed with cuda[A-Za-z]+: [^\n]*\n/))
                reason = substr(reason, RSTART + RLENGTH)
            gsub(/ \(0x[0-9a-f]+\) /, " ", reason)  # Catch2 repeats large numbers in hex
            sub(/ \(0x[0-9a-f]+\)$/, "", reason)
            printf "%s", words
            # After a message, "false", "false == true" or "192 == 96" adds nothing.
            value = "(true|false|[-0-9.e]+)"
            if (words == "" || reason !~ "^!?" value "( *[=!<>]=? *" value ")?$") print reason
        }' | fold -s -w 92 | sed 's/ *$//; s/^/  /'
    return "${PIPESTATUS[1]}"
}

# --- progress -------------------------------------------------------------------------------------
verb_progress() {
    local exercise result hints words solved text page minutes level title
    say "${bold}Six days from flat memory to a transformer${plain}" ""
    for day in "${all_days[@]}"; do
        if [[ " ${days[*]} " != *" $day "* ]]; then
            row "$day" "not finished yet"
            continue
        fi
        list_exercises
        solved=0 words=''
        for exercise in "${exercises[@]}"; do
            result=$(recall "$exercise" result)
            hints=$(hints_seen "$exercise")
            case $result in
                passed) result="${green}done${plain}" && solved=$((solved + 1)) ;;
                *)
                    if ! is_begun "$exercise"; then
                        result='not started'
                    elif [[ $result == rejected ]]; then
                        result='started, not passing yet'
                    else
                        result=started
                    fi
                    ;;
            esac
            if ((hints > 0)); then result+=", hints seen: $hints"; fi
            about "$exercise"
            words+=$(printf '\n    %-16s %3s minutes, %-8s %s' "$exercise" "$minutes" "$level" "$result")
        done
        row "$day" "$solved of ${#exercises[@]} exercises solved"
        for text in "$root/docs/$day.md" "$root/docs/${day}_"*.md; do  # Day 06 has a second page
            if [[ ! -e $text ]]; then continue; fi
            page=$build/docs/html/$(basename "$text" .md).html
            if [[ ! -e $page ]]; then page=$text; fi
            minutes=$(minutes_to_read "$text")
            printf '    %-16s %3s %-17s %s\n' page "$minutes" "${minutes:+minutes}" "$(path "$page")"
        done
        minutes=$(sed -n '/^## What the run prints/,/^\*/s/^\*Hands on, \([0-9]*\) minutes*\.\*$/\1/p' "$root/docs/$day.md" 2>/dev/null) || true
        printf '    %-16s %3s %-17s %s\n' run "${minutes:-10}" minutes "$learn run ${day%%_*}"
        if [[ $words ]]; then say "${words:1}"; fi
    done
    say ""
    suggest_next
}

row() { say "  ${bold}$(printf %-26s "$1")${plain}$2"; }

# The next command for the exercises of $day.
next_of_day() {
    local exercise
    for exercise in "${exercises[@]}"; do
        if [[ ! -e $root/my/$day/$exercise.cu ]]; then
            say "$learn start ${day%%_*}, for the exercises of $day"
            return
        fi
    done
    for exercise in "${exercises[@]}"; do
        if [[ $(recall "$exercise" result) != passed ]]; then break; fi
    done
    say "fill in $(path "$root/my/$day/$exercise.cu"), then $learn check ${day%%_*}"
}

# Without any progress, the first suggestion is a run.
suggest_next() {
    if [[ ! -e $root/my/progress && ! -x $build/bin/${days[0]:-}_emulated ]]; then
        say "Next: $learn run"
    elif ! day_to_do; then
        say "Every exercise is solved. $learn docs builds the pages."
    else
        say "Next: $(next_of_day)"
    fi
}

# --- report ---------------------------------------------------------------------------------------
# Sets ${entry["<day>/<exercise> <key>"]} from the valid lines of my/progress, and names the first others.
read_progress() {
    local lines number line invalid=0 name key value known=' ' file=$root/my/progress
    for day in "${days[@]}"; do
        list_exercises
        known+=$(printf "$day/%s " "${exercises[@]}")
    done
    if is_unusable "$file"; then stop 1 "There is no report: $(path "$file") $unusable."; fi
    if [[ ! -e $file ]]; then return; fi
    mapfile -t lines <"$file"
    for number in "${!lines[@]}"; do
        line=${lines[number]}
        if [[ ! $line ]]; then continue; fi
        IFS=' ' read -r name key value <<<"$line"
        if [[ $known == *" $name "* ]]; then
            case $key in
                result) [[ $value =~ ^(passed|rejected|started)$ ]] ;;
                hints) [[ $value =~ ^[1-9][0-9]{0,2}$ ]] ;;
                started | passed) [[ $value =~ ^20[0-9]{2}-[01][0-9]-[0-3][0-9]$ ]] ;;
                *) false ;;
            esac && entry["$name $key"]=$value && continue
        fi
        invalid=$((invalid + 1)) line=${line:0:60}
        if ((invalid <= 3)); then note "$(path "$file"), line $((number + 1)), is not valid and is left out: ${line@Q}"; fi
    done
    if ((invalid > 3)); then note "$(path "$file") has $((invalid - 3)) more lines that are not valid and are left out."; fi
}

verb_report() {
    local json='' name exercise state hints all=0 passed=0 seen=0 line lines=() today unusable
    # shellcheck disable=SC2016  # Markdown
    local format='| %s | `%s` | %s | %s | %s | %s |' none='' quote=''
    local -A entry=()
    if [[ ${1:-} == --json ]]; then
        format='    {"day": "%s", "exercise": "%s", "state": "%s", "hints": %s, "started": %s, "first_passed": %s},'
        json=yes none=null quote='"'
        shift
    fi
    no_more_than 0 "$@"
    read_progress
    for day in "${days[@]}"; do
        list_exercises
        for exercise in "${exercises[@]}"; do
            name=$day/$exercise
            state=${entry["$name result"]:-started} hints=${entry["$name hints"]:-0}
            if [[ $state != passed && ! -e $root/my/$name.cu ]]; then
                state='not started'
            elif [[ $state == rejected ]]; then
                state='not passing'
            fi
            if [[ $state == passed ]]; then passed=$((passed + 1)); fi
            all=$((all + 1)) seen=$((seen + hints))
            # shellcheck disable=SC2059  # one of the two formats above
            printf -v line "$format" "$day" "$exercise" "$state" "$hints" \
                "$(date_of started)" "$(date_of passed)"
            lines+=("$line")
        done
    done
    printf -v today '%(%F)T' -1
    if [[ $json ]]; then
        lines[-1]=${lines[-1]%,}
        say "{" "  \"date\": \"$today\"," "  \"passed\": $passed," "  \"hints\": $seen," '  "exercises": [' "${lines[@]}" "  ]" "}"
    else
        say "# Report of $today" "" "$passed of $all exercises passed. Hints seen: $seen." "" \
            "| day | exercise | state | hints | started | first passed |" "|---|---|---|---|---|---|" "${lines[@]}" "" \
            "This is what \`my/progress\` says, which its owner can edit. \`common/learn check\` on the same \`my/\` proves it."
    fi
}

date_of() {  # date_of <key>: uses verb_report's variables
    if [[ ${entry["$name $1"]:-} ]]; then printf '%s' "$quote${entry["$name $1"]}$quote"; else printf '%s' "$none"; fi
}

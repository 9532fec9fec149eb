#!/usr/bin/env bash
# The command line tool: what it prints where, and its exit status.
#   command.sh PROGRAM FOLDER_OF_THE_TESTS yes|no (is the tokenizer built?)
program=$1 files=$2 tokenizer=$3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
    echo "FAILED: $1"
    sed 's/^/    /' "$folder/out" "$folder/err"
    failures=$((failures + 1))
}
# expect STATUS OUT|ERR WORDS ARGUMENT...: expects this exit status, and these words in that output
expect() {
    status=$1 where=$2 words=$3
    shift 3
    "$program" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    got=$?
    [ "$got" = "$status" ] || fail "gpt2 $*: status $got, not $status"
    [ "$where" = OUT ] && said=$folder/out || said=$folder/err
    grep -aqF -e "$words" "$said" || fail "gpt2 $*: does not say '$words'"
}
# dialogue LINES WORDS [ARGUMENT...]: the same for a dialogue whose lines come from the input
dialogue() {
    lines=$1 words=$2
    shift 2
    [ $# -gt 0 ] || set -- --model "$files/tiny.gguf" --interactive
    printf '%b' "$lines" | "$program" "$@" --temperature 0 \
        >"$folder/out" 2>"$folder/err" || fail "a dialogue ended with status $?"
    cat "$folder/err" >>"$folder/out"
    grep -aqF -e "$words" "$folder/out" || fail "dialogue $lines: does not say '$words'"
}

expect 0 OUT "--perplexity FILE" --help
expect 2 ERR "gpt2: '--quick' is not a flag" --quick
expect 2 ERR "gpt2: --fast and --floats need --backend cuda" --model x --prompt a --fast
expect 2 ERR "gpt2 --help lists all flags" --model x
expect 1 ERR "gpt2: $folder/none.gguf cannot be opened: No such file" --model "$folder/none.gguf" --prompt a
head -c 20000 "$files/tiny.gguf" >"$folder/cut.gguf"
expect 1 ERR "$folder/cut.gguf, byte" --model "$folder/cut.gguf" --prompt a
expect 2 ERR "--threads is 100000, but must be a whole number from 1 to 1024" --model x --prompt a --threads 100000
mkfifo "$folder/pipe"
for odd in "$folder:a directory" "$folder/pipe:a pipe" "/dev/zero:a device"; do
    expect 1 ERR "${odd%:*} is ${odd#*:}, but must be a plain file" --model "${odd%:*}" --prompt a
done
if [ "$tokenizer" = no ]; then
    expect 1 ERR "libpcre2-dev" --model "$files/tiny.gguf" --prompt a
    [ "$failures" = 0 ]
    exit
fi

# The NumPy model's continuation of "z": reference.py --greedy z.
for model in tiny:7ac46c656c6520664365656f753a3ad5d5d5d59fe10a tiny_head:7aa66c6c6c6f6d6f6d8a098097886ecf20616e97520a; do
    expect 0 ERR "2 layers, 32 channels, 300 tokens, context 24" --model "$files/${model%:*}.gguf" \
        --prompt z -n 16 --temperature 0
    [ "$(od -An -v -tx1 "$folder/out" | tr -d ' \n')" = "${model#*:}" ] || fail "$model: other text"
done
# The same seed gives the same text, another seed another text.
for seed in 5 5 6; do
    "$program" --model "$files/tiny.gguf" --prompt z --seed $seed >"$folder/seed.$seed.new" 2>/dev/null
    [ ! -e "$folder/seed.$seed" ] || cmp -s "$folder/seed.$seed" "$folder/seed.$seed.new" ||
        fail "seed $seed gave two texts"
    mv "$folder/seed.$seed.new" "$folder/seed.$seed"
done
! cmp -s "$folder/seed.5" "$folder/seed.6" || fail "seeds 5 and 6 gave the same text"

tiny=(--model "$files/tiny.gguf")
expect 0 ERR ", 0.1 MB" "${tiny[@]}" --prompt z -n 1
expect 0 ERR ", 0.2 MB" --model "$files/tiny_head.gguf" --prompt z -n 1
expect 1 ERR "a prompt of 5 tokens and 21 more do not fit: the context ends at 24" "${tiny[@]}" --prompt zzzzz -n 21
expect 1 ERR "a prompt of 25 tokens" "${tiny[@]}" --prompt zzzzzzzzzzzzzzzzzzzzzzzzz
expect 0 ERR "the engine itself" "${tiny[@]}" --prompt z --stats
expect 0 ERR "cpu, 1 thread" "${tiny[@]}" --prompt z --stats --threads 1
# If the system cannot start more threads, that is reported, started ones end, and nothing aborts.
limited() { (ulimit -v 4000000 && exec "$program" "$@") >"$folder/out" 2>"$folder/err" </dev/null; }
if limited --help; then  # a sanitizer needs more than that
    limited "${tiny[@]}" --prompt z --stats --threads 1024
    [ $? = 1 ] || fail "too many threads do not end it with status 1"
    grep -Eq "of 1024 threads only [0-9]+ could be started" "$folder/err" || fail "too many threads are not told"
fi
expect 0 OUT "differ by at most 0.0001 of the largest" "${tiny[@]}" --prompt "the z" --compare
printf 'the end of the thing and then some more of the same, and all that' >"$folder/text"
expect 0 OUT "over 28 tokens" "${tiny[@]}" --perplexity "$folder/text"
: >"$folder/empty"
expect 1 ERR "2 are the least" "${tiny[@]}" --perplexity "$folder/empty"
expect 1 ERR "$folder/nothing cannot be opened: No such file" "${tiny[@]}" --perplexity "$folder/nothing"
expect 1 ERR "/dev/zero is a device, but must be a plain file" "${tiny[@]}" --perplexity /dev/zero
expect 1 ERR "$folder is a directory, but must be a plain file" "${tiny[@]}" --perplexity "$folder"
truncate -s 3G "$folder/sparse"
expect 1 ERR "$folder/sparse has 3221225472 bytes or more; at most 1073741824" "${tiny[@]}" --perplexity "$folder/sparse"

expect 1 ERR "the context ends at 5" "${tiny[@]}" --context 5 --prompt zzzzz -n 2
expect 0 OUT "z" "${tiny[@]}" --context 5 --prompt zzzz -n 2
expect 1 ERR "a text of 25 tokens; this model takes 1 to 24" "${tiny[@]}" --context 25 --prompt z

# The Llama family: the text that transformers writes (llama/tests/reference.py --greedy z).
llama=(--model "$files/../../llama/tests/llama.gguf")
expect 0 ERR "llama, 2 layers, 32 channels, 300 tokens, context 64" "${llama[@]}" --prompt z -n 12 --temperature 0
[ "$(od -An -v -tx1 "$folder/out" | tr -d ' \n')" = 7a696f6e767676f4766572f2a655cf550a ] || fail "llama: other text"
expect 0 OUT "differ by at most 0.0001 of the largest" "${llama[@]}" --prompt "the z" --compare
expect 0 OUT "over 29 tokens" "${llama[@]}" --perplexity "$folder/text"
expect 0 OUT "differ by at most 0.0001 of the largest" "${llama[@]}" --backend cuda --prompt "the z" --compare
expect 0 ERR ", prompts in BF16" "${llama[@]}" --backend cuda --fast --prompt "the z" -n 2 --stats

# A prompt is printed once it is known to fit.
long_prompt=$(printf 'z%.0s' $(seq 100000))
expect 1 ERR "a prompt of 100000 tokens and 1 more do not fit" "${tiny[@]}" --prompt "$long_prompt"
[ ! -s "$folder/out" ] || fail "a prompt that does not fit is printed"
[ "$(wc -c <"$folder/err")" -lt 400 ] || fail "a long prompt is repeated to the user"
# A line that never ends.
timeout 60 "$program" "${tiny[@]}" --interactive </dev/zero >"$folder/out" 2>"$folder/err"
[ $? = 1 ] || fail "an endless line does not end the dialogue"
grep -q "a line of the input has more than 1048576 bytes" "$folder/err" || fail "an endless line is not told"

expect 0 ERR ", prompts in BF16" "${tiny[@]}" --backend cuda --fast --prompt "the z" -n 2 --stats
expect 0 OUT "over 28 tokens" "${tiny[@]}" --backend cuda --fast --perplexity "$folder/text"
expect 1 OUT "Without it, a difference is a bug." "${tiny[@]}" --backend cuda --fast --prompt "the z" --compare

# Without a usable GPU, --backend cuda is the emulator; the second run hides any GPU.
expect 0 ERR "cuda, " "${tiny[@]}" --backend cuda --prompt z -n 2 --temperature 0 --stats
mv "$folder/out" "$folder/out.cuda"
expect 0 OUT "z" "${tiny[@]}" --prompt z -n 2 --temperature 0
cmp -s "$folder/out" "$folder/out.cuda" || fail "--backend cuda says something else than the CPU"
export CUDA_VISIBLE_DEVICES=
expect 0 ERR "cuda, on the emulator" "${tiny[@]}" --backend cuda --prompt z -n 2 --stats
unset CUDA_VISIBLE_DEVICES
alone=$folder/alone/gpt2
mkdir "$folder/alone" && cp "$program" "$alone"
if CUDA_VISIBLE_DEVICES='' "$alone" "${tiny[@]}" --backend cuda --prompt z -n 1 >"$folder/out" 2>"$folder/err"; then
    grep -q "no GPU answers" "$folder/err" && fail "a program that is not there was started"
else
    grep -q "alone/gpt2_emulated cannot be started: No such file" "$folder/err" ||
        fail "gpt2 alone does not name the program that it misses"
fi

dialogue ':help\n:quit\nz\n' ':stats   after each text'
dialogue 'z\n' '> '
[ "$(grep -ac "fCeeou::" "$folder/out")" = 1 ] || fail "a dialogue did not answer"
dialogue ':stats\nz\n:stats\nz\n' 'the engine itself'
[ "$(grep -ac "the engine itself" "$folder/out")" = 1 ] || fail "stats were not switched off"
dialogue ':fast\n' 'unknown command :fast; :help lists the commands'
dialogue 'zzzzzzzzzzzzzzzzzzzzzzzzz\nz\n' 'do not fit'
[ "$(grep -ac "fCeeou::" "$folder/out")" = 1 ] || fail "a rejected line ended the dialogue"

# A conversation: its turns share the context of 96 tokens, until :new.
chat=(--model "$files/golden_smollm.gguf" --chat -n 8)
expect 1 ERR "whose file has the key 'tokenizer.chat_template'" "${tiny[@]}" --chat
dialogue ':help\n' 'Each line is your turn in a conversation' "${chat[@]}"
dialogue 'What are strides?\n:fast\n' 'unknown command :fast; :help lists the commands' "${chat[@]}"
dialogue ':stats\nWhat are strides?\nAnd a view?\n' 'prompt:  25 tokens' "${chat[@]}"
head -n 2 "$folder/out" >"$folder/answers.cpu"
dialogue ':stats\nWhat are strides?\nAnd a view?\n' 'cuda, ' "${chat[@]}" --backend cuda
head -n 2 "$folder/out" | cmp -s - "$folder/answers.cpu" || fail "a conversation differs on cuda"
dialogue 'one\ntwo\nthree\nfour\nfive\n' 'does not fit: the conversation has' "${chat[@]}"
dialogue 'one\ntwo\n:new\nthree\nfour\n:new\nfive\n' '> ' "${chat[@]}"
! grep -aq "does not fit" "$folder/out" || fail ":new does not begin another conversation"
dialogue 'one\n' 'the context of 96 tokens is full; :new begins another' --model "$files/golden_smollm.gguf" --chat
long_system=$(printf 'z%.0s' $(seq 100))
dialogue 'one\n' 'does not fit: the conversation has 0' "${chat[@]}" --system "$long_system"

# Ctrl-C while it waits for a line from a pipe that stays open. A Ctrl-C that comes while
# a text is generated ends only that text, so a slow machine needs two.
mkfifo "$folder/lines"
(
    # shellcheck disable=SC2016  # the inner shell expands them
    sh -c 'echo $$ >"$0/child"; exec "$@"' "$folder" "$program" "${tiny[@]}" --interactive <"$folder/lines"
    echo $? >"$folder/status"
) >"$folder/out" 2>"$folder/err" &
exec 3>"$folder/lines"
echo z >&3
tries=0
while [ ! -s "$folder/status" ] && [ $tries -lt 100 ]; do
    [ -s "$folder/out" ] && kill -INT "$(cat "$folder/child")" 2>/dev/null
    tries=$((tries + 1))
    sleep 0.1
done
[ "$(cat "$folder/status" 2>/dev/null)" = 0 ] || fail "Ctrl-C at the prompt does not end the dialogue"
exec 3>&-
wait

status=0
"$program" "${tiny[@]}" --prompt z >/dev/full 2>"$folder/err" || status=$?
[ "$status" = 1 ] || fail "a full disk ends with status $status"
grep -q "arrived at its output" "$folder/err" || fail "a full disk is not noticed"
[ "$failures" = 0 ]

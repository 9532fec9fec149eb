# shellcheck shell=bash disable=SC2034,SC2154  # the parts share their names
# `learn gpt2 [--mine] [flags]`: a GPT-2 generates text, with --mine by the learner's own kernels.
# `learn chat --model FILE [flags]`: a conversation with a model that was made for it.
# `learn train [flags]`: trains a model.

# Exercises that the model can use, and what they compute there (day06_transformer_ops/gpt2/mine).
in_the_model=(
    "day04_argmax row_by_block choosing the next token"
    "day05_matmul shared_tile matrix products, for a prompt"
    "day05_matmul linear matrix products, for one token"
    "day06_transformer_ops add_rms_norm norms"
    "day06_transformer_ops softmax_rows attention weights, for one token"
    "day06_transformer_ops causal_row attention, for a prompt"
    "day06_transformer_ops rotate_pair positions, in a Llama"
    "day06_transformer_ops decode_q4 weights in Q4_K"
)

verb_gpt2() {
    local word mine='' flags=() named_model='' emulated=()
    for word in "$@"; do
        case $word in
            --mine) mine=yes ;;
            *) flags+=("$word") ;;
        esac
        case $word in --model | --help) named_model=yes ;; esac
    done
    if ((${#flags[@]} == 0)); then flags=(--prompt "shape 3 4 5 ->" --temperature 0); fi
    if [[ ! $named_model ]]; then
        flags+=(--model "$root/day06_transformer_ops/gpt2/strides_model/strides.gguf")
    fi
    if [[ $mine ]]; then
        by_your_kernels
        return
    fi
    need
    configure
    # A gpt2 built by nvcc executes gpt2_emulated if it needs kernels and there is no GPU.
    if built_with_nvcc && ! find_gpu; then emulated=(gpt2_emulated); fi
    build_one "the GPT-2" gpt2_command "${emulated[@]}"
    trap - INT  # Ctrl-C ends the text, and the program reports it
    "$build/bin/gpt2" "${flags[@]}"
}

verb_chat() {
    if [[ " $* " != *" --model "* && " $* " != *" --help "* ]]; then
        stop 2 "Name a model made for conversations, as a GGUF file: $learn chat --model FILE; docs/llama.md says where to get one."
    fi
    verb_gpt2 --chat "$@"
}

verb_train() {
    need
    configure
    build_one "gpt2_train" gpt2_train_command
    trap - INT  # Ctrl-C saves the run, and the program prints the flag that resumes it
    "$build/bin/gpt2_train" "$@"
}

# Prints whose kernels the model uses. Sets $passed to the exercises of $in_the_model that have
# passed, such as day06_transformer_ops/softmax_rows.
whose() {
    local day name what
    passed=()
    say "Which kernels are yours:"
    while read -r day name what; do
        if [[ -e $root/my/$day/$name.cu && $(recall "$name" result) == passed ]]; then
            passed+=("$day/$name")
            printf '  %-13s %-36s %s\n' "$name" "$what" "${green}yours${plain}"
        else
            printf '  %-13s %-36s %s\n' "$name" "$what" "ours, until $learn check ${day%%_*} $name passes"
        fi
    done < <(printf '%s\n' "${in_the_model[@]}")
}

by_your_kernels() {
    local passed list said prompt=(--prompt "shape 3 4 5 ->") at one
    whose >&2
    if ((${#passed[@]} == 0)); then
        stop 1 "" "None of your kernels has passed yet. The shortest exercise is row_by_block: $learn start day04, $learn check day04 row_by_block."
    fi
    list=$(IFS=';' && printf '%s' "${passed[*]/_*\///}")  # day06/softmax_rows
    need tests
    configure
    if [[ $(cache_value SIXDAYS_MINE) != "$list" ]]; then
        if ! said=$(cd "$root" && "$cmake" "-DSIXDAYS_MINE=$list" "$build" 2>&1); then stop 1 "$said"; fi
    fi
    # Our solutions first: any later failure is in the learner's files.
    build_one "the GPT-2 by your kernels" gpt2_mine_solutions
    lock_build
    for one in "${passed[@]}"; do
        day=${one%/*}
        compiles "${one#*/}" "my_${day%%_*}_${one#*/}_port" >&2 || exit 1
    done
    unlock_build
    build_one "the GPT-2 by your kernels" gpt2_mine
    # A kernel may have been changed since it passed.
    for at in "${!flags[@]}"; do
        if [[ ${flags[at]} == --model ]]; then prompt+=(--model "${flags[at + 1]:-}"); fi
    done
    if ! said=$(write_by_yours "${prompt[@]}" --compare 2>&1); then stop 1 "" "$said"; fi
    note "After every layer they agree with the CPU reference." ""
    write_by_yours "${flags[@]}"
}

# The program names a wrong kernel itself, unless that kernel crashed it.
write_by_yours() {
    local status=0
    "$build/bin/gpt2_mine" --backend cuda "$@" || status=$?
    if ((status == 134 || status == 139)); then  # abort, segmentation fault
        say "It crashed." "One of your kernels no longer passes: $learn check shows which one." >&2
    fi
    return "$status"
}

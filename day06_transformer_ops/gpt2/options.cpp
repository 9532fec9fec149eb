#include "day06_transformer_ops/gpt2/options.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "day06_transformer_ops/gpt2/flag_values.hpp"

namespace sixdays::gpt2 {
namespace {

using Set = std::function<void(Options&, const std::string& flag, const std::string& value)>;

const std::map<std::string, Set>& flags_with_value() {
    static const std::map<std::string, Set> flags = {
        {"--model", [](Options& o, const auto&, const auto& v) { o.model = v; }},
        {"--prompt", [](Options& o, const auto&, const auto& v) { o.prompt = v; }},
        {"-n", [](Options& o, const auto& f,
                  const auto& v) { o.n = number_within<std::int64_t>(1, kMostTokens, f, v); }},
        {"--context",
         [](Options& o, const auto& f, const auto& v) {
             o.context = number_within<std::int64_t>(1, kMostTokens, f, v);
         }},
        {"--temperature",
         [](Options& o, const auto& f, const auto& v) {
             o.sampler.temperature = number_within<float>(0, 1000, f, v);
         }},
        {"--top-k",
         [](Options& o, const auto& f, const auto& v) {
             o.sampler.top_k = number_within<std::int64_t>(0, kMostTokens, f, v);
         }},
        {"--top-p", [](Options& o, const auto& f,
                       const auto& v) { o.sampler.top_p = number_within<float>(0, 1, f, v); }},
        {"--seed",
         [](Options& o, const auto& f, const auto& v) {
             o.sampler.seed = number_within<std::uint64_t>(0, UINT64_MAX, f, v);
         }},
        {"--backend",
         [](Options& o, const auto& f, const auto& v) {
             if (v != "cpu" && v != "cuda") {
                 reject(f, " is ", gpt2::quoted(v), ", but must be cpu or cuda");
             }
             o.backend = v;
         }},
        {"--threads", [](Options& o, const auto& f,
                         const auto& v) { o.threads = number_within<int>(1, kMostThreads, f, v); }},
        {"--perplexity", [](Options& o, const auto&, const auto& v) { o.perplexity = v; }},
        {"--system", [](Options& o, const auto&, const auto& v) { o.system = v; }},
    };
    return flags;
}

// Edit distance: the letters to insert, delete or replace to turn a into b.
std::size_t letters_between(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);  // row[j]: first i letters of a, first j of b
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
            diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
        }
    }
    return row[b.size()];
}

using Switch = void (*)(Options&);

void choose_prompts(Options& options, Prompts prompts) {
    if (options.prompts != Prompts::as_weights && options.prompts != prompts) {
        reject("--fast rounds prompts and --floats does not: give one of them, or neither");
    }
    options.prompts = prompts;
}

const std::map<std::string, Switch>& switches() {
    static const std::map<std::string, Switch> all = {
        {"--interactive", [](Options& o) { o.interactive = true; }},
        {"--chat", [](Options& o) { o.chat = true; }},
        {"--stats", [](Options& o) { o.stats = true; }},
        {"--compare", [](Options& o) { o.compare = true; }},
        {"--fast", [](Options& o) { choose_prompts(o, Prompts::tensor_cores); }},
        {"--floats", [](Options& o) { choose_prompts(o, Prompts::floats); }},
        {"--help", [](Options& o) { o.help = true; }},
    };
    return all;
}

[[noreturn]] void reject_flag(const std::string& word) {
    if (word.size() > 80) reject(gpt2::quoted(word), " is not a flag");
    std::string nearest;
    std::size_t distance = 3;  // at more, it is a different word
    const auto compare = [&](const std::string& flag) {
        const std::size_t here = letters_between(word, flag);
        if (here < distance && here < flag.size() - 1) nearest = flag, distance = here;
    };
    for (const auto& [flag, set] : flags_with_value()) compare(flag);
    for (const auto& [flag, set] : switches()) compare(flag);
    reject(gpt2::quoted(word), " is not a flag",
           (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

void check(const Options& options) {
    if (options.model.empty()) reject("--model FILE is missing: a model as a GGUF file");
    if (options.compare && !options.prompt) {
        reject("--compare needs the --prompt TEXT that both backends are to read");
    }
    if (options.prompts != Prompts::as_weights && options.backend != "cuda") {
        reject("--fast and --floats need --backend cuda: they say how a GPU reads prompts");
    }
    if (options.system && !options.chat) {
        reject("--system needs --chat: it tells the model how to answer in a conversation");
    }
    const int tasks = int{options.prompt.has_value()} + int{options.interactive} +
                      int{options.chat} + int{options.perplexity.has_value()};
    if (tasks != 1) {
        reject(
            "exactly one of --prompt TEXT, --interactive, --chat and --perplexity FILE is needed");
    }
}

}  // namespace

Options parse(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& flag = arguments[i];
        if (const auto given = switches().find(flag); given != switches().end()) {
            given->second(options);
            continue;
        }
        const auto found = flags_with_value().find(flag);
        if (found == flags_with_value().end()) reject_flag(flag);
        if (++i == arguments.size()) reject(flag, " needs a value");
        found->second(options, flag, arguments[i]);
    }
    if (!options.help) check(options);
    // Rounding is off by default in a comparison: otherwise every F16 file would differ.
    if (options.compare && options.prompts == Prompts::as_weights) {
        options.prompts = Prompts::floats;
    }
    return options;
}

std::string usage() {
    return R"(gpt2: continues a text with a language model built from the operations of six days

  --model FILE        a model as a GGUF file, weights in F32, F16, BF16, Q8_0, Q4_0, Q5_0,
                      Q4_K, Q5_K or Q6_K; architectures gpt2, llama, qwen2 and qwen3
  --prompt TEXT       the beginning of the text; "" lets the model choose
  --interactive       prompts from the keyboard, one per line; type :help there
  --chat              a conversation from the keyboard, with a model made for it; type :help there
  --system TEXT       how the model is to answer in it
  --perplexity FILE   how well the model predicts a text

  -n N                tokens to generate (default: 40, or as many as fit; --chat: as many as fit)
  --context N         tokens of the prompt and the text together, up to the model's context
                      (the model's, or 4096 if that is less)
  --temperature T     below 1 favors likely tokens; 0 always takes the likeliest (1)
  --top-k K           choose among the K likeliest tokens; 0: among all (40)
  --top-p P           choose among the fewest tokens with this total probability (1)
  --seed S            the same seed gives the same text, another seed another (0)

  --backend NAME      cpu, or cuda: a GPU, or the emulator if there is none (cpu)
  --fast              process prompts on tensor cores, rounded to 16 bits; the cuda backend
                      does it by default if all matrices are F16 or BF16
  --floats            process prompts in float even then
  --threads N         threads of the cpu backend, up to 1024 (all cores)
  --stats             print the speed, and the time of each part of the model
  --compare           run the prompt with this backend and with the CPU references, and name the
                      first layer that differs; in float, unless --fast is given
  --help              print this text
)";
}

}  // namespace sixdays::gpt2

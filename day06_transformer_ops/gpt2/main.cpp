// The command line tool. Only the text goes to standard output, everything else to standard error,
// so that you can redirect the text to a file.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <functional>
#include <iostream>
#include <new>

#include "day06_transformer_ops/gpt2/chat.hpp"
#include "day06_transformer_ops/gpt2/emulated.hpp"
#include "day06_transformer_ops/gpt2/file/plain_file.hpp"
#include "day06_transformer_ops/gpt2/generate.hpp"
#include "day06_transformer_ops/gpt2/options.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"
#include "day06_transformer_ops/llama/llama_backend.hpp"
#include "day06_transformer_ops/llama/model.hpp"

namespace {

using namespace sixdays;
using namespace sixdays::gpt2;
using llama::Model;

// Ctrl-C ends the text after the current token, instead of ending the program.
std::atomic<bool> interrupted{false};

void listen_to_ctrl_c() {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = true; };
    sigaction(SIGINT, &action, nullptr);  // without SA_RESTART, so that waiting for a line ends too
}

void show_loading(const Model& model) {
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const std::size_t all = model.files.size();
    model.files.load([&](std::size_t bytes) {
        if (terminal) std::fprintf(stderr, "\rloading: %3zu %%", bytes * 100 / all);
    });
    if (terminal) std::fprintf(stderr, "\r");
    std::fprintf(stderr, "%s\n", summary(model).c_str());
}

std::unique_ptr<Backend> make_backend(const Options& options, const Model& model,
                                      std::int64_t capacity) {
    if (options.backend == "cuda") {
        return std::visit(
            [&](const auto& weights) {
                return make_cuda_backend(weights, capacity, options.prompts);
            },
            model.weights);
    }
    return std::visit(
        [&](const auto& weights) { return make_cpu_backend(weights, capacity, options.threads); },
        model.weights);
}

void print(std::string_view text) {
    std::cout << text << std::flush;
}

void show_row(const char* what, double prompt, double all_of_prompt, double token, double all) {
    const auto percent = [](double part, double whole) {
        return whole > 0 ? 100 * part / whole : 0;
    };
    std::fprintf(stderr, "%-22s %9.2f ms %5.1f %% %9.3f ms %5.1f %%\n", what, prompt * 1e3,
                 percent(prompt, all_of_prompt), token * 1e3, percent(token, all));
}

// The rows add up to the last one; time outside of all parts has its own row.
void show_stats(const std::string& backend, const Generated& made) {
    const std::int64_t passes = std::max<std::int64_t>(made.tokens - 1, 0);
    const auto speed = [](std::int64_t tokens, double seconds) {
        return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
    };
    const double token = passes > 0 ? made.seconds / static_cast<double>(passes) : 0;
    std::fprintf(stderr, "\n%s\nprompt:  %" PRId64 " tokens, %.1f tokens/s\n", backend.c_str(),
                 made.prompt, speed(made.prompt, made.prompt_seconds));
    std::fprintf(stderr, "text:    %" PRId64 " tokens, %.1f tokens/s\n\n", made.tokens,
                 speed(passes, made.seconds));
    std::fprintf(stderr, "%-22s %20s %20s\n", "", "the prompt", "a token");
    double prompt_rest = made.prompt_seconds, token_rest = token;
    for (int part = 0; part < kParts; ++part) {
        const auto i = static_cast<std::size_t>(part);
        const double of_token = passes > 0 ? made.parts[i] / static_cast<double>(passes) : 0;
        show_row(name(static_cast<Part>(part)), made.prompt_parts[i], made.prompt_seconds, of_token,
                 token);
        prompt_rest -= made.prompt_parts[i];
        token_rest -= of_token;
    }
    show_row("the engine itself", prompt_rest, made.prompt_seconds, token_rest, token);
    show_row("all", made.prompt_seconds, made.prompt_seconds, token, token);
}

// @param echo  also print the prompt, once it is known to fit
Generated go_on(const Options& options, const Model& model, Engine& engine,
                const std::string& prompt, bool measure, bool echo) {
    const auto ids = encode_beginning(model.vocabulary, prompt);
    const std::int64_t fits = most_tokens(engine.capacity(), ids);
    // If not even one token fits, the engine reports it.
    const std::int64_t n = options.n.value_or(std::clamp(fits, std::int64_t{1}, Options::kTokens));
    check_room(engine.capacity(), ids, n);
    engine.backend().set_sampler(options.sampler);
    if (echo) print(prompt);
    try {
        return generate(
            engine, model.vocabulary, ids, n, print, [] { return interrupted.load(); }, measure);
    } catch (const std::exception&) {
        if (echo) print("\n");  // the error message begins on a new line
        throw;
    }
}

constexpr const char* kHelp =
    R"(Each line is a prompt, which the model continues. After an empty line it writes any text.
  :help    print this text
  :stats   after each text, print its speed; type it again to turn this off
  :quit    quit, like Ctrl-D; Ctrl-C only ends the current text
)";
constexpr const char* kChatHelp =
    R"(Each line is your turn in a conversation, which the model answers.
  :new     begin another conversation
  :help    print this text
  :stats   after each answer, print its speed; type it again to turn this off
  :quit    quit, like Ctrl-D; Ctrl-C only ends the current answer
)";

// What an interactive command does with its lines.
struct Dialogue {
    const char* help;
    std::function<Generated(const std::string& line, bool measure)> answer;
    std::function<void()> restart;  // empty: no command :new
};

int interactive(const Dialogue& dialogue, bool stats, Engine& engine) {
    std::fputs(dialogue.help, stderr);
    std::string line;
    for (;;) {
        std::fputs("> ", stderr);
        if (!next_line(std::cin, line) || line == ":quit") return 0;
        if (line == ":help") {
            std::fputs(dialogue.help, stderr);
        } else if (line == ":stats") {
            stats = !stats;
            std::fprintf(stderr, "stats: %s\n", stats ? "on" : "off");
        } else if (line == ":new" && dialogue.restart) {
            dialogue.restart();
        } else if (line.size() > 1 && line[0] == ':') {
            std::fprintf(stderr, "unknown command %s; :help lists the commands\n",
                         line.substr(0, 80).c_str());
        } else {
            try {
                interrupted = false;
                const Generated made = dialogue.answer(line, stats);
                print("\n");
                if (stats) show_stats(engine.backend().name(), made);
            } catch (const std::invalid_argument& rejected) {
                std::fprintf(stderr, "%s\n", rejected.what());
            }
        }
    }
}

int chat(const Options& options, const Model& model, Engine& engine) {
    const ChatForm form = chat_form(model.file, model.vocabulary);
    Chat conversation(engine, model.vocabulary, form, options.system.value_or(""));
    engine.backend().set_sampler(options.sampler);
    const auto answer = [&](const std::string& line, bool measure) {
        const Generated made = conversation.answer(
            line, options.n, print, [] { return interrupted.load(); }, measure);
        if (conversation.is_full()) {
            std::fprintf(stderr, "\nthe context of %" PRId64 " tokens is full; :new begins another",
                         engine.capacity());
        }
        return made;
    };
    return interactive({kChatHelp, answer, [&] { conversation.restart(); }}, options.stats, engine);
}

int show_comparison(const Options& options, const Model& model, Engine& engine) {
    auto ids = encode_beginning(model.vocabulary, *options.prompt);
    if (ids.empty()) ids = {model.vocabulary.end_of_text()};
    const auto plain = std::visit(
        [&](const auto& weights) { return make_plain_backend(weights, engine.capacity()); },
        model.weights);
    Engine expected(model.sizes(), *plain, engine.capacity());
    const LayerDifference* first = nullptr;
    const auto layers = compare(model.sizes(), engine, expected, ids);
    std::printf("%-20s %14s %14s\n", "", "largest", "difference");
    for (const LayerDifference& layer : layers) {
        std::printf("%-20s %14.6g %14.3g\n", layer.layer.c_str(), layer.largest, layer.difference);
        if (first == nullptr && layer.beyond()) first = &layer;
    }
    const std::string both = engine.backend().name() + " and " + plain->name();
    if (first == nullptr) {
        std::printf("%s differ by at most %g of the largest value.\n", both.c_str(),
                    LayerDifference::kBound);
        return 0;
    }
    std::printf("%s differ by more than %g of the largest value, first in: %s.\n", both.c_str(),
                LayerDifference::kBound, first->layer.c_str());
    if (options.prompts == Prompts::tensor_cores && ids.size() > 1) {
        std::printf(
            "--fast rounds the prompt to 16 bits, which alone moves numbers by more than that. "
            "Without it, a difference is a bug.\n");
    }
    return 1;
}

int run(const Options& options) {
    const Model model(options.model);
    show_loading(model);
    const std::int64_t capacity =
        options.context.value_or(std::min(model.sizes().context, Options::kContext));
    const auto backend = make_backend(options, model, capacity);
    Engine engine(model.sizes(), *backend, capacity);
    if (options.compare) return show_comparison(options, model, engine);
    if (options.perplexity) {
        const auto text = encode(model.vocabulary, contents_of(*options.perplexity));
        const Perplexity found = perplexity(engine, text, model.vocabulary.begin_of_text());
        std::printf("perplexity %.4f over %" PRId64 " tokens\n", found.value, found.tokens);
        return 0;
    }
    listen_to_ctrl_c();
    if (options.chat) return chat(options, model, engine);
    if (options.interactive) {
        const auto continued = [&](const std::string& line, bool measure) {
            return go_on(options, model, engine, line, measure, false);
        };
        return interactive({kHelp, continued, {}}, options.stats, engine);
    }
    const Generated made = go_on(options, model, engine, *options.prompt, options.stats, true);
    print("\n");
    if (options.stats) show_stats(backend->name(), made);
    return interrupted ? 130 : 0;  // a shell's exit status for a program ended by Ctrl-C
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    try {
        options = parse({argv + 1, argv + argc});
    } catch (const std::invalid_argument& rejected) {
        std::fprintf(stderr, "gpt2: %s\ngpt2 --help lists all flags.\n", rejected.what());
        return 2;
    }
    try {
        if (!options.help && options.backend == "cuda") run_emulated_without_gpu(argv);
        const int status = options.help ? (print(usage()), 0) : run(options);
        if (std::cout.good() && std::fflush(stdout) == 0) return status;
        std::fprintf(stderr, "gpt2: not all of the text arrived at its output\n");
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "gpt2: this machine does not have enough memory\n");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "gpt2: %s\n", error.what());
    }
    return 1;
}

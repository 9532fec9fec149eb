// The model answers questions about shapes, and common/tensor checks the answers.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>

#include "day06_transformer_ops/gpt2/emulated.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/file/plain_file.hpp"
#include "day06_transformer_ops/gpt2/flag_values.hpp"
#include "day06_transformer_ops/gpt2/strides_model/follow.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;

namespace {

constexpr const char* kHelp = R"(A small GPT-2 answers questions about row-major shapes.

  gpt2_strides                 twelve questions, then yours, if this is a terminal
  gpt2_strides shape 3 4 5 index 1 2 3
                               one question; also shape 3 4 5, or shape 3 4 5 offset 33
  gpt2_strides --table [N]     the accuracy over N questions (100) of each kind and rank

  --follow                     follow the last token of one question through the model
  --ask                        read questions from standard input, one per line
  --model FILE                 use another file (.gguf)
  --backend cpu | cuda         where the model runs (cpu)
)";
constexpr double kPromised = 0.95;  // promised accuracy on held-out shapes

struct Options {
    std::string model = SIXDAYS_STRIDES_MODEL, backend = "cpu", question;
    std::int64_t table = 0;  // questions of each kind and rank
    bool ask = false, follow = false;
};

// Parses a question; an error message repeats its text.
Question read(const std::string& text) {
    try {
        return read_question(text);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(text + ": " + error.what());
    }
}

// Prints the line with its verdict. @return  whether it is correct
bool shown(const Question& question, const std::string& said) {
    const std::string right = answer_to(question);
    std::printf("  %-8s%s%s\n", said == right ? "ok" : "not ok", text_of(question).c_str(),
                said.c_str());
    if (said != right) std::printf("          common/tensor says%s\n", right.c_str());
    std::fflush(stdout);
    return said == right;
}

bool some_questions(Asker& ask) {
    std::printf(
        "It was never trained on a line about these shapes. common/tensor checks each.\n\n");
    std::int64_t right = 0, asked = 0;
    (void)score_held_out(ask, 1, 1, [&](const Question& question, const std::string& said) {
        right += shown(question, said);
        ++asked;
    });
    std::printf("\n%lld of %lld lines are entirely right.\n", static_cast<long long>(right),
                static_cast<long long>(asked));
    return static_cast<double>(right) >= kPromised * static_cast<double>(asked);
}

bool table(Asker& ask, std::int64_t count) {
    const auto wrong = [&](const Question& question, const std::string& said) {
        if (said != answer_to(question)) shown(question, said);
    };
    const Scores scores = score_held_out(ask, count, 1, wrong);
    std::printf(
        "Right answers in %%, %lld questions about held-out shapes in each column:\n\n"
        "  asked for    rank 1    rank 2    rank 3    rank 4       all\n",
        static_cast<long long>(count));
    bool enough = true;
    for (const Asked asked : kAsked) {
        std::printf("  %-9s", name(asked));
        double sum = 0;
        for (const Score& score : scores[static_cast<std::size_t>(asked)]) {
            const double accuracy =
                static_cast<double>(score.right) / static_cast<double>(score.asked);
            std::printf("%10.2f", 100 * accuracy);
            sum += accuracy;
        }
        std::printf("%10.2f\n", 100 * sum / kMostDims);
        enough = enough && sum >= kPromised * kMostDims;
    }
    return enough;
}

// Until an empty line or the end of input.
void your_questions(Asker& ask) {
    std::printf(
        "\nYour turn: shape 3 4 5, optionally followed by index 1 2 3 or offset 33. "
        "An empty line ends.\n");
    std::string line;
    while (std::printf("> "), std::fflush(stdout), next_line(std::cin, line) && !line.empty()) {
        try {
            const Question question = read(line);
            shown(question, ask(question));
        } catch (const std::invalid_argument& error) {
            std::printf("  %s\n", error.what());
        }
    }
}

Options read_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&] {
            if (++i == argc) throw std::invalid_argument(word + " needs a value");
            return std::string(argv[i]);
        };
        if (word == "--model") {
            options.model = value();
        } else if (word == "--backend") {
            options.backend = value();
        } else if (word == "--table") {
            options.table =
                i + 1 < argc ? number_within<std::int64_t>(1, 1'000'000, word, argv[++i]) : 100;
        } else if (word == "--ask") {
            options.ask = true;
        } else if (word == "--follow") {
            options.follow = true;
        } else if (word.rfind("--", 0) == 0) {
            throw std::invalid_argument(gpt2::quoted(word) + " is not a flag. --help lists them");
        } else {
            options.question += (options.question.empty() ? "" : " ") + word;
        }
    }
    if (options.backend != "cpu" && options.backend != "cuda") {
        throw std::invalid_argument("--backend is cpu or cuda, not " +
                                    gpt2::quoted(options.backend));
    }
    if (options.follow && options.question.empty()) {
        throw std::invalid_argument("--follow needs a question: --follow shape 3 4 5");
    }
    return options;
}

bool run(const Options& options) {
    const MappedFile mapped(options.model);
    const Gguf file(mapped.bytes(), options.model);
    if (options.follow) {
        follow_last_token(file, mapped.bytes(), read(options.question));
        return true;
    }
    Asker ask(file, [&](const ModelWeights& model, std::int64_t capacity) {
        // Its matrices are too small for a second thread to pay off.
        return options.backend == "cuda" ? make_cuda_backend(model, capacity)
                                         : make_cpu_backend(model, capacity, 1);
    });
    if (!options.question.empty()) {
        const Question question = read(options.question);
        return shown(question, ask(question));
    }
    std::printf(
        "A GPT-2 of %lld layers, %lld channels and %lld tokens, in %.1f MB (%s),\n"
        "answers the questions of Days 01 and 02.\n",
        static_cast<long long>(ask.config().layers), static_cast<long long>(ask.config().channels),
        static_cast<long long>(ask.config().vocabulary),
        static_cast<double>(mapped.bytes().size()) / 1e6, ask.device().c_str());
    if (options.table > 0) return table(ask, options.table);
    const bool enough = some_questions(ask);
    if (options.ask || (isatty(0) != 0 && isatty(1) != 0)) your_questions(ask);
    return enough;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--help") == 0) {
        std::fputs(kHelp, stdout);
        return 0;
    }
    try {
        const Options options = read_options(argc, argv);
        if (options.backend == "cuda") run_emulated_without_gpu(argv);
        return run(options) ? 0 : 1;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

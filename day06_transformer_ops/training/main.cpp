// The command line tool: a text in, a model out. All messages go to standard error, except for the
// last line.
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "common/gpu/device.hpp"
#include "common/lesson/ranges.hpp"
#include "common/tensor/sentence.hpp"
#include "day06_transformer_ops/gpt2/emulated.hpp"
#include "day06_transformer_ops/gpt2/file/memory.hpp"
#include "day06_transformer_ops/training/checkpoint.hpp"
#include "day06_transformer_ops/training/data.hpp"
#include "day06_transformer_ops/training/model/trainers.hpp"
#include "day06_transformer_ops/training/sample.hpp"
#include "day06_transformer_ops/training/signals.hpp"

namespace {

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using Clock = std::chrono::steady_clock;

// Thrown to abandon a step.
struct GivenUp {};

// "step 40 of 200   loss 2.7312   1834 tokens/s   0:12 left"; a terminal reuses one line.
void show_step(const TrainOptions& o, std::int64_t done, std::int64_t since, double loss,
               double seconds) {
    const bool terminal = isatty(STDERR_FILENO) != 0, last = done == o.steps || interrupted();
    if (!terminal && done % 10 != 0 && !last) return;
    const double each = seconds / static_cast<double>(done - since);
    const auto left = static_cast<std::int64_t>(each * static_cast<double>(o.steps - done) + 0.5);
    const double tokens = static_cast<double>(o.batch * o.accumulate * o.context) / each;
    std::fprintf(stderr,
                 "%sstep %" PRId64 " of %" PRId64 "   loss %.4f   %.0f tokens/s   %" PRId64
                 ":%02" PRId64 " left%s",
                 terminal ? "\r" : "", done, o.steps, loss, tokens, left / 60, left % 60,
                 terminal && !last ? "    " : "\n");
}

template <class Device>
void save(const TrainOptions& o, const Trainers<Device>& trainer, const Source& source,
          const std::vector<float>& losses) {
    TrainingState state = trainer.save();
    state.losses = losses;
    write_state(o, state, source.fingerprint);
    write_model(o, trainer.parameters(), state.parameters, source.vocabulary);
    write_curve(o, losses);
}

// A sample of what the model writes, on its own line.
template <class Device>
void show_sample(const TrainOptions& o, const Trainers<Device>& trainer, const Source& source) {
    const std::vector<std::byte> model = model_file(trainer.parameters(), trainer.weights(),
                                                    source.vocabulary, gpt2::WeightType::f32);
    std::fprintf(stderr, "%swrites: %s\n", isatty(STDERR_FILENO) != 0 ? "\n" : "",
                 sample_of(model, source, o.seed, static_cast<int>(o.threads)).c_str());
}

// One step: accumulates the gradients of its batches. Returns the mean of their losses.
template <class Device>
double learn(const TrainOptions& o, Batches& batches, std::int64_t step,
             Trainers<Device>& trainer) {
    const lesson::Range range(sentence("step ", step + 1));
    double loss = 0;
    for (std::int64_t a = 0; a < o.accumulate; ++a) {
        const auto parts = static_cast<float>(o.accumulate);
        const bool last = a + 1 == o.accumulate;
        loss += trainer.accumulate(batches.next(), 1 / parts, last) / double{parts};
    }
    StepOptions options;
    options.rate = rate_at(o.schedule(), step);
    options.decay = o.decay;
    const double norm = trainer.step(options);
    if (!std::isfinite(loss) || !std::isfinite(norm)) {
        throw std::runtime_error(sentence("the loss of step ", step + 1, " is ", loss,
                                          ", and its gradient's norm ", norm,
                                          ": a smaller --rate may help"));
    }
    return loss;
}

// A run that fails in the middle reports the checkpoint from which it can continue.
int failed(const TrainOptions& o, const std::exception& error, std::int64_t saved) {
    std::fprintf(stderr, "gpt2_train: %s\n", error.what());
    if (saved > 0) {
        std::fprintf(stderr,
                     "The last checkpoint is %s, of step %" PRId64
                     ": the same command with --resume continues from there.\n",
                     o.state().c_str(), saved);
    }
    // If one of several GPUs has failed, the others still wait for it, and freeing their memory
    // would wait for them.
    if (o.gpus > 1) std::_Exit(1);
    return 1;
}

// A model that does not fit in memory is reported before it is created.
template <class Device>
void check_sizes(const TrainOptions& o, const gpt2::Config& config) {
    const double bytes = training_bytes(config, o.batch / o.gpus);
    const std::string what =
        "a model of " + std::to_string(o.layers) + " layers, " + std::to_string(o.channels) +
        " channels and " + std::to_string(config.vocabulary) + " tokens that learns " +
        std::to_string(o.batch / o.gpus) + " x " + std::to_string(o.context) + " tokens at once";
    if (std::is_same_v<Device, Cpu> || gpu::is_emulated()) return gpt2::check_memory(what, bytes);
    gpt2::check_memory(what, bytes, static_cast<double>(gpu::device().memory_bytes), "this GPU");
}

// The initial state: a checkpoint, or random numbers.
template <class Device>
TrainingState begin_of(const TrainOptions& o, const Parameters& map, const Source& source) {
    TrainingState begin;
    if (!o.resume) {
        begin.parameters = map.begin(o.seed);
        begin.first.resize(begin.parameters.size());
        begin.second.resize(begin.parameters.size());
        return begin;
    }
    begin = read_state(o, map, source.fingerprint);
    if (begin.steps != o.steps) {
        std::fprintf(stderr,
                     "The run was planned for %" PRId64 " steps and now has %" PRId64
                     ": from step %" PRId64
                     " on its rates are those of the new length (next: %.3g).\n",
                     begin.steps, o.steps, begin.step + 1, rate_at(o.schedule(), begin.step));
    }
    return begin;
}

void show_end(const TrainOptions& o, std::int64_t done, const std::vector<float>& losses) {
    char loss[32] = "";  // of the last step, which may precede --resume
    if (!losses.empty()) std::snprintf(loss, sizeof loss, ", loss %.4f", double{losses.back()});
    std::printf("%" PRId64 " of %" PRId64 " steps%s; the model is %s%s\n", done, o.steps, loss,
                o.out.c_str(), done < o.steps ? "; the same command with --resume continues" : "");
}

template <class Device>
int train(const TrainOptions& o, const Source& source, NcclSum& sum) {
    typename Device::Operations operations;
    gpt2::Threads threads(o.backend == "cpu" ? static_cast<int>(o.threads) : 1);
    if constexpr (std::is_same_v<Device, Cpu>) operations.threads = &threads;
    const gpt2::Config config = o.config(source.vocabulary.size());
    check_sizes<Device>(o, config);
    Trainers<Device> trainer(config, o.batch, sum, operations);
    check_room(o, trainer.parameters());
    const TrainingState begin = begin_of<Device>(o, trainer.parameters(), source);
    trainer.load(begin);
    trainer.ask([] {
        if (step_is_given_up()) throw GivenUp();
    });
    std::fprintf(stderr, "%" PRId64 " parameters, %s, %" PRId64 " steps of %" PRId64 " tokens\n",
                 trainer.parameters().size(), source.words.c_str(), o.steps,
                 o.batch * o.accumulate * o.context);
    const Clock::time_point start = Clock::now();
    std::vector<float> losses = begin.losses;
    std::int64_t done = begin.step, saved = begin.step;
    Batches batches(source, done * o.accumulate);
    try {
        while (done < o.steps && !interrupted()) {
            const double loss = learn(o, batches, done, trainer);
            losses.push_back(static_cast<float>(loss));
            const std::chrono::duration<double> passed = Clock::now() - start;
            show_step(o, ++done, begin.step, loss, passed.count());
            // A sample may run out of memory and end the run: save the checkpoint first.
            if (done % o.save_every == 0 && done < o.steps) {
                save(o, trainer, source, losses);
                saved = done;
            }
            if (o.sample_every != 0 && done % o.sample_every == 0) show_sample(o, trainer, source);
        }
    } catch (const GivenUp&) {  // the state before this step is untouched
    } catch (const std::exception& error) {
        return failed(o, error, saved);
    }
    const int status = status_of_signal();
    if (interrupted() && done == 0) {
        std::printf("0 of %" PRId64 " steps; nothing is saved yet\n", o.steps);
        return status;
    }
    try {
        save(o, trainer, source, losses);
    } catch (const std::exception& error) {
        return failed(o, error, saved);
    }
    show_end(o, done, losses);
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    TrainOptions options;
    try {
        options = parse_training({argv + 1, argv + argc});
    } catch (const std::invalid_argument& rejected) {
        std::fprintf(stderr, "gpt2_train: %s\ngpt2_train --help lists all flags.\n",
                     rejected.what());
        return 2;
    }
    try {
        if (options.help) {
            std::fputs(training_usage().c_str(), stdout);
            return std::fflush(stdout) == 0 ? 0 : 1;
        }
        if (options.backend == "cuda") gpt2::run_emulated_without_gpu(argv);
        NcclSum sum(options.gpus);                 // rejects missing GPUs before a text is read
        const gpt2::OutputLock lock(options.out);  // before touching files of another run
        for (const std::string& file : options.files()) gpt2::check_output(file);
        reject_to_replace(options);
        const Source source = options.text.empty()
                                  ? line_source(options.strides, options.batching())
                                  : text_source(options.text, options.batching(), options.vocab);
        listen_to_signals();
        const auto run = options.backend == "cpu" ? train<Cpu>
                         : options.bf16           ? train<CudaBf16>
                                                  : train<Cuda>;
        const int status = run(options, source, sum);
        if (std::fflush(stdout) == 0) return status;
        std::fprintf(stderr, "gpt2_train: not all of its output could be written\n");
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "gpt2_train: this machine does not have enough memory\n");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "gpt2_train: %s\n", error.what());
    }
    return 1;
}

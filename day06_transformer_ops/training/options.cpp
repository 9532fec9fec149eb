#include "day06_transformer_ops/training/options.hpp"

#include <filesystem>
#include <functional>
#include <map>

#include "day06_transformer_ops/gpt2/flag_values.hpp"
#include "day06_transformer_ops/gpt2/text/bpe_trainer.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr std::int64_t kMostSteps = 100'000'000, kMostVocabulary = 1'000'000;

using Set = std::function<void(TrainOptions&, const std::string& flag, const std::string& value)>;

Set whole(std::int64_t TrainOptions::*number, std::int64_t least, std::int64_t most) {
    return [=](TrainOptions& o, const std::string& flag, const std::string& value) {
        o.*number = gpt2::number_within<std::int64_t>(least, most, flag, value);
    };
}
Set words(std::string TrainOptions::*text) {
    return [=](TrainOptions& o, const std::string&, const std::string& value) { o.*text = value; };
}

const std::map<std::string, Set>& flags() {
    using O = TrainOptions;
    static const std::map<std::string, Set> all = {
        {"--text", words(&O::text)},
        {"--out", words(&O::out)},
        {"--backend",
         [](O& o, const auto& f, const auto& v) {
             if (v != "cpu" && v != "cuda") {
                 reject(f, " is ", gpt2::quoted(v), ", but must be cpu or cuda");
             }
             o.backend = v;
         }},
        {"--vocab",
         [](O& o, const auto& f, const auto& v) {
             const std::string wanted =
                 "bytes, or the number of tokens to learn, from 257 (256 bytes and the end of "
                 "text) to " +
                 std::to_string(kMostVocabulary);
             o.vocab = v == "bytes" ? 0 : gpt2::number<std::int64_t>(f, v, wanted);
             if (v != "bytes" && (o.vocab < gpt2::kLeastVocabulary || o.vocab > kMostVocabulary)) {
                 reject(f, " is ", o.vocab, ", but must be ", wanted);
             }
         }},
        {"--weights",
         [](O& o, const auto& f, const auto& v) {
             if (v != "f32" && v != "q8_0") {
                 reject(f, " is ", gpt2::quoted(v), ", but must be f32 or q8_0");
             }
             o.weights = v == "f32" ? gpt2::WeightType::f32 : gpt2::WeightType::q8_0;
         }},
        {"--strides", whole(&O::strides, 1, gpt2::kMostDims)},
        {"--layers", whole(&O::layers, 1, 10'000)},
        {"--channels", whole(&O::channels, 1, 65'536)},
        {"--heads", whole(&O::heads, 1, 65'536)},
        {"--context", whole(&O::context, 1, 1 << 20)},
        {"--batch", whole(&O::batch, 1, 65'536)},
        {"--accumulate", whole(&O::accumulate, 1, 65'536)},
        {"--steps", whole(&O::steps, 1, kMostSteps)},
        {"--warm-up", whole(&O::warm_up, 0, kMostSteps)},
        {"--save-every", whole(&O::save_every, 1, kMostSteps)},
        {"--sample-every", whole(&O::sample_every, 1, kMostSteps)},
        {"--threads", whole(&O::threads, 0, gpt2::kMostThreads)},
        {"--gpus", whole(&O::gpus, 1, 1024)},
        {"--seed",
         [](O& o, const auto& f, const auto& v) {
             o.seed = gpt2::number_within<std::uint64_t>(0, UINT64_MAX, f, v);
         }},
        {"--rate",
         [](O& o, const auto& f, const auto& v) {
             constexpr const char* kWanted = "a number above 0 and at most 1";
             o.rate = gpt2::number<double>(f, v, kWanted);
             if (!(o.rate > 0 && o.rate <= 1)) {
                 reject(f, " is ", gpt2::digits_of(o.rate), ", but must be ", kWanted);
             }
         }},
        {"--decay", [](O& o, const auto& f,
                       const auto& v) { o.decay = gpt2::number_within<float>(0, 1, f, v); }},
    };
    return all;
}

const std::map<std::string, bool TrainOptions::*>& switches() {
    using O = TrainOptions;
    static const std::map<std::string, bool O::*> all = {{"--resume", &O::resume},
                                                         {"--restart", &O::restart},
                                                         {"--bf16", &O::bf16},
                                                         {"--help", &O::help}};
    return all;
}

// Rejects a text that the run's own files would overwrite. Two paths may name one file, through a
// link or a ./ in them; a path where no file exists yet is safe.
void reject_to_write_over_the_text(const TrainOptions& o) {
    for (const std::string& file : o.files()) {
        for (const std::string& written : {file, file + ".new", o.out + ".lock"}) {
            std::error_code nothing_there;
            if (std::filesystem::equivalent(o.text, written, nothing_there)) {
                reject("--out ", o.out, " would write ", written,
                       " over the text that it learns, --text ", o.text);
            }
        }
    }
}

}  // namespace

gpt2::Config TrainOptions::config(std::int64_t vocabulary) const {
    return {layers, context, channels, heads, 4 * channels, vocabulary, 1e-5f};
}

TrainOptions parse_training(const std::vector<std::string>& arguments) {
    TrainOptions o;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& flag = arguments[i];
        if (const auto found = switches().find(flag); found != switches().end()) {
            o.*found->second = true;
            continue;
        }
        const auto found = flags().find(flag);
        if (found == flags().end()) reject(gpt2::quoted(flag), " is not a flag");
        if (++i == arguments.size()) reject(flag, " needs a value");
        found->second(o, flag, arguments[i]);
    }
    if (o.help) return o;
    if (o.text.empty() == (o.strides == 0)) {
        reject(o.text.empty() ? "--text FILE is missing: the text that the model learns"
                              : "--text and --strides: a model learns one of them");
    }
    if (o.out.empty()) reject("--out FILE is missing: where the model is written");
    if (o.resume && o.restart) {
        reject("--resume continues a run and --restart replaces it: give one of them, or neither");
    }
    if (o.channels % o.heads != 0) {
        reject("--heads is ", o.heads, ", which does not divide the ", o.channels,
               " of --channels equally");
    }
    if (o.bf16 && o.backend == "cpu") {
        reject("--bf16 needs --backend cuda: bf16 products run on a GPU's tensor cores");
    }
    if (const std::int64_t D = o.channels / o.heads; o.bf16 && (D % 8 != 0 || D > 128)) {
        reject("--bf16 takes eight numbers at a time, and 128 at most, but a head has ", D,
               ": --channels divided by --heads must be a multiple of 8, up to 128");
    }
    if (o.gpus > 1 && o.backend == "cpu") {
        reject("--gpus is ", o.gpus, ", but --backend is cpu; must be cuda");
    }
    if (o.batch % o.gpus != 0) {
        reject("--gpus is ", o.gpus, ", which does not divide the ", o.batch,
               " of --batch equally");
    }
    if (o.strides != 0 && o.vocab != 0) {
        reject("--vocab is for --text; --strides has its own vocabulary");
    }
    if (o.weights == gpt2::WeightType::q8_0 && o.channels % gpt2::kQ8Block != 0) {
        reject("--weights q8_0 stores rows in blocks of 32, which do not divide the ", o.channels,
               " of --channels equally");
    }
    reject_to_write_over_the_text(o);
    return o;
}

std::string training_usage() {
    return R"(gpt2_train: trains a GPT-2 built from the operations of six days

  --text FILE        the training text: any text, or any bytes
  --vocab V          its tokens: bytes, or their number, 257 or more, learned from the
                     text by merging the most frequent pair again and again (bytes)
  --strides N        instead of a text: questions about shapes of up to N dimensions
  --out FILE         the model, a GGUF file that gpt2 reads; its loss curve is FILE.svg
  --weights W        how matrices are stored: f32, or q8_0 (about a quarter) (f32)
  --resume           continue from FILE.state, which the same run has saved
  --restart          start over and replace the existing run

  --layers N         2        --channels N   64       elements per token
  --heads N          4        --context N    64       tokens that the model sees at once
  --batch N          8        sequences per batch
  --accumulate N     1        batches whose gradients are added up for one step
  --steps N          200      steps of the whole run, those before --resume included; a larger
                     number continues a finished run, with the learning rates of the longer run
  --warm-up N        20       steps in which the learning rate rises; then it falls along a cosine
  --rate R           0.003    the largest learning rate
  --decay D          0.1      weight decay of matrices
  --save-every N     100      steps between checkpoints
  --sample-every N            steps between samples of what the model writes (none)
  --seed N           0        the same seed gives the same model, bit for bit
  --backend B        cpu, or cuda: a GPU, or the emulator (slow) if there is none (cpu)
  --bf16             with the cuda backend: products on tensor cores, operands rounded to
                     16 bits; master weights and sums stay float; last digits differ
  --threads N        CPU threads (all cores); the bits do not depend on their number
  --gpus N           1        GPUs that share each batch (data parallel); last digits differ

Ctrl-C ends the run after the current step and saves it; so do SIGTERM and SIGHUP. A second
Ctrl-C abandons that step and saves the state before it; a third one ends the program.
)";
}

}  // namespace sixdays::day06_transformer_ops

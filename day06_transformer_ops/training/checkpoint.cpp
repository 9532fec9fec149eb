#include "day06_transformer_ops/training/checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/flag_values.hpp"
#include "day06_transformer_ops/gpt2/weights/quantise.hpp"
#include "day06_transformer_ops/training/loss_curve.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using gpt2::GgufWriter;

// innermost dimension first, as in the format
void put_tensor(GgufWriter& file, const std::string& name, const Shape& shape, const float* numbers,
                gpt2::WeightType type = gpt2::WeightType::f32) {
    std::vector<std::uint64_t> dims;
    for (int d = shape.rank; d-- > 0;) dims.push_back(static_cast<std::uint64_t>(shape[d]));
    gpt2::Bytes bytes(static_cast<std::size_t>(gpt2::bytes_of(type, shape)));
    if (type == gpt2::WeightType::q8_0) {
        const Shape blocks = {shape[0], shape[1] / gpt2::kQ8Block};
        gpt2::quantise_q8_0_cpu({numbers, shape},
                                {reinterpret_cast<gpt2::Q8Block*>(bytes.data()), blocks});
    } else {
        std::memcpy(bytes.data(), numbers, bytes.size());
    }
    file.tensor(name, dims, type, bytes);
}

std::uint32_t u32(std::int64_t number) {
    return static_cast<std::uint32_t>(number);
}

// The options that must not change on --resume, as the user typed them. (Another --backend or
// --gpus changes the last digits. Another --steps changes the schedule from here on.)
struct Asked {
    const char* key;
    const char* flag;
    std::string value;
};
std::vector<Asked> asked_of(const TrainOptions& o, std::uint64_t text) {
    return {{"run.layers", "--layers", gpt2::digits_of(o.layers)},
            {"run.channels", "--channels", gpt2::digits_of(o.channels)},
            {"run.heads", "--heads", gpt2::digits_of(o.heads)},
            {"run.context", "--context", gpt2::digits_of(o.context)},
            {"run.batch", "--batch", gpt2::digits_of(o.batch)},
            {"run.accumulate", "--accumulate", gpt2::digits_of(o.accumulate)},
            {"run.warm_up", "--warm-up", gpt2::digits_of(o.warm_up)},
            {"run.vocab", "--vocab", o.vocab == 0 ? "bytes" : gpt2::digits_of(o.vocab)},
            {"run.bf16", "--bf16", o.bf16 ? "on" : "off"},
            {"run.seed", "--seed", gpt2::digits_of(o.seed)},
            {"run.rate", "--rate", gpt2::digits_of(o.rate)},
            {"run.decay", "--decay", gpt2::digits_of(o.decay)},
            {"run.text", "text's checksum", gpt2::digits_of(text)}};
}

// The progress recorded in the file, which may not be a state file.
std::string what_is_in(const std::string& state) {
    try {
        const gpt2::MappedFile mapped(state);
        const gpt2::Gguf file(mapped.bytes(), state);
        const std::int64_t step = file.integer("run.step", 0, INT64_MAX),
                           steps = file.integer("run.steps", 0, INT64_MAX);
        return " holds a run that has done " + std::to_string(step) + " of " +
               std::to_string(steps) + " steps: --resume continues it" +
               (step < steps ? "" : ", up to a larger --steps");
    } catch (const std::invalid_argument&) {
        return " already exists, but holds no run of this version of gpt2_train";
    }
}

std::int64_t size_of(const std::string& path) {
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    return none ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace

void reject_to_replace(const TrainOptions& options) {
    if (options.resume || options.restart) return;
    constexpr const char* kRestart = "; --restart starts over and replaces it";
    std::error_code none;
    if (std::filesystem::exists(options.state(), none)) {
        reject(options.state() + what_is_in(options.state()) + kRestart);
    }
    if (std::filesystem::exists(options.out, none)) {
        reject(options.out, " already exists, but the state of its run is missing, which is ",
               options.state(), kRestart);
    }
}

// While a file is being written, the one that it replaces still exists: first the state's, then
// the model's.
std::int64_t room_of(const TrainOptions& options, const Parameters& map) {
    constexpr std::int64_t kRest = 1 << 16;  // roughly: keys and names, and a disk block
    const std::int64_t state = 3 * 4 * map.size() + 4 * options.steps + kRest;
    const std::int64_t model = 4 * map.size() + 24 * map.config().vocabulary + kRest;
    return std::max(state, state - size_of(options.state()) + model);
}

void check_room(const TrainOptions& options, const Parameters& map) {
    gpt2::check_output(options.state(), room_of(options, map));
}

std::vector<std::byte> model_file(const Parameters& map, const std::vector<float>& parameters,
                                  const gpt2::NewVocabulary& vocabulary, gpt2::WeightType type) {
    const gpt2::Config& c = map.config();
    GgufWriter file;
    file.text("general.architecture", "gpt2");
    file.text("general.name", "trained by six days' operations");
    file.value("gpt2.block_count", u32(c.layers));
    file.value("gpt2.context_length", u32(c.context));
    file.value("gpt2.embedding_length", u32(c.channels));
    file.value("gpt2.feed_forward_length", u32(c.hidden));
    file.value("gpt2.attention.head_count", u32(c.heads));
    file.value("gpt2.attention.layer_norm_epsilon", c.epsilon);
    gpt2::write_vocabulary(file, vocabulary);
    for (const Parameter& p : map.all()) {
        put_tensor(file, p.name, p.shape, parameters.data() + p.first,
                   p.shape.rank == 2 ? type : gpt2::WeightType::f32);
    }
    file.checksums();
    return file.bytes();
}

void write_model(const TrainOptions& options, const Parameters& map,
                 const std::vector<float>& parameters, const gpt2::NewVocabulary& vocabulary) {
    write_whole(options.out, model_file(map, parameters, vocabulary, options.weights));
}

void write_curve(const TrainOptions& options, const std::vector<float>& losses) {
    const std::string svg = loss_curve(losses);
    const auto* const bytes = reinterpret_cast<const std::byte*>(svg.data());
    write_whole(options.out + ".svg", {bytes, bytes + svg.size()});
}

std::vector<std::byte> state_file(const TrainOptions& options, const TrainingState& state,
                                  std::uint64_t text) {
    GgufWriter file;
    file.text("general.architecture", "training");
    for (const Asked& asked : asked_of(options, text)) file.text(asked.key, asked.value);
    file.value("run.steps", options.steps);
    file.value("run.step", state.step);
    const Shape all = {static_cast<std::int64_t>(state.parameters.size())};
    put_tensor(file, "parameters", all, state.parameters.data());
    put_tensor(file, "first", all, state.first.data());
    put_tensor(file, "second", all, state.second.data());
    const Shape steps = {static_cast<std::int64_t>(state.losses.size())};
    put_tensor(file, "losses", steps, state.losses.data());
    file.checksums();
    return file.bytes();
}

void write_state(const TrainOptions& options, const TrainingState& state, std::uint64_t text) {
    write_whole(options.state(), state_file(options, state, text));
}

TrainingState read_state(const TrainOptions& options, const Parameters& map, std::uint64_t text) {
    const gpt2::MappedFile mapped(options.state());
    return state_of(mapped.bytes(), options, map, text);
}

TrainingState state_of(std::span<const std::byte> bytes, const TrainOptions& options,
                       const Parameters& map, std::uint64_t text) {
    const gpt2::Gguf file(bytes, options.state());
    const auto of_another_version = [&](std::string_view key) {
        reject(
            "--resume: ", options.state(), " has no ", key,
            ", so another version of gpt2_train wrote it; --restart starts over and replaces it");
    };
    if (!file.has_checksums()) of_another_version(gpt2::kFileChecksum);
    file.check_checksums();
    for (const Asked& asked : asked_of(options, text)) {
        if (!file.has(asked.key)) of_another_version(asked.key);
        const std::string_view there = file.text(asked.key);
        if (there != asked.value) {
            reject("--resume: ", options.state(), " is of a run whose ", asked.flag, " was ", there,
                   ", but this one has ", asked.value, "; a run goes on as it began");
        }
    }
    TrainingState state;
    state.step = file.integer("run.step", 0, INT64_MAX);
    state.steps = file.integer("run.steps", 0, INT64_MAX);
    if (state.step > options.steps) {
        reject("--resume: ", options.state(), " is of a run that has done ", state.step,
               " steps, but --steps is ", options.steps, "; it must be as many or more");
    }
    const auto read = [&](const char* name, std::int64_t size, std::vector<float>& run) {
        const gpt2::FileTensor& tensor = file.tensor(name);
        if (tensor.weight.shape != Shape{size}) {
            file.reject(tensor.at, std::string(name) + " has shape " +
                                       to_string(tensor.weight.shape) + ", but the model has " +
                                       std::to_string(size) + " numbers");
        }
        const View<const float> all = tensor.weight.as_f32();
        run.assign(all.data, all.data + all.size());
    };
    read("parameters", map.size(), state.parameters);
    read("first", map.size(), state.first);
    read("second", map.size(), state.second);
    read("losses", state.step, state.losses);
    return state;
}

}  // namespace sixdays::day06_transformer_ops

#include "day06_transformer_ops/training/checkpoint.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/weights/quantise.hpp"
#include "day06_transformer_ops/training/loss_curve.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

using gpt2::GgufWriter;

// innermost first, as the format has dims
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

// What must be the same for a run to go on. (Another --backend or --gpus: with other last digits.)
struct Asked {
    const char* key;
    std::int64_t number;
};
std::vector<Asked> asked_of(const TrainOptions& o, std::uint64_t text) {
    return {{"run.layers", o.layers},
            {"run.channels", o.channels},
            {"run.heads", o.heads},
            {"run.context", o.context},
            {"run.batch", o.batch},
            {"run.accumulate", o.accumulate},
            {"run.steps", o.steps},
            {"run.warm_up", o.warm_up},
            {"run.vocab", o.vocab},
            {"run.bf16", o.bf16},
            {"run.seed", static_cast<std::int64_t>(o.seed >> 1)},
            {"run.seed_parity", static_cast<std::int64_t>(o.seed & 1)},
            {"run.rate_in_millionths", static_cast<std::int64_t>(o.rate * 1e6 + 0.5)},
            {"run.decay_in_millionths", static_cast<std::int64_t>(double{o.decay} * 1e6 + 0.5)},
            {"run.text", static_cast<std::int64_t>(text >> 1)}};
}

// Closes what it opened, and removes what was left half written.
class NewFile {
public:
    explicit NewFile(const std::string& path) : path_(path) {
        file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (file_ < 0) fail();
    }
    ~NewFile() {
        if (file_ < 0) return;
        close(file_);
        unlink(path_.c_str());
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void write_all(const std::byte* bytes, std::size_t count) {
        while (count > 0) {
            const ssize_t written = write(file_, bytes, count);
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail();
            bytes += written;
            count -= static_cast<std::size_t>(written);
        }
    }
    void put_in_place(const std::string& place) {
        if (fsync(file_) != 0 || std::rename(path_.c_str(), place.c_str()) != 0) fail();
        close(file_);
        file_ = -1;
    }

private:
    [[noreturn]] void fail() const {
        throw std::runtime_error(path_ + " cannot be written: " + std::strerror(errno));
    }
    std::string path_;
    int file_ = -1;
};

}  // namespace

void write_whole(const std::string& path, const std::vector<std::byte>& bytes) {
    NewFile file(path + ".new");
    file.write_all(bytes.data(), bytes.size());
    file.put_in_place(path);
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

void write_state(const TrainOptions& options, const TrainingState& state, std::uint64_t text) {
    GgufWriter file;
    file.text("general.architecture", "training");
    for (const Asked& asked : asked_of(options, text)) file.value(asked.key, asked.number);
    file.value("run.step", state.step);
    const Shape all = {static_cast<std::int64_t>(state.parameters.size())};
    put_tensor(file, "parameters", all, state.parameters.data());
    put_tensor(file, "first", all, state.first.data());
    put_tensor(file, "second", all, state.second.data());
    if (!state.losses.empty()) {
        const Shape steps = {static_cast<std::int64_t>(state.losses.size())};
        put_tensor(file, "losses", steps, state.losses.data());
    }
    write_whole(options.state(), file.bytes());
}

TrainingState read_state(const TrainOptions& options, const Parameters& map, std::uint64_t text) {
    const gpt2::MappedFile mapped(options.state());
    const gpt2::Gguf file(mapped.bytes(), options.state());
    for (const Asked& asked : asked_of(options, text)) {
        if (!file.has(asked.key)) {
            refuse("--resume: " + options.state() + " has no " + asked.key +
                   ", so it is no state of this version of gpt2_train; begin anew, without "
                   "--resume");
        }
        const std::int64_t there = file.integer(asked.key, 0, INT64_MAX);
        if (there != asked.number) {
            refuse("--resume: " + options.state() + " is of a run whose " +
                   std::string(asked.key).substr(4) + " was " + std::to_string(there) +
                   ", but this one has " + std::to_string(asked.number) +
                   "; a run goes on as it began");
        }
    }
    TrainingState state;
    state.step = file.integer("run.step", 0, options.steps);
    const auto read = [&](const char* name, std::int64_t size, std::vector<float>& run) {
        const gpt2::FileTensor& tensor = file.tensor(name);
        if (tensor.weight.shape != Shape{size}) {
            file.refuse(tensor.at, std::string(name) + " has shape " +
                                       to_string(tensor.weight.shape) + ", but the model has " +
                                       std::to_string(size) + " numbers");
        }
        const View<const float> all = tensor.weight.as_f32();
        run.assign(all.data, all.data + all.size());
    };
    read("parameters", map.size(), state.parameters);
    read("first", map.size(), state.first);
    read("second", map.size(), state.second);
    if (state.step > 0) read("losses", state.step, state.losses);
    return state;
}

}  // namespace sixdays::day06_transformer_ops

// Backends under test, and inputs for them.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "day06_transformer_ops/gpt2/engine.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/random_model.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

namespace sixdays::gpt2::tests {

/// A GPT-2 in a file of tests.
struct Opened {
    MappedFile mapped;
    Gguf file{mapped.bytes(), "test.gguf"};
    ModelWeights weights = read_model(file);
    Vocabulary vocabulary{file};
};

/// A backend of this name for a model: "plain", "cuda", "cpu" with 2 threads, "cpu 1", "cpu 3", ...
std::unique_ptr<Backend> make(const std::string& name, const ModelWeights& model,
                              std::int64_t capacity);

/// Seeded token ids (count).
Tensor<std::int64_t> random_ids(const Sizes& sizes, std::int64_t count, std::uint64_t seed);

/// Logits of all ids (T, V), in one pass.
Tensor<float> logits_of(Engine& engine, View<const std::int64_t> ids);

/// How far two correct backends may differ, relative to the largest number. A sum of K products
/// rounds K times, each by about 2^-24 / sqrt(3) of its current value. As a random walk from 0 to
/// S, that adds up to 2^-24 S sqrt(K / 6). Errors of consecutive sums add up as squares; there are
/// two backends; six standard deviations are never reached.
double rounding(const Sizes& config);

/// Reads a prompt of seeded tokens with both backends, then writes `more` tokens one by one: the
/// tokens must be equal, and logits differ by at most `rounding` of the largest.
void check_tokens(const Sizes& sizes, Backend& plain, Backend& cuda, std::int64_t prompt,
                  std::int64_t more, double rounding);

/// The largest magnitude of an element.
double largest(View<const float> x);

/// Chooses the tokens of a script, whatever its input. `read` are the tokens that it has processed.
class Script final : public Backend {
public:
    explicit Script(std::vector<std::int64_t> tokens) : script(std::move(tokens)) {}
    std::vector<std::int64_t> script, read;
    bool fails = false;
    std::string name() const override { return "script"; }
    void begin(View<const std::int64_t> ids, std::int64_t position) override {
        read.resize(static_cast<std::size_t>(position));
        read.insert(read.end(), ids.data, ids.data + ids.size());
    }
    void advance() override { read.push_back(next_); }
    void embed() override {
        if (fails) reject("the script fails");
    }
    void query_key_value(std::int64_t) override {}
    void attend(std::int64_t) override {}
    void add_attention(std::int64_t) override {}
    void widen(std::int64_t) override {}
    void add_mlp(std::int64_t) override {}
    void head(std::int64_t, std::int64_t) override {}
    void choose() override { next_ = script.at(chosen_++); }
    void set_sampler(const SamplerOptions&) override {}
    void read_stream(View<float>) override {}
    void read_logits(View<float>) override {}
    std::int64_t token(std::int64_t) override { return next_; }
    void wait() override {
        ++waits;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    int waits = 0;

private:
    std::int64_t next_ = -1;
    std::size_t chosen_ = 0;
};

}  // namespace sixdays::gpt2::tests

// The shipped model's answers on each backend, with each type of weights.
#include <algorithm>
#include <cmath>

#include "common/gpu/device.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/strides_model/ask.hpp"
#include "day06_transformer_ops/gpt2/tests/backends.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/text/bpe.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;

namespace {

constexpr double kPromised = 0.95;

// Numbers as stored in a file; Q8_0 needs no writer, since the shipped file has that type.
Bytes stored(const Tensor<float>& numbers, WeightType type) {
    Bytes bytes;
    for (std::int64_t i = 0; i < numbers.size(); ++i) {
        const float number = numbers.data()[i];
        if (type == WeightType::f32) append(bytes, number);
        if (type == WeightType::f16) append(bytes, f16(number).bits);
        if (type == WeightType::bf16) append(bytes, bf16(number).bits);
    }
    return bytes;
}

// The same model with matrices of another type. `spoil` may modify a tensor.
Bytes rewritten(const Gguf& file, WeightType type,
                const std::function<void(std::string_view name, Tensor<float>&)>& spoil = {}) {
    GgufWriter writer;
    for (const char* const key : {"general.architecture", "tokenizer.ggml.model"}) {
        writer.text(key, file.text(key));
    }
    for (const char* const key :
         {"gpt2.block_count", "gpt2.context_length", "gpt2.embedding_length",
          "gpt2.feed_forward_length", "gpt2.attention.head_count", "tokenizer.ggml.eos_token_id"}) {
        writer.value(key, static_cast<std::uint32_t>(file.integer(key, 0, 1 << 20)));
    }
    constexpr const char* kEpsilon = "gpt2.attention.layer_norm_epsilon";
    writer.value(kEpsilon, static_cast<float>(file.real(kEpsilon)));
    for (const char* const key : {"tokenizer.ggml.tokens", "tokenizer.ggml.merges"}) {
        const auto texts = file.texts(key);
        writer.texts(key, {texts.begin(), texts.end()});
    }
    constexpr const char* kTypes = "tokenizer.ggml.token_type";
    writer.array(kTypes, file.integers(kTypes, 0, 6));
    for (const FileTensor& tensor : file.tensors()) {
        const Weight& weight = tensor.weight;
        Tensor<float> numbers(weight.shape);
        to_float_cpu(weight, numbers.view());
        if (spoil) spoil(tensor.name, numbers);
        std::vector<std::uint64_t> dims;  // innermost first
        for (int d = weight.shape.rank; d-- > 0;) {
            dims.push_back(static_cast<std::uint64_t>(weight.shape[d]));
        }
        const WeightType kind = weight.type == WeightType::f32 ? WeightType::f32 : type;
        writer.tensor(tensor.name, dims, kind, stored(numbers, kind));
    }
    return writer.bytes();
}

// The shipped file, and its bytes with another type.
struct Shipped {
    MappedFile mapped{SIXDAYS_STRIDES_MODEL};
    Gguf file{mapped.bytes(), "strides.gguf"};

    Bytes as(WeightType type) const {
        if (type != WeightType::q8_0) return rewritten(file, type);
        return {mapped.bytes().begin(), mapped.bytes().end()};
    }
};

// The mean over the ranks from `rank` on.
double accuracy_of(const Scores& scores, Asked asked, int rank = 1) {
    double sum = 0;
    for (int r = rank; r <= kMostDims; ++r) {
        const Score& score =
            scores[static_cast<std::size_t>(asked)][static_cast<std::size_t>(r - 1)];
        sum += static_cast<double>(score.right) / static_cast<double>(score.asked);
    }
    return sum / (kMostDims - rank + 1);
}

std::unique_ptr<Backend> one_thread(const ModelWeights& model, std::int64_t capacity) {
    return make_cpu_backend(model, capacity, 1);
}
std::unique_ptr<Backend> in_floats(const ModelWeights& model, std::int64_t capacity) {
    return make_cuda_backend(model, capacity);
}

}  // namespace

TEST_CASE("the shipped model is small, and in Q8_0", "[day06][small]") {
    const Shipped shipped;
    CHECK(shipped.mapped.bytes().size() >= 1000000);
    CHECK(shipped.mapped.bytes().size() <= 2100000);
    const ModelWeights model = read_model(shipped.file);
    CHECK(model.config.vocabulary <= 512);
    for (const BlockWeights& block : model.blocks) {
        for (const auto& linear : {block.qkv, block.attention_output, block.up, block.down}) {
            CHECK(linear.weight.type == WeightType::q8_0);
        }
    }
    CHECK(model.token_embedding.type == WeightType::q8_0);
}

namespace {

// Each kind as a whole, and its longest lines alone.
void check_accuracy(WeightType type, const MakeBackend& make, std::int64_t count) {
    const Bytes bytes = Shipped().as(type);
    const Gguf file(bytes, storage_of(type).name);
    REQUIRE(read_model(file).token_embedding.type == type);
    Asker ask(file, make);
    const Scores scores = score_held_out(ask, count, 1);
    for (const Asked asked : kAsked) {
        CAPTURE(storage_of(type).name, name(asked), count);
        CHECK(accuracy_of(scores, asked) >= kPromised);
        CHECK(accuracy_of(scores, asked, kMostDims) >= kPromised);
    }
}

constexpr WeightType kTypes[] = {WeightType::q8_0, WeightType::f32, WeightType::f16,
                                 WeightType::bf16};

}  // namespace

TEST_CASE("some answers of each kind are right, with each type of weights", "[day06][small]") {
    for (const WeightType type : kTypes) check_accuracy(type, one_thread, 2);
}

TEST_CASE("at least 95 % of answers about held-out shapes are right, with each type of weights",
          "[day06][full]") {
    for (const WeightType type : kTypes) check_accuracy(type, one_thread, 50);
}

TEST_CASE("CUDA: the model's answers, with each type of weights", "[day06][cuda]") {
    for (const WeightType type : kTypes) {
        if (!gpu::is_emulated()) check_accuracy(type, in_floats, 50);
        const Bytes bytes = Shipped().as(type);
        const Gguf file(bytes, storage_of(type).name);
        Asker ask(file, in_floats);  // a second per token on the emulator
        const int rank = type == WeightType::q8_0 ? 2 : 1;
        const Question question = held_out_questions(Asked::strides, rank, 1, 5)[0];
        CAPTURE(storage_of(type).name, text_of(question));
        CHECK(ask(question) == answer_to(question));
    }
}

namespace {

// exp of the mean negative log-probability of tokens 1 and later. @param logits  (T, V)
double perplexity_of(const Tensor<std::int64_t>& text, const Tensor<float>& logits) {
    double surprise = 0;
    for (std::int64_t t = 1; t < text.size(); ++t) {
        double sum = 0;
        for (std::int64_t v = 0; v < logits.shape()[1]; ++v) sum += std::exp(logits(t - 1, v));
        surprise += std::log(sum) - double{logits(t - 1, text(t))};
    }
    return std::exp(surprise / static_cast<double>(text.size() - 1));
}

}  // namespace

TEST_CASE("CUDA: prompts on tensor cores predict a line as well as floats", "[day06][cuda]") {
    const std::string line = "shape 4 4 8 index 2 0 6 -> strides 32 8 1 -> 64 + 0 + 6 -> offset 70";
    for (const WeightType type : {WeightType::q8_0, WeightType::f16}) {
        const Bytes bytes = Shipped().as(type);
        const Gguf file(bytes, storage_of(type).name);
        const ModelWeights model = read_model(file);
        const Vocabulary vocabulary(file);
        std::vector<std::int64_t> tokens;
        for (std::size_t begin = 0; begin < line.size();) {
            const std::size_t end = std::min(line.find(' ', begin + 1), line.size());
            encode_piece(vocabulary, std::string_view(line).substr(begin, end - begin), tokens);
            begin = end;
        }
        const auto T = static_cast<std::int64_t>(tokens.size());
        const Tensor<std::int64_t> text({T}, tokens);
        const auto plain = one_thread(model, T);
        const auto fast = make_cuda_backend(model, T, Prompts::tensor_cores);
        Engine floats(model.config, *plain, T), narrow(model.config, *fast, T);
        const Tensor<float> want = logits_of(floats, text.view()),
                            got = logits_of(narrow, text.view());
        double most = 0, sum = 0;
        for (std::int64_t i = 0; i < want.size(); ++i) {
            const double off = std::abs(double{want.data()[i]} - double{got.data()[i]});
            most = std::max(most, off), sum += off;
        }
        const double mean = sum / static_cast<double>(want.size()), size = largest(want.view());
        const double before = perplexity_of(text, want), after = perplexity_of(text, got);
        CAPTURE(fast->name(), size, most, mean, before, after);
        // f16 rounds eight times finer than bf16; both far more coarsely than float.
        const double bound = (type == WeightType::f16 ? 0x1p-10 : 0x1p-7) * size;
        CHECK(most < bound);
        CHECK(most > bound / 32);
        // A log-probability changes by at most twice as much as the logits.
        CHECK(std::abs(std::log(after / before)) <= 2 * most);
    }
}

TEST_CASE("a model with one matrix zeroed answers next to nothing correctly", "[day06][full]") {
    // Otherwise the cases above would accept an engine that skips a matrix.
    const char* const lost =
        GENERATE("token_embd.weight", "position_embd.weight", "blk.0.attn_qkv.weight",
                 "blk.0.ffn_up.weight", "blk.2.attn_qkv.weight", "blk.3.attn_output.weight");
    const auto spoil = [&](std::string_view name, Tensor<float>& numbers) {
        for (std::int64_t i = 0; i < numbers.size() && name == lost; ++i) numbers.data()[i] = 0;
    };
    const Bytes bytes = rewritten(Shipped().file, WeightType::f32, spoil);
    const Gguf file(bytes, lost);
    Asker ask(file, one_thread);
    const Scores scores = score_held_out(ask, 5, 1);
    CAPTURE(lost);
    CHECK(accuracy_of(scores, Asked::offset, kMostDims) < 0.5);
    CHECK(accuracy_of(scores, Asked::index, kMostDims) < 0.5);
}

TEST_CASE("the likeliest token is chosen until the text ends, or the context is full",
          "[day06][small]") {
    // Random weights: the likeliest tokens are hardly likelier than others.
    const MappedFile mapped(file_of_tests("tiny.gguf"));
    const Gguf file(mapped.bytes(), "tiny.gguf");
    const Question question = read_question("shape 5 index 3");
    const std::string said = Asker(file, one_thread)(question);

    const ModelWeights model = read_model(file);
    const Vocabulary vocabulary(file);
    const auto backend = make_plain_backend(model, model.config.context);
    Engine engine(model.config, *backend, model.config.context);
    std::vector<std::int64_t> tokens = tokens_of(vocabulary, question);
    const std::size_t asked = tokens.size();
    Tensor<float> logits({1, model.config.vocabulary});
    while (static_cast<std::int64_t>(tokens.size()) <= model.config.context) {
        engine.forget();
        engine.read({tokens.data(), {static_cast<std::int64_t>(tokens.size())}});
        backend->read_logits(logits.view());
        const float* const row = logits.data();
        const auto best = std::max_element(row, row + model.config.vocabulary) - row;
        REQUIRE(best != vocabulary.end_of_text());
        tokens.push_back(best);
    }
    tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(asked));
    CHECK(said == decode(vocabulary, tokens));
}

TEST_CASE("the plain backend gives the same answers as the fast one", "[day06][small]") {
    const Shipped shipped;
    Asker fast(shipped.file, one_thread), plain(shipped.file, make_plain_backend);
    (void)score_held_out(fast, 1, 2, [&](const Question& question, const std::string& said) {
        CHECK(plain(question) == said);
    });
}

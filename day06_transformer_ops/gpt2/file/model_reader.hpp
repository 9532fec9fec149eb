/// @file
/// How the readers of all architectures take keys and tensors from a file: by name, checked, and
/// remembering which they took, so that what is left over can be rejected.
#pragma once

#include <string>
#include <unordered_set>

#include "common/tensor/sentence.hpp"
#include "common/tensor/tensor.hpp"
#include "day06_transformer_ops/gpt2/file/gguf.hpp"
#include "day06_transformer_ops/gpt2/file/sizes.hpp"

namespace sixdays::gpt2 {

/// out = in . weightᵀ + bias, one row of the weight per output.
struct LinearWeights {
    Weight weight;       // (outputs, inputs), in the file
    Tensor<float> bias;  // (outputs), or (0): none

    /// The bias of output n; 0 without one.
    float bias_of(std::int64_t n) const noexcept { return bias.size() > 0 ? bias(n) : 0.0f; }
};

/// A parameter vector for an operation: a null pointer, which stands for none, if it is empty.
[[nodiscard]] inline View<const float> or_none(const Tensor<float>& vector) {
    return vector.size() > 0 ? vector.view() : View<const float>();
}

/// The keys of one architecture: "llama.block_count" is `size("block_count")` of llama's.
class KeyTaker {
public:
    /// The architecture is general.architecture's text. The file must outlive this object.
    /// @throws std::invalid_argument  no such key
    explicit KeyTaker(const Gguf& file)
        : file_(file), prefix_(std::string(file.text("general.architecture")) + ".") {}

    /// The key's full name.
    std::string full(const std::string& name) const { return prefix_ + name; }
    /// Does the file have this key?
    bool has(const std::string& name) const { return file_.has(full(name)); }

    /// A size from 1 to 2^24, above which a file is damaged; products of two fit in 63 bits.
    /// @throws std::invalid_argument  no such key, not an integer, or another number
    std::int64_t size(const std::string& name);
    /// The same from `least` on, or `absent` if there is no such key.
    std::int64_t size(const std::string& name, std::int64_t absent, std::int64_t least = 1);
    /// A number that is finite and above 0.
    /// @throws std::invalid_argument  no such key, not a float32 or float64, or another number
    double positive(const std::string& name);
    /// The same, or `absent` if there is no such key.
    double positive(const std::string& name, double absent);
    /// A text, or `absent` if there is no such key.
    /// @throws std::invalid_argument  another type
    std::string text(const std::string& name, const std::string& absent);

    /// Accepts a key that has this value, or that is absent.
    /// @param value  as Gguf::shown() has it
    /// @throws std::invalid_argument  another value; `why` ends the message
    void allow(const std::string& name, const std::string& value, const std::string& why);
    /// Accepts a key that does not change results, whatever its value.
    void ignore(const std::string& name) { taken_.insert(full(name)); }

    /// Throws an error about a key that the file has: "'llama.block_count' <parts>".
    template <class... Parts>
    [[noreturn]] void reject(const std::string& name, const Parts&... parts) const {
        file_.reject(file_.value(full(name)).at, sentence(quoted(full(name)), " ", parts...));
    }
    /// A key of this architecture that was not taken may change the results, so it is rejected.
    /// @throws std::invalid_argument  such a key, with its value
    void reject_rest() const;

private:
    const std::string& taken(const std::string& name) { return *taken_.insert(full(name)).first; }

    const Gguf& file_;
    std::string prefix_;
    std::unordered_set<std::string> taken_;
};

/// The tensors of a model.
class TensorTaker {
public:
    /// Of this file, which must outlive it.
    explicit TensorTaker(const Gguf& file) : file_(file) {}

    /// Does the file have this tensor?
    bool has(const std::string& name) const { return file_.has_tensor(name); }
    /// A matrix in the file's memory. @throws std::invalid_argument  missing, or another shape
    Weight matrix(const std::string& name, const Shape& shape);
    /// A vector, copied as floats. @throws std::invalid_argument  missing, or another extent
    Tensor<float> vector(const std::string& name, std::int64_t extent);
    /// The same, or an empty one if the file has no such tensor.
    Tensor<float> vector_or_none(const std::string& name, std::int64_t extent) {
        return has(name) ? vector(name, extent) : Tensor<float>({0});
    }
    /// The output matrix "output.weight", or the token embedding if the file has none.
    Weight head(const Weight& token_embedding) {
        const std::string name = "output.weight";
        return has(name) ? matrix(name, token_embedding.shape) : token_embedding;
    }

    /// A tensor that was not taken means that the file is another model, so the results would be
    /// wrong. @param model  "a GPT-2". @throws std::invalid_argument  such a tensor
    void reject_rest(const std::string& model) const;

private:
    const Gguf& file_;
    std::unordered_set<std::string_view> taken_;
};

/// The sizes that all architectures have, but for the vocabulary.
/// @param epsilon  the name of the norms' key
/// @throws std::invalid_argument  a key that is missing, or has an impossible number
void read_sizes(KeyTaker& take, const std::string& epsilon, Sizes& sizes);

/// The number of tokens, V: rows of token_embd.weight.
/// @throws std::invalid_argument  no such tensor; the tokenizer has another number of tokens
[[nodiscard]] std::int64_t vocabulary_of(const Gguf& file);

}  // namespace sixdays::gpt2

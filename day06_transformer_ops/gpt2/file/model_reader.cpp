#include "day06_transformer_ops/gpt2/file/model_reader.hpp"

#include <cmath>

namespace sixdays::gpt2 {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 24;

}  // namespace

std::int64_t KeyTaker::size(const std::string& name) {
    return file_.integer(taken(name), 1, kMost);
}

std::int64_t KeyTaker::size(const std::string& name, std::int64_t absent, std::int64_t least) {
    return has(name) ? file_.integer(taken(name), least, kMost) : absent;
}

double KeyTaker::positive(const std::string& name) {
    const double number = file_.real(taken(name));
    if (!std::isfinite(number) || number <= 0) {
        reject(name, "is ", file_.shown(full(name)), ", but must be finite and above 0");
    }
    return number;
}

double KeyTaker::positive(const std::string& name, double absent) {
    return has(name) ? positive(name) : absent;
}

std::string KeyTaker::text(const std::string& name, const std::string& absent) {
    return has(name) ? std::string(file_.text(taken(name))) : absent;
}

void KeyTaker::allow(const std::string& name, const std::string& value, const std::string& why) {
    if (!has(name)) return;
    const std::string found = file_.shown(taken(name));
    if (found != value) reject(name, "is ", found, ", but must be ", value, ": ", why);
}

void KeyTaker::reject_rest() const {
    for (const std::string_view key : file_.keys()) {
        if (!key.starts_with(prefix_) || taken_.contains(std::string(key))) continue;
        file_.reject(file_.value(key).at,
                     sentence(quoted(key), " is ", file_.shown(key),
                              ", which this engine does not know; its results could be wrong"));
    }
}

Weight TensorTaker::matrix(const std::string& name, const Shape& shape) {
    const FileTensor& found = file_.tensor(name);
    if (found.weight.shape != shape) {
        file_.reject(found.at, sentence("tensor ", quoted(name), " has shape ", found.weight.shape,
                                        ", but the keys of this file ask for ", shape));
    }
    taken_.insert(found.name);
    return found.weight;
}

Tensor<float> TensorTaker::vector(const std::string& name, std::int64_t extent) {
    const Weight found = matrix(name, {extent});  // checked before memory for it is allocated
    Tensor<float> vector({extent});
    to_float_cpu(found, vector.view());
    return vector;
}

void TensorTaker::reject_rest(const std::string& model) const {
    for (const FileTensor& tensor : file_.tensors()) {
        if (taken_.contains(tensor.name)) continue;
        file_.reject(tensor.at,
                     sentence("tensor ", quoted(tensor.name), " has no place in ", model));
    }
}

void read_sizes(KeyTaker& take, const std::string& epsilon, Sizes& sizes) {
    sizes.layers = take.size("block_count");
    sizes.context = take.size("context_length");
    sizes.channels = take.size("embedding_length");
    sizes.heads = take.size("attention.head_count");
    sizes.hidden = take.size("feed_forward_length");
    sizes.epsilon = static_cast<float>(take.positive(epsilon));
}

std::int64_t vocabulary_of(const Gguf& file) {
    const std::int64_t rows = file.tensor("token_embd.weight").weight.shape[0];
    if (const char* key = "tokenizer.ggml.tokens"; file.has(key)) {
        const Value& tokens = file.value(key);  // counted before reading any of them
        if (tokens.count != static_cast<std::uint64_t>(rows)) {
            file.reject(tokens.at, sentence(quoted(key), " has ", tokens.count,
                                            " tokens, but token_embd.weight has ", rows, " rows"));
        }
    }
    return rows;
}

}  // namespace sixdays::gpt2

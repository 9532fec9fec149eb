/// @file
/// A GPT-2's parameters as one contiguous array, so that gradients, averages and a checkpoint are
/// one array too. Matrices come first: they get weight decay, and norms and biases do not.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/training/model/block_backward.hpp"

namespace sixdays::day06_transformer_ops {

/// A tensor in the array, with its name and shape in a GGUF file: a matrix is (outputs,
/// inputs).
struct Parameter {
    std::string name;    // "blk.0.attn_qkv.weight"
    Shape shape;         // outermost first
    std::int64_t first;  // its offset in the array
};

/// Lower bound of the memory for training such a model, in bytes: parameters, gradients, AdamW's
/// two averages, and the stored activations. A double, because sizes come from users.
[[nodiscard]] double training_bytes(const gpt2::Config& config, std::int64_t batch);

/// Where each tensor of a GPT-2 is in the array.
class Parameters {
public:
    /// @throws std::invalid_argument  a size below 1, heads that do not divide the channels
    explicit Parameters(const gpt2::Config& config);

    /// The sizes of the model.
    const gpt2::Config& config() const noexcept { return config_; }
    /// All tensors, in the order of the array.
    const std::vector<Parameter>& all() const noexcept { return all_; }
    /// Elements of the array.
    std::int64_t size() const noexcept { return size_; }
    std::int64_t decayed() const noexcept { return decayed_; }  // the first elements, which decay
    /// The offset of the four matrices of a layer. For the layer after the last: decayed().
    std::int64_t matrices_begin(std::int64_t layer) const {
        return all_[static_cast<std::size_t>(2 + 4 * layer)].first;  // 2: tokens, positions
    }

    /// The tensor of this name in an array.
    template <class T>
    [[nodiscard]] View<T> view(T* run, const std::string& name) const {
        const Parameter& p = all_[by_name_.at(name)];
        return {run + p.first, p.shape};
    }

    /// The arguments of layer norms, blocks and products.
    [[nodiscard]] NormParameters norm(const float* run, const std::string& name) const;
    [[nodiscard]] NormGradients norm(float* run, const std::string& name) const;
    [[nodiscard]] BlockParameters block(const float* run, std::int64_t layer) const;
    [[nodiscard]] BlockGradients block(float* run, std::int64_t layer) const;

    /// GPT-2's initialization: norms 1, biases 0, matrices normal with standard deviation 0.02;
    /// matrices that add to the residual stream are divided by the root of their number.
    [[nodiscard]] std::vector<float> begin(std::uint64_t seed) const;

private:
    void put(const std::string& name, const Shape& shape);

    gpt2::Config config_;
    std::vector<Parameter> all_;
    std::map<std::string, std::size_t> by_name_;
    std::int64_t size_ = 0, decayed_ = 0;
};

}  // namespace sixdays::day06_transformer_ops

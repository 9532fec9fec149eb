/// @file
/// The interface between engine and device. One pass takes T tokens through the model: a whole
/// prompt at once, or the last chosen token. A pass is these calls, in this order:
///
///     begin(ids, position)  or  advance()
///     embed                           x = token row; GPT-2: + position row
///     for each layer:
///         query_key_value             norm, products; keys and values to the cache
///         attend                      each token attends to those before it
///         add_attention               x += product
///         widen                       norm, products, activation
///         add_mlp                     x += product
///     head                            norm, a product of V columns
///     choose                          the next token
///
/// An architecture decides what a call computes: GPT-2 normalizes by layer norm and has one product
/// for queries, keys and values; the Llama family by RMS norm, and rotates queries and keys.
///
/// Each call may be one kernel. Nothing is copied back between them: ids, positions, activations,
/// KV cache and logits stay on the device, and the engine requests results afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/tensor/view.hpp"
#include "day06_transformer_ops/gpt2/backend/sampler.hpp"
#include "day06_transformer_ops/gpt2/file/model_file.hpp"

namespace sixdays::gpt2 {

/// A device with a model's weights and the state of one text of up to `capacity` tokens. The engine
/// has checked all arguments: layers, rows, ids and positions.
class Backend {
public:
    virtual ~Backend() = default;

    /// For display: "cpu, 2 threads".
    virtual std::string name() const = 0;

    /// A pass over `ids` (T) at positions position .. position + T - 1; cached positions from
    /// `position` on are dropped. @param ids  in host memory, read before the call returns
    virtual void begin(View<const std::int64_t> ids, std::int64_t position) = 0;
    /// A pass over one token, T = 1: the result of choose(), at its position.
    virtual void advance() = 0;

    /// x = token row, for each token of the pass, plus the position's row in a model that has one.
    virtual void embed() = 0;
    /// A norm and products: the queries of the pass; its keys and values go to the cache.
    virtual void query_key_value(std::int64_t layer) = 0;
    /// Each token attends to itself and to those before it.
    virtual void attend(std::int64_t layer) = 0;
    /// x += the product of what attend() computed.
    virtual void add_attention(std::int64_t layer) = 0;
    /// The first half of the MLP: norm, one product or two, activation.
    virtual void widen(std::int64_t layer) = 0;
    /// x += the product of what widen() computed.
    virtual void add_mlp(std::int64_t layer) = 0;
    /// Logits of `count` tokens of the pass, from token `first` on; replaces those of earlier
    /// calls. A prompt needs only its last row; T rows of V would be 200 MB.
    virtual void head(std::int64_t first, std::int64_t count) = 0;
    /// Chooses the token after the pass, from the last row of logits. Its position is the draw's
    /// step.
    virtual void choose() = 0;

    /// Sets the options of choose(), which check_sampler() has accepted.
    virtual void set_sampler(const SamplerOptions& options) = 0;

    /// Runs a pass that begins with advance(). It consists of the calls above only, the same ones
    /// each time, so a backend may record them once and replay them (a CUDA graph).
    virtual void replay(const std::function<void()>& pass) { pass(); }

    /// Waits for all work.
    virtual void wait() {}

    /// x of the pass so far, in host memory. @param out  (T, C)
    virtual void read_stream(View<float> out) = 0;
    /// The results of head(). @param out  (count, V), in host memory
    virtual void read_logits(View<float> out) = 0;
    /// The token at a position of the text, given or chosen.
    virtual std::int64_t token(std::int64_t position) = 0;
    /// What to try if a logit is NaN or infinite: text to append to an error message, or nothing.
    virtual std::string advice() const { return ""; }
};

/// The CPU references of six days, on float copies of all weights: the reference for other
/// backends. `model` must outlive all three.
/// @param capacity  positions of the KV cache: 1 .. config.context
/// @throws std::invalid_argument  another capacity
[[nodiscard]] std::unique_ptr<Backend> make_plain_backend(const ModelWeights& model,
                                                          std::int64_t capacity);

/// Weights in the file's type, rows distributed over threads. @param threads  0: all cores
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(const ModelWeights& model,
                                                        std::int64_t capacity, int threads = 0);

/// How the CUDA backend computes a pass of several tokens. One token is always computed in floats.
enum class Prompts {
    floats,        // as one token, in 32 bits
    tensor_cores,  // operands rounded to f16 or bf16, sums float: logits differ a little
    as_weights,    // as prompts_of() decides
};

/// Tensor cores if they support the model and all its matrices are F16, or all BF16, where 16
/// bits are the file's precision anyway. Floats otherwise.
/// @param types  of all matrices of the blocks
[[nodiscard]] Prompts prompts_of(const Sizes& sizes, std::int64_t head_dim,
                                 const std::vector<WeightType>& types);
[[nodiscard]] Prompts prompts_of(const ModelWeights& model);
/// The types of all matrices of the blocks, in order.
[[nodiscard]] std::vector<WeightType> matrix_types(const ModelWeights& model);

/// The CUDA versions, with weights and cache in device memory.
/// @throws std::runtime_error  no usable GPU, in a program built for one
/// @throws std::invalid_argument  a model that tensor cores do not support
[[nodiscard]] std::unique_ptr<Backend> make_cuda_backend(const ModelWeights& model,
                                                         std::int64_t capacity,
                                                         Prompts prompts = Prompts::floats);

/// The checks of every backend's constructor.
void check_capacity(const Sizes& sizes, std::int64_t capacity);
/// For backends with their KV cache in host memory: rejects one larger than that memory.
/// @param cache  the shape of the keys and of the values: (layer, head, position, dim)
void check_cache_memory(const Shape& cache);
/// For prompts on tensor cores: rejects rows and heads that are not multiples of eight elements,
/// and heads wider than 128.
void check_tensor_cores(const Sizes& sizes, std::int64_t head_dim);
/// Whether check_tensor_cores() accepts the model.
[[nodiscard]] bool tensor_cores_take(const Sizes& sizes, std::int64_t head_dim);

}  // namespace sixdays::gpt2

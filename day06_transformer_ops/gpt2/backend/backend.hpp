/// @file
/// What the engine asks of a device. One pass takes T tokens through the model: a whole prompt at
/// once, or the one token that was chosen last. A pass is these calls, in this order:
///
///     begin(ids, position)  or  advance()
///     embed                           x = token row + position row
///     of each layer:
///         query_key_value             norm, a product of 3 C columns; keys and values to the cache
///         attend                      each token asks all before it
///         add_attention               x += product
///         widen                       norm, product, GELU
///         add_mlp                     x += product
///     head                            norm, a product of V columns
///     choose                          the next token
///
/// Each call may be one kernel. Nothing comes back between them: ids, positions, activations, cache
/// and logits stay where the device has them, and the engine asks for what it wants to see
/// afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/tensor/view.hpp"
#include "day06_transformer_ops/gpt2/backend/sampler.hpp"
#include "day06_transformer_ops/gpt2/file/model_file.hpp"

namespace sixdays::gpt2 {

/// A device with a model's weights, the memory of one text, and room for `capacity` of its tokens.
/// The engine has checked what it gives: layers, rows, ids, and that positions fit.
class Backend {
public:
    virtual ~Backend() = default;

    /// "cpu, 2 threads", for the reader.
    virtual std::string name() const = 0;

    /// A pass over `ids` (T) at positions position .. position + T - 1; what was held from
    /// `position` on is forgotten. @param ids  in host memory, read before the call returns
    virtual void begin(View<const std::int64_t> ids, std::int64_t position) = 0;
    /// A pass over one token, T = 1: the one that choose() chose, at its position.
    virtual void advance() = 0;

    virtual void embed() = 0;
    virtual void query_key_value(std::int64_t layer) = 0;
    virtual void attend(std::int64_t layer) = 0;
    virtual void add_attention(std::int64_t layer) = 0;
    virtual void widen(std::int64_t layer) = 0;
    virtual void add_mlp(std::int64_t layer) = 0;
    /// Logits of `count` of the pass' tokens, from token `first` on; those of earlier calls are
    /// gone. A prompt needs one row only, its last; T rows of V would be 200 MB.
    virtual void head(std::int64_t first, std::int64_t count) = 0;
    /// The token behind the pass, from the last row of logits. Its position is the draw's step.
    virtual void choose() = 0;

    /// How choose() chooses from now on. Options that check_sampler() has not refused.
    virtual void set_sampler(const SamplerOptions& options) = 0;

    /// Runs a pass that begins with advance(). It is made of the calls above alone, and of the same
    /// ones each time: a backend may write them down once and replay them from then on.
    virtual void replay(const std::function<void()>& pass) { pass(); }

    /// Returns when all that was asked for is done.
    virtual void wait() {}

    /// x of the pass so far, in host memory. @param out  (T, C)
    virtual void read_stream(View<float> out) = 0;
    /// What head() made. @param out  (count, V), in host memory
    virtual void read_logits(View<float> out) = 0;
    /// The token at a position of the text, given or chosen.
    virtual std::int64_t token(std::int64_t position) = 0;
    /// What to try where a logit is NaN or infinite: a sentence behind another, or nothing.
    virtual std::string advice() const { return ""; }
};

/// The plain loops of six days, one after the other, on float copies of all weights: what other
/// backends are compared with. `model` must outlive all three.
/// @param capacity  positions to hold: 1 .. config.context
/// @throws std::invalid_argument  another capacity
[[nodiscard]] std::unique_ptr<Backend> make_plain_backend(const ModelWeights& model,
                                                          std::int64_t capacity);

/// Weights in the type that the file has, rows shared out to threads. @param threads  0: all cores
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(const ModelWeights& model,
                                                        std::int64_t capacity, int threads = 0);

/// How the CUDA backend computes a pass of several tokens. One token is always computed in floats.
enum class Prompts {
    floats,
    tensor_cores,  // operands rounded to f16 or bf16, sums float: logits differ a little
    as_weights,    // what prompts_of() says
};

/// Tensor cores if they take the model and all its matrices are F16, or all BF16, whose makers have
/// chosen 16 bits; else floats.
[[nodiscard]] Prompts prompts_of(const ModelWeights& model);

/// @throws std::runtime_error  no GPU answers, in a program that was built for one
/// @throws std::invalid_argument  a model that tensor cores do not take
[[nodiscard]] std::unique_ptr<Backend> make_cuda_backend(const ModelWeights& model,
                                                         std::int64_t capacity,
                                                         Prompts prompts = Prompts::floats);

/// What every backend refuses when it is made.
void check_capacity(const Config& config, std::int64_t capacity);
/// And one whose keys and values lie in this machine's memory: more than it has.
void check_cache_memory(const Config& config, std::int64_t capacity);
/// And one whose prompts go to tensor cores: rows and heads that are not whole groups of eight
/// numbers, and heads of more than 128.
void check_tensor_cores(const Config& config);
[[nodiscard]] bool tensor_cores_take(const Config& config);

}  // namespace sixdays::gpt2

/// @file
/// The operations that a model calls, for CPU and GPU. Block and model are written once and work
/// with any of the three.
#pragma once

#include "common/tensor/transform.hpp"
#include "day01_flat_memory/elementwise.hpp"
#include "day05_matmul/matmul.hpp"
#include "day05_matmul/matmul_bf16.hpp"
#include "day06_transformer_ops/attention/attention.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/gpt2/gpu/narrow.hpp"
#include "day06_transformer_ops/softmax/cross_entropy.hpp"
#include "day06_transformer_ops/training/adamw/adamw.hpp"
#include "day06_transformer_ops/training/backward/activation_backward.hpp"
#include "day06_transformer_ops/training/backward/attention_backward.hpp"
#include "day06_transformer_ops/training/backward/cross_entropy_backward.hpp"
#include "day06_transformer_ops/training/backward/embedding_backward.hpp"
#include "day06_transformer_ops/training/backward/linear_backward.hpp"
#include "day06_transformer_ops/training/backward/norm_backward.hpp"
#include "day06_transformer_ops/training/bf16/attention_backward_bf16.hpp"
#include "day06_transformer_ops/training/bf16/linear_backward_bf16.hpp"
#include "day06_transformer_ops/training/model/product_fast.hpp"

namespace sixdays::day06_transformer_ops {

using In = const View<const float>&;          // an input
using Ids = const View<const std::int64_t>&;  // ids, places or targets
using Out = const View<float>&;               // an output
using In16 = const View<const bf16>&;         // an input in bf16
using Out16 = const View<bf16>&;              // an output in bf16
using day05_matmul::Epilogue;

/// The CPU references. With threads, sequences are distributed, and products use register tiling:
/// the same bits for any number of threads, but not those of the references.
struct CpuOperations {
    gpt2::Threads* threads = nullptr;  // null: the CPU references, unchanged

    /// The operation of this name, as its CPU reference computes it.
    void embed(In tokens, Ids ids, In positions, Ids places, Out out) const {
        const auto part = [&](Ids i, Out o) { embed_cpu<float>(tokens, i, positions, places, o); };
        shared(part, ids, out);
    }
    void layer_norm(In in, const NormParameters& p, Out out) const {
        shared([&](In i, Out o) { layer_norm_cpu(i, p, o); }, in, out);
    }
    void matmul(In a, In b, const Epilogue& e, Out out) const {
        threads == nullptr ? day05_matmul::matmul_cpu(a, b, e, out)
                           : matmul_fast(a, b, e, out, *threads);
    }
    void attention(In q, In k, In v, Out out, Out) const {
        const auto part = [](In a, In b, In c, Out o) { attention_cpu(a, b, c, {}, o); };
        shared(part, q, k, v, out);
    }
    void activate(Activation what, In in, Out out) const {
        shared([&](In i, Out o) { activate_cpu(what, i, o); }, in, out);
    }
    void add(In a, In b, Out out) const {
        shared([](In c, In d, Out o) { day01_flat_memory::add_cpu(c, d, o); }, a, b, out);
    }
    void cross_entropy(In logits, Ids targets, Out out) const {
        const auto part = [](In x, Ids t, Out o) { cross_entropy_cpu<float>(x, t, o); };
        shared(part, logits, targets, out);
    }

    /// The operation of this name, as its CPU reference computes it.
    void embed_backward(In grad, Ids ids, Ids places, const EmbedGradients& d) const {
        embed_backward_cpu(grad, ids, places, d);
    }
    void layer_norm_backward(In in, const NormParameters& p, In grad, Out d_in,
                             const NormGradients& d) const {
        layer_norm_backward_cpu(in, p, grad, d_in, d);
    }
    void linear_backward(In in, In weight, In grad, Out d_in, const LinearGradients& d) const {
        threads == nullptr ? linear_backward_cpu(in, weight, grad, d_in, d)
                           : linear_backward_fast(in, weight, grad, d_in, d, *threads);
    }
    void attention_backward(In q, In k, In v, In, In, In grad, const AttentionGradients& d) const {
        const auto part = [](In a, In b, In c, In g, Out d_q, Out d_k, Out d_v) {
            attention_backward_cpu(a, b, c, {}, g, {d_q, d_k, d_v});
        };
        shared(part, q, k, v, grad, d.q, d.k, d.v);
    }
    void activate_backward(Activation what, In in, In grad, Out out) const {
        const auto part = [&](In i, In g, Out o) { activate_backward_cpu(what, i, g, o); };
        shared(part, in, grad, out);
    }
    void cross_entropy_backward(In logits, Ids targets, In, In grad, Out out) const {
        const auto part = [](In x, Ids t, In g, Out o) { cross_entropy_backward_cpu(x, t, g, o); };
        shared(part, logits, targets, grad, out);
    }

    /// The operation of this name, as its CPU reference computes it.
    void gradient_norm(In gradient, const View<double>& out) const {
        gradient_norm_cpu(gradient, out);
    }
    void adamw(const AdamWOptions& o, In gradient, Out first, Out second, Out parameters,
               Out16 rounded) const {
        adamw_cpu(o, gradient, first, second, parameters, rounded);
    }

private:
    /// Calls f with parts of the views, split along dimension 0, the sequences.
    template <class F, class First, class... Others>
    void shared(const F& f, const First& first, const Others&... others) const {
        if (threads == nullptr) return f(first, others...);
        threads->run([&](int part) {
            const auto [begin, end] = gpt2::part_of(first.extent(0), part, threads->count());
            if (begin < end) f(slice(first, 0, begin, end), slice(others, 0, begin, end)...);
        });
    }
};

/// bf16 copies of the weights, which products read in mixed-precision training. Each has the same
/// offset as its master weight among the floats.
struct RoundedWeights {
    const float* floats = nullptr;  // the master weights
    bf16* rounded = nullptr;        // their copies

    /// The copy of a weight.
    [[nodiscard]] View<const bf16> of(In weight) const {
        return {rounded + (weight.data - floats), weight.layout};
    }
};

/// The CUDA versions, in one stream, with one workspace for all. bf16 operands are multiplied on
/// tensor cores; only operands are rounded, never sums.
struct CudaOperations {
    gpu::Workspace workspace = {};  // for all operations, one after the other
    gpu::Stream stream = {};        // on which all are launched
    RoundedWeights weights = {};    // for products from bf16

    /// The operation of this name by its CUDA version, on this stream; operands of 16 bits go to tensor
    /// cores.
    void embed(In tokens, Ids ids, In positions, Ids places, Out out) const {
        embed_cuda<float>(tokens, ids, positions, places, out, {.stream = stream});
    }
    void layer_norm(In in, const NormParameters& p, Out out) const {
        layer_norm_cuda(in, p, out, {.stream = stream});
    }
    void layer_norm(In in, const NormParameters& p, Out16 out) const {
        gpt2::norm_narrow_cuda(as_matrix(in), p, as_matrix(out), stream);
    }
    void matmul(In a, In b, const Epilogue& e, Out out) const {
        day05_matmul::matmul_cuda(a, b, e, out, {.workspace = workspace, .stream = stream});
    }
    template <class T>
    void matmul(In16 a, In b, const Epilogue& e, const View<T>& out) const {
        day05_matmul::matmul_bf16_cuda<bf16>(as_matrix(a), weights.of(b), e, as_matrix(out),
                                             {.stream = stream});
    }
    void attention(In q, In k, In v, Out out, Out log_sums) const {
        attention_cuda(q, k, v, {}, out, attention_keeps_cuda(q) ? log_sums : View<float>(),
                       {.workspace = workspace, .stream = stream});
    }
    void attention(In16 q, In16 k, In16 v, Out16 out, Out log_sums) const {
        attention_bf16_cuda(q, k, v, {}, out, log_sums, {.workspace = workspace, .stream = stream});
    }
    template <class T>
    void activate(Activation what, const View<T>& in, const View<T>& out) const {
        activate_cuda(what, in, out, {.stream = stream});
    }
    void add(In a, In b, Out out) const {
        day01_flat_memory::add_cuda(a, b, out, {.stream = stream});
    }
    void cross_entropy(In logits, Ids targets, Out out) const {
        cross_entropy_cuda<float>(logits, targets, out, {.stream = stream});
    }

    /// The operation of this name by its CUDA version, on this stream; operands of 16 bits go to tensor
    /// cores.
    void embed_backward(In grad, Ids ids, Ids places, const EmbedGradients& d) const {
        embed_backward_cuda(grad, ids, places, d, {.stream = stream});
    }
    void layer_norm_backward(In in, const NormParameters& p, In grad, Out d_in,
                             const NormGradients& d) const {
        layer_norm_backward_cuda(in, p, grad, d_in, d, {.workspace = workspace, .stream = stream});
    }
    void linear_backward(In in, In weight, In grad, Out d_in, const LinearGradients& d) const {
        linear_backward_cuda(in, weight, grad, d_in, d, workspace, stream);
    }
    template <class T>
    void linear_backward(In16 in, In weight, In grad, const View<T>& d_in,
                         const LinearGradients& d) const {
        const View<bf16> rounded = room_for<bf16>("linear_backward", grad.shape());
        gpt2::narrow_cuda(grad, rounded, gpt2::Before::nothing, stream);
        linear_backward_bf16_cuda(in, weights.of(weight), View<const bf16>(rounded), d_in, d.weight,
                                  stream);
        if (d.bias.data != nullptr) bias_backward_cuda(grad, d.bias, workspace, stream);
    }
    template <class T>
    void linear_backward(In16 in, In weight, In16 grad, const View<T>& d_in,
                         const LinearGradients& d) const {
        linear_backward_bf16_cuda(in, weights.of(weight), grad, d_in, d.weight, stream);
        if (d.bias.data != nullptr) bias_backward_cuda(grad, d.bias, workspace, stream);
    }
    void attention_backward(In q, In k, In v, In out, In log_sums, In grad,
                            const AttentionGradients& d) const {
        attention_backward_cuda(
            q, k, v, {}, grad, d,
            attention_keeps_cuda(q) ? AttentionSaved{out, log_sums} : AttentionSaved{},
            {.workspace = workspace, .stream = stream});
    }
    void attention_backward(In16 q, In16 k, In16 v, In16 out, In log_sums, In grad,
                            const AttentionGradientsOf<bf16>& d) const {
        attention_backward_bf16_cuda(q, k, v, {}, out, log_sums, grad, d,
                                     {.workspace = workspace, .stream = stream});
    }
    template <class T>
    void activate_backward(Activation what, const View<T>& in, const View<T>& grad,
                           const View<T>& out) const {
        activate_backward_cuda(what, in, grad, out, {.stream = stream});
    }
    template <class T>
    void cross_entropy_backward(In logits, Ids targets, In losses, In grad,
                                const View<T>& out) const {
        cross_entropy_backward_cuda(logits, targets, grad, out, losses, {.stream = stream});
    }

    /// The operation of this name by its CUDA version, on this stream; operands of 16 bits go to tensor
    /// cores.
    void gradient_norm(In gradient, const View<double>& out) const {
        gradient_norm_cuda(gradient, out, workspace, stream);
    }
    void adamw(const AdamWOptions& o, In gradient, Out first, Out second, Out parameters,
               Out16 rounded) const {
        adamw_cuda(o, gradient, first, second, parameters, rounded, stream);
    }

    /// A part of the workspace: an array that is live between two operations.
    template <class T>
    static std::int64_t room_bytes(const Shape& shape) {
        return gpu::bytes_to_carve([&](gpu::Carver& c) { return c.take<T>(shape); });
    }

private:
    template <class T>
    View<T> room_for(const char* op, const Shape& shape) const {
        return gpu::carve(op, workspace, [&](gpu::Carver& c) { return c.take<T>(shape); });
    }
};

}  // namespace sixdays::day06_transformer_ops

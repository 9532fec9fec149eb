/// @file
/// Shared by the fast CPU backends of all architectures: weights in the file's type, their rows
/// split into one view per thread. A thread also applies the epilogue to its results: bias,
/// activation, residual.
#pragma once

#include <functional>
#include <string>

#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"
#include "day06_transformer_ops/gpt2/cpu/threads.hpp"

namespace sixdays::gpt2 {

/// A memory-bound CPU backend without its architecture: products and attention by threads.
class ThreadedBackend : public HostBackend {
public:
    /// "cpu, 2 threads".
    std::string name() const override;
    void attend(std::int64_t layer) override;

protected:
    /// @param cache    as HostBackend's
    /// @param threads  0: all cores
    ThreadedBackend(const Sizes& sizes, const Shape& cache, int threads);

    /// Row t of x = row ids(t) of the token embedding, as floats.
    void embed_tokens(const Weight& embedding);

    /// Calls work(begin, end) for ranges of the `count` rows, one range per thread.
    void for_rows(std::int64_t count,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& work);

    /// This thread's rows of the weights, and so its columns of out = in . weightᵀ.
    Range multiply(const Weight& weight, View<const float> in, View<float> out, int part);

    /// out = in . weightᵀ by all threads.
    void product(const Weight& weight, View<const float> in, View<float> out);

    /// finish(out(t, n), product + bias); the product itself is written to `made`.
    template <class Finish>
    void linear(const LinearWeights& weights, View<const float> in, View<float> made,
                View<float> out, Finish finish) {
        threads_.run([&](int part) {
            const Range columns = multiply(weights.weight, in, made, part);
            for (std::int64_t t = 0; t < T_; ++t) {
                for (std::int64_t n = columns.begin; n < columns.end; ++n) {
                    finish(out(t, n), made(t, n) + weights.bias_of(n));
                }
            }
        });
    }

    /// x += in . weightᵀ + bias.
    void add(const LinearWeights& weights, View<const float> in) {
        linear(weights, in, normed(), x(), [](float& to, float made) { to += made; });
    }

    Threads threads_;

private:
    Tensor<float> scores_;  // (threads, capacity): one query's at a time
};

}  // namespace sixdays::gpt2

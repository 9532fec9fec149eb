/// @file
/// Trains a GPT-2: parameters, gradients of the loss, AdamW's averages, and the activations that
/// the backward pass needs, in the memory of one device.
#pragma once

#include <functional>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "day06_transformer_ops/training/model/batch.hpp"
#include "day06_transformer_ops/training/model/parameters.hpp"

namespace sixdays::day06_transformer_ops {

/// Host memory with the interface of gpu::Buffer.
template <class T>
class HostBuffer {
public:
    /// All zeros.
    explicit HostBuffer(std::int64_t size) : elements_(static_cast<std::size_t>(size)) {}
    /// Address of the first element.
    T* data() noexcept { return elements_.data(); }
    const T* data() const noexcept { return elements_.data(); }
    /// The number of elements.
    std::int64_t size() const noexcept { return static_cast<std::int64_t>(elements_.size()); }
    /// Copies `count` elements from `host` to positions from `first` on.
    void upload(const T* host, std::int64_t count, std::int64_t first = 0) {
        std::copy_n(host, count, elements_.begin() + first);
    }
    /// A copy of the elements: all, or `count` from `first` on.
    [[nodiscard]] std::vector<T> download() const { return elements_; }
    [[nodiscard]] std::vector<T> download(std::int64_t first, std::int64_t count) const {
        return {elements_.begin() + first, elements_.begin() + first + count};
    }
    /// Sets all elements to zero; gpu::Buffer's sets each byte.
    void fill_bytes(int) { std::fill(elements_.begin(), elements_.end(), T{}); }

private:
    std::vector<T> elements_;
};

/// Training on the CPU: the CPU references.
struct Cpu {
    using Operations = CpuOperations;  // what the model calls
    using Operand = float;             // of products
    /// Owns memory of this device.
    template <class T>
    using Buffer = HostBuffer<T>;
};
/// Training on the GPU in 32 bits.
struct Cuda {
    using Operations = CudaOperations;  // what the model calls
    using Operand = float;              // of products
    /// Owns memory of this device.
    template <class T>
    using Buffer = gpu::Buffer<T>;
};
/// Mixed precision: products on tensor cores. Master weights, AdamW's averages, all gradients of
/// parameters and the residual stream stay float.
struct CudaBf16 {
    using Operations = CudaOperations;  // what the model calls
    using Operand = bf16;               // of products
    /// Owns memory of this device.
    template <class T>
    using Buffer = gpu::Buffer<T>;
};

/// The settings of a step.
struct StepOptions {
    double rate = 1e-3;                 // learning rate
    float beta1 = 0.9f, beta2 = 0.98f;  // as in AdamWOptions
    float decay = 0.1f;                 // of matrices
    float most = 1;                     // largest norm of the gradient
};

/// The state from which a run resumes, on the host: three arrays of parameters().size() numbers.
struct TrainingState {
    std::int64_t step = 0;                         // steps done
    std::vector<float> parameters, first, second;  // first, second: AdamW's two averages
    // Not used by a Trainer:
    std::vector<float> losses = {};  // one per step, for the curve
    std::int64_t steps = 0;          // the run's --steps when this was saved
};

/// Trains a GPT-2 on one device.
/// @tparam Device  Cpu, Cuda or CudaBf16
template <class Device>
class Trainer {
public:
    /// @param batch       sequences of config.context tokens each
    /// @param operations  the CPU's may have threads
    /// @throws std::invalid_argument  bf16: a head width that is not a multiple of eight
    Trainer(const gpt2::Config& config, std::int64_t batch,
            const typename Device::Operations& operations = {});

    /// Where each tensor is in the arrays.
    const Parameters& parameters() const noexcept { return map_; }
    /// Resumes from a state that save() returned.
    void load(const TrainingState& state);
    /// The state from which load() resumes.
    [[nodiscard]] TrainingState save() const;

    /// Forward and backward pass: accumulates the gradients of the mean loss, times `fraction`, and
    /// returns that mean.
    /// @param batch  has this trainer's size
    /// @param fraction  1 / (number of batches accumulated before the step)
    /// @throws std::invalid_argument  a batch of another size, with tokens that are not in the
    /// vocabulary, or without a target that counts
    double accumulate(const Batch& batch, float fraction = 1);
    /// One step with the accumulated gradients, which are then cleared. Returns their norm.
    double step(const StepOptions& options);

    /// A copy of the parameters, on the host.
    [[nodiscard]] std::vector<float> weights() const { return parameters_.download(); }
    /// accumulate() and step() in halves, so that trainers on several GPUs work at the same time
    /// (trainers.hpp): the first half launches the work, the second one waits for it.
    /// @param batch       has this trainer's size, with tokens of the vocabulary
    /// @param each        the weight of one target's loss
    /// @param layer_done  called in the backward pass, after the launches for a layer's gradients
    void start(const Batch& batch, float each, const std::function<void(std::int64_t)>& layer_done);
    [[nodiscard]] double sum_of_losses() const;  // over the targets that count
    /// The first half of step().
    void start_step(const StepOptions& options);
    /// The second half of step(): the norm of the gradients.
    [[nodiscard]] double norm() const { return norm_.download()[0]; }
    /// The accumulated gradients, in the memory of the device.
    [[nodiscard]] float* gradient_run() noexcept { return gradient_.data(); }

    /// Called before each layer, forward and backward: an exception aborts the step, which has
    /// changed only gradients by then.
    void ask(std::function<void()> question) { question_ = std::move(question); }

    /// A copy of the accumulated gradients, on the host.
    [[nodiscard]] std::vector<float> gradients() const { return gradient_.download(); }

    /// A step on the last batch with timed operations; returns their times. For a benchmark, which
    /// must include trainer_body.hpp.
    template <class Operations>
    auto timed(Operations op) {
        there_and_back(op, [](std::int64_t) {});
        ++step_;
        update(op, {.rate = 0});
        gradient_.fill_bytes(0);
        return op.seconds();
    }
    /// What the model calls.
    const typename Device::Operations& operations() const noexcept { return op_; }

private:
    template <class T>
    using Buffer = typename Device::template Buffer<T>;

    static constexpr bool kRounds = std::is_same_v<typename Device::Operand, bf16>;
    using Operand = typename Device::Operand;

    void carve();
    template <class Operations, class LayerDone>
    void there_and_back(Operations& op, const LayerDone& layer_done);
    template <class Operations>
    void update(Operations& op, const StepOptions& options);
    View<float> take(const Shape& shape);
    View<Operand> take_operand(const Shape& shape);

    Parameters map_;
    std::int64_t batch_, step_ = 0;
    std::function<void()> question_;
    std::vector<bool> counts_;  // which targets of the last batch count
    Buffer<float> parameters_, gradient_, first_, second_;
    Buffer<std::int64_t> ids_, targets_, places_;
    Buffer<double> norm_;
    Buffer<float> activations_, gradient_of_x_;
    std::int64_t taken_ = 0;  // used part of the activations
    Buffer<bf16> rounded_;    // bf16 copies of the matrices, if products use bf16

    std::vector<View<float>> x_;  // before each block, and after the last
    std::vector<BlockKept<Operand>> kept_;
    BlockRoom<Operand> room_;
    View<Operand> normed_, d_logits_;  // float: d_logits_ shares memory with logits_
    View<float> logits_, losses_, d_losses_, grad_;
    typename Device::Operations op_;
    Buffer<std::byte> workspace_{1};
};

extern template class Trainer<Cpu>;
extern template class Trainer<Cuda>;
extern template class Trainer<CudaBf16>;

}  // namespace sixdays::day06_transformer_ops

/// @file
/// A GPT-2 that learns: its parameters, the gradients of the loss, AdamW's averages, and what the
/// backward pass needs of the forward pass, in the memory of one device.
#pragma once

#include <functional>
#include <vector>

#include "common/gpu/buffer.hpp"
#include "day06_transformer_ops/training/model/batch.hpp"
#include "day06_transformer_ops/training/model/parameters.hpp"

namespace sixdays::day06_transformer_ops {

/// Host memory with gpu::Buffer's calls.
template <class T>
class HostBuffer {
public:
    explicit HostBuffer(std::int64_t size) : elements_(static_cast<std::size_t>(size)) {}
    T* data() noexcept { return elements_.data(); }
    const T* data() const noexcept { return elements_.data(); }
    std::int64_t size() const noexcept { return static_cast<std::int64_t>(elements_.size()); }
    void upload(const T* host, std::int64_t count, std::int64_t first = 0) {
        std::copy_n(host, count, elements_.begin() + first);
    }
    [[nodiscard]] std::vector<T> download() const { return elements_; }
    [[nodiscard]] std::vector<T> download(std::int64_t first, std::int64_t count) const {
        return {elements_.begin() + first, elements_.begin() + first + count};
    }
    void fill_bytes(int) { std::fill(elements_.begin(), elements_.end(), T{}); }

private:
    std::vector<T> elements_;
};

/// The devices. Operand: of what products multiply.
struct Cpu {
    using Operations = CpuOperations;
    using Operand = float;
    template <class T>
    using Buffer = HostBuffer<T>;
};
struct Cuda {
    using Operations = CudaOperations;
    using Operand = float;
    template <class T>
    using Buffer = gpu::Buffer<T>;
};
/// Products on tensor cores. The weights that learn, AdamW's averages, all gradients of parameters
/// and the residual stream stay floats.
struct CudaBf16 {
    using Operations = CudaOperations;
    using Operand = bf16;
    template <class T>
    using Buffer = gpu::Buffer<T>;
};

/// What a step does with the gradients.
struct StepOptions {
    double rate = 1e-3;
    float beta1 = 0.9f, beta2 = 0.98f;
    float decay = 0.1f;  // of matrices
    float most = 1;      // of the gradient's norm
};

/// What a run goes on from, on the host: three runs of parameters().size() numbers.
struct TrainingState {
    std::int64_t step = 0;  // steps done
    std::vector<float> parameters, first, second;
    // What a Trainer leaves alone:
    std::vector<float> losses = {};  // of each step, for the curve
    std::int64_t steps = 0;          // that the run was to have when this was saved
};

template <class Device>
class Trainer {
public:
    /// @param batch       sequences of config.context tokens each
    /// @param operations  the CPU's may have threads
    /// @throws std::invalid_argument  bf16: numbers of a head that are no whole groups of eight
    Trainer(const gpt2::Config& config, std::int64_t batch,
            const typename Device::Operations& operations = {});

    const Parameters& parameters() const noexcept { return map_; }
    void load(const TrainingState& state);
    [[nodiscard]] TrainingState save() const;

    /// There and back: adds the gradients of the mean loss, times `share`, and returns that mean.
    /// @param batch  of this trainer's size
    /// @param share  1 / (batches whose gradients are added up before the step)
    /// @throws std::invalid_argument  a batch of another size, of tokens that the vocabulary
    /// lacks, or of which no target counts
    double accumulate(const Batch& batch, float share = 1);
    /// A step by what was accumulated, whose gradients are forgotten. Returns their norm.
    double step(const StepOptions& options);

    [[nodiscard]] std::vector<float> weights() const { return parameters_.download(); }
    /// accumulate() and step() in halves, so that trainers on several GPUs work at once
    /// (trainers.hpp): the first half hands the device its work, the second one waits for it.
    /// @param batch       of this trainer's size, its tokens of the vocabulary
    /// @param each        what the loss of one target counts for
    /// @param layer_done  called in the backward pass, behind the launches that make a layer's
    /// gradients
    void start(const Batch& batch, float each, const std::function<void(std::int64_t)>& layer_done);
    [[nodiscard]] double sum_of_losses() const;  // of the targets that count
    void start_step(const StepOptions& options);
    [[nodiscard]] double norm() const { return norm_.download()[0]; }
    [[nodiscard]] float* gradient_run() noexcept { return gradient_.data(); }

    /// Asked before each layer, there and back: what it throws ends the step, of which only
    /// gradients are made by then.
    void ask(std::function<void()> question) { question_ = std::move(question); }

    [[nodiscard]] std::vector<float> gradients() const { return gradient_.download(); }

    /// A step on the last batch by operations that look at a clock: what they say. For a bench; who
    /// calls it includes trainer_body.hpp.
    template <class Operations>
    auto timed(Operations op) {
        there_and_back(op, [](std::int64_t) {});
        ++step_;
        update(op, {.rate = 0});
        gradient_.fill_bytes(0);
        return op.seconds();
    }
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
    std::vector<bool> counts_;  // of the last batch: which of its targets count
    Buffer<float> parameters_, gradient_, first_, second_;
    Buffer<std::int64_t> ids_, targets_, places_;
    Buffer<double> norm_;
    Buffer<float> activations_;
    std::int64_t taken_ = 0;  // of the activations
    Buffer<bf16> rounded_;    // the matrices once more, if products take bf16

    std::vector<View<float>> x_;  // before each block, and behind the last
    std::vector<BlockKept<Operand>> kept_;
    BlockRoom room_;
    View<Operand> normed_, d_logits_;  // floats: d_logits_ takes the place of logits_
    View<float> logits_, losses_, share_, grad_;
    typename Device::Operations op_;
    Buffer<std::byte> workspace_{1};
};

extern template class Trainer<Cpu>;
extern template class Trainer<Cuda>;
extern template class Trainer<CudaBf16>;

}  // namespace sixdays::day06_transformer_ops

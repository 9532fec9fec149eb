/// @file
/// Data-parallel training: several trainers, each on its own GPU, with the whole model and a part
/// of the batch. The gradient of a batch is a sum over its tokens, so the gradients of the GPUs are
/// summed, and each GPU makes the same step from the same sums.
#pragma once

#include <exception>
#include <numeric>
#include <vector>

#include "common/lesson/ranges.hpp"
#include "common/tensor/sentence.hpp"
#include "day06_transformer_ops/gpt2/cpu/threads.hpp"
#include "day06_transformer_ops/training/model/nccl_sum.hpp"
#include "day06_transformer_ops/training/model/trainer.hpp"

namespace sixdays::day06_transformer_ops {

/// @tparam Sum  sums the gradients: NCCL, or in tests the host
template <class Device, class Sum = NcclSum>
class Trainers {
public:
    /// @param batch  sequences of the whole batch, a multiple of the number of GPUs
    /// @throws std::invalid_argument  sequences that do not divide equally
    Trainers(const gpt2::Config& config, std::int64_t batch, Sum& sum,
             const typename Device::Operations& operations = {})
        : sum_(sum), size_(batch * config.context), threads_(sum.gpus()) {
        const int n = sum.gpus();
        if (batch % n != 0) {
            reject(batch, " sequences cannot be divided equally among ", n, " GPUs");
        }
        all_.reserve(static_cast<std::size_t>(n));
        for (int gpu = 0; gpu < n; ++gpu) {
            on(gpu, [&] { all_.emplace_back(config, batch / n, operations); });
        }
    }

    /// Where each tensor is in the arrays: the same on all GPUs.
    const Parameters& parameters() const noexcept { return all_[0].parameters(); }
    /// Every GPU resumes from this state.
    void load(const TrainingState& state) {
        each([&](Trainer<Device>& trainer, int) { trainer.load(state); });
    }
    /// As in Trainer, before each layer of each GPU, and in its thread.
    void ask(const std::function<void()>& question) {
        for (Trainer<Device>& trainer : all_) trainer.ask(question);
    }
    /// Those of the first GPU; the others are equal.
    [[nodiscard]] TrainingState save() const {
        sum_.use(0);
        return all_[0].save();
    }
    [[nodiscard]] std::vector<float> weights() const {
        sum_.use(0);
        return all_[0].weights();
    }
    [[nodiscard]] std::vector<Trainer<Device>>& all() noexcept { return all_; }

    /// As in Trainer, for the whole batch.
    /// @param last  the last batch of a step: the gradients of all GPUs are summed, those of a
    /// layer as soon as each GPU has them, while the backward pass continues
    double accumulate(const Batch& batch, float fraction, bool last) {
        const Batch whole = check_batch(batch, size_, parameters().config().vocabulary);
        const double N = counting(whole);
        const auto of_one = static_cast<float>(static_cast<double>(fraction) / N);
        const std::int64_t part = size_ / sum_.gpus();
        each([&](Trainer<Device>& trainer, int gpu) {
            trainer.start(part_of(whole, gpu * part, part), of_one,
                          [&](std::int64_t layer) { sum_.mark(gpu, layer); });
            sum_.mark(gpu, kAll);
        });
        if (last && sum_.gpus() > 1) add_up();
        std::vector<double> losses(all_.size());
        each([&](Trainer<Device>& trainer, int gpu) {
            losses[static_cast<std::size_t>(gpu)] = trainer.sum_of_losses();
        });
        return std::accumulate(losses.begin(), losses.end(), 0.0) / N;
    }

    /// One step on each GPU, from the same sums. Returns the norm of the gradient.
    double step(const StepOptions& options) {
        each([&](Trainer<Device>& trainer, int) { trainer.start_step(options); });
        double norm = 0;
        on(0, [&] { norm = all_[0].norm(); });
        return norm;
    }

private:
    static constexpr std::int64_t kAll = -1;  // the event after the whole backward pass

    // [add_up]
    // A layer's matrices are contiguous. The two tables, whose gradients are complete last, and all
    // norms and biases wait for the end of the backward pass.
    void add_up() {
        const Parameters& map = parameters();
        for (std::int64_t layer = map.config().layers; layer-- > 0;) {
            add_up(layer, map.matrices_begin(layer), map.matrices_begin(layer + 1));
        }
        add_up(kAll, 0, map.matrices_begin(0));
        add_up(kAll, map.decayed(), map.size());
        sum_.wait();
    }
    // [add_up]
    void add_up(std::int64_t mark, std::int64_t begin, std::int64_t end) {
        const lesson::Range range(mark == kAll ? "all-reduce"
                                               : sentence("all-reduce, layer ", mark));
        std::vector<float*> runs;
        for (Trainer<Device>& trainer : all_) runs.push_back(trainer.gradient_run() + begin);
        sum_.add_up(mark, runs, end - begin);
    }

    // An error message names the GPU.
    template <class F>
    void on(int gpu, const F& f) {
        named(gpu, sum_.gpus(), [&] {
            sum_.use(gpu);
            f();
        });
    }
    // f(trainer, gpu) for each GPU, in a separate host thread: a step has about a thousand launches.
    // If one thread made them all, the last GPU would wait for the launches of the others, and all
    // for its gradients.
    // [each]
    template <class F>
    void each(const F& f) {
        std::vector<std::exception_ptr> failures(all_.size());
        threads_.run([&](int gpu) {
            const auto i = static_cast<std::size_t>(gpu);
            try {
                on(gpu, [&] { f(all_[i], gpu); });
            } catch (...) {
                failures[i] = std::current_exception();
            }
        });
        for (const std::exception_ptr& failure : failures) {
            if (failure != nullptr) std::rethrow_exception(failure);
        }
    }
    // [each]

    Sum& sum_;
    std::int64_t size_;      // tokens of the whole batch
    gpt2::Threads threads_;  // one per GPU
    std::vector<Trainer<Device>> all_;
};

}  // namespace sixdays::day06_transformer_ops

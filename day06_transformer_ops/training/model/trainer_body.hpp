/// @file
/// The body of trainer_cpu.cpp and trainer_cuda.cu: the model, forward and backward.
#pragma once

#include <numeric>
#include <utility>

#include "day06_transformer_ops/training/model/counting_operations.hpp"
#include "day06_transformer_ops/training/model/trainer.hpp"

namespace sixdays::day06_transformer_ops {

/// The pitch of the logits, padded so that rows (of 50257) are aligned to 16 bytes, as float and as
/// bf16.
inline std::int64_t pitch_of_logits(const gpt2::Config& c, std::int64_t bytes) {
    const std::int64_t each = 16 / bytes;
    return (c.vocabulary + each - 1) / each * each;
}

/// Floats for this many numbers, rounded up to a multiple of 64.
inline std::int64_t room_of_activation(std::int64_t numbers, std::int64_t bytes = 4) {
    return (numbers * bytes + 255) / 256 * 64;
}

/// All memory between the operations, in floats. @param bytes  per operand element of products
inline std::int64_t activations_of(const gpt2::Config& c, std::int64_t batch, std::int64_t bytes) {
    const std::int64_t N = batch * c.context, C = N * c.channels, F = N * c.hidden;
    const auto floats = [](std::int64_t n) { return room_of_activation(n); };
    const auto operands = [&](std::int64_t n) { return room_of_activation(n, bytes); };
    // If operands are not float, the gradient of the logits needs separate memory, and each block keeps
    // its activated MLP (BlockKept::kKeepsActivated).
    const bool apart = bytes != 4;
    const std::int64_t block = 2 * floats(C) + 3 * operands(C) + operands(3 * C) +
                               (apart ? 2 : 1) * operands(F) + floats(N * c.heads);
    const std::int64_t once = (apart ? 0 : operands(F)) + 2 * floats(C) + operands(C);
    const std::int64_t logits_or_room =
        std::max(floats(N * pitch_of_logits(c, 4)), operands(3 * C) + operands(F));
    return c.layers * block + once + logits_or_room +
           (apart ? operands(N * pitch_of_logits(c, bytes)) : 0) + 2 * floats(N);
}

/// Kernels that round process eight numbers at a time.
inline const gpt2::Config& in_eights(const gpt2::Config& c, bool rounds) {
    const std::int64_t D = c.heads > 0 ? c.channels / c.heads : 0;
    if (rounds && (D % 8 != 0 || D > 128 || c.hidden % 8 != 0)) {
        reject("bf16 takes eight numbers at a time, but a head has ", D, " and ", "the MLP ",
               c.hidden, ": each must be a multiple of 8, and a head 128 at most");
    }
    return c;
}

template <class Device>
View<float> Trainer<Device>::take(const Shape& shape) {
    const View<float> part(activations_.data() + taken_, shape);
    taken_ += room_of_activation(part.size());
    return part;
}
template <class Device>
View<typename Device::Operand> Trainer<Device>::take_operand(const Shape& shape) {
    const View<Operand> part(reinterpret_cast<Operand*>(activations_.data() + taken_), shape);
    taken_ += room_of_activation(part.size(), sizeof(Operand));
    return part;
}

template <class Device>
Trainer<Device>::Trainer(const gpt2::Config& config, std::int64_t batch,
                         const typename Device::Operations& operations)
    : map_(in_eights(config, kRounds)),
      batch_(batch),
      parameters_(map_.size()),
      gradient_(map_.size()),
      first_(map_.size()),
      second_(map_.size()),
      ids_(batch * config.context),
      targets_(batch * config.context),
      places_(config.context),
      norm_(1),
      activations_(activations_of(config, batch, sizeof(Operand))),
      gradient_of_x_(batch * config.context * config.channels),
      rounded_(kRounds ? map_.decayed() : 1),
      op_(operations) {
    gradient_.fill_bytes(0);
    carve();
    std::vector<std::int64_t> places(static_cast<std::size_t>(config.context));
    std::iota(places.begin(), places.end(), std::int64_t{0});
    places_.upload(places.data(), config.context);
    if constexpr (!std::is_same_v<Device, Cpu>) {
        op_.weights = {parameters_.data(), rounded_.data()};
        CountingOperations counting;
        there_and_back(counting, [](std::int64_t) {});
        update(counting, {});
        workspace_ = Buffer<std::byte>(counting.bytes);
        workspace_.fill_bytes(0);
        op_.workspace = workspace_;
    }
}

template <class Device>
void Trainer<Device>::carve() {
    const gpt2::Config& c = map_.config();
    const std::int64_t B = batch_, T = c.context, C = c.channels, F = c.hidden;
    constexpr bool kKeeps = BlockKept<Operand>::kKeepsActivated;
    const View<Operand> shared_activated = kKeeps ? View<Operand>() : take_operand({B, T, F});
    for (std::int64_t l = 0; l < c.layers; ++l) {
        x_.push_back(take({B, T, C}));
        BlockKept<Operand> k;
        k.normed1 = take_operand({B, T, C}), k.qkv = take_operand({B, T, 3 * C});
        k.mixed = take_operand({B, T, C});
        k.log_sums = take({B, c.heads, T});
        k.middle = take({B, T, C}), k.normed2 = take_operand({B, T, C});
        k.hidden = take_operand({B, T, F}),
        k.activated = kKeeps ? take_operand({B, T, F}) : shared_activated;
        kept_.push_back(k);
    }
    x_.push_back(take({B, T, C}));
    normed_ = take_operand({B, T, C}), grad_ = View<float>(gradient_of_x_.data(), Shape{B, T, C});
    room_.d_normed = take({B, T, C});
    // When the backward pass reaches the first block, the logits are no longer needed.
    const std::int64_t shared = taken_;
    room_.d_qkv = take_operand({B, T, 3 * C}), room_.d_hidden = take_operand({B, T, F});
    const std::int64_t end = std::exchange(taken_, shared);
    logits_ = slice(take({B, T, pitch_of_logits(c, 4)}), 2, 0, c.vocabulary);
    taken_ = std::max(taken_, end);
    if constexpr (kRounds) {
        d_logits_ = slice(take_operand({B, T, pitch_of_logits(c, 2)}), 2, 0, c.vocabulary);
    } else {
        d_logits_ = logits_;  // the gradient overwrites them
    }
    losses_ = take({B, T}), d_losses_ = take({B, T});
}

template <class Device>
template <class Operations, class LayerDone>
void Trainer<Device>::there_and_back(Operations& op, const LayerDone& layer_done) {
    const gpt2::Config& c = map_.config();
    const auto L = static_cast<std::size_t>(c.layers);
    const float* p = parameters_.data();
    float* d = gradient_.data();
    const View<const std::int64_t> ids(ids_.data(), Shape{batch_, c.context});
    const View<const std::int64_t> targets(targets_.data(), ids.shape());
    const View<const std::int64_t> places(places_.data(), Shape{c.context});
    const View<const float> tokens = map_.view(p, "token_embd.weight");
    const View<const float> positions = map_.view(p, "position_embd.weight");
    const View<float> d_tokens = map_.view(d, "token_embd.weight");

    op.embed(tokens, ids, positions, places, x_[0]);
    for (std::size_t l = 0; l < L; ++l) {
        if (question_) question_();
        const BlockParameters block = map_.block(p, static_cast<std::int64_t>(l));
        block_forward(op, block, x_[l], kept_[l], x_[l + 1]);
    }
    op.layer_norm(x_[L], map_.norm(p, "output_norm"), normed_);
    op.matmul(normed_, transpose(tokens), {}, logits_);
    op.cross_entropy(logits_, targets, losses_);

    op.cross_entropy_backward(logits_, targets, losses_, d_losses_, d_logits_);
    op.linear_backward(normed_, transpose(tokens), d_logits_, room_.d_normed,
                       {transpose(d_tokens), {}});
    op.layer_norm_backward(x_[L], map_.norm(p, "output_norm"), room_.d_normed, grad_,
                           map_.norm(d, "output_norm"));
    for (std::size_t l = L; l-- > 0;) {
        const auto layer = static_cast<std::int64_t>(l);
        if (question_) question_();
        block_backward(op, map_.block(p, layer), x_[l], kept_[l], room_, grad_,
                       map_.block(d, layer));
        layer_done(layer);
    }
    // The second gradient of the tied table: the head's came first, now the embedding's.
    op.embed_backward(grad_, ids, places, {d_tokens, map_.view(d, "position_embd.weight")});
}

template <class Device>
template <class Operations>
void Trainer<Device>::update(Operations& op, const StepOptions& options) {
    const View<double> norm(norm_.data(), Shape{});
    const View<float> gradient(gradient_.data(), Shape{map_.size()});
    op.gradient_norm(gradient, norm);
    const auto part = [&](std::int64_t begin, std::int64_t end, float decay) {
        const auto of = [&](Buffer<float>& run) {
            return View<float>(run.data() + begin, Shape{end - begin});
        };
        AdamWOptions o;
        o.rate = static_cast<float>(options.rate);
        o.beta1 = options.beta1, o.beta2 = options.beta2;
        o.decay = decay, o.step = step_, o.most = options.most, o.norm = norm;
        // Only matrices, which decay, are operands of products.
        const bool rounds = kRounds && begin == 0;
        const View<bf16> rounded(rounds ? rounded_.data() : nullptr, Shape{end - begin});
        op.adamw(o, of(gradient_), of(first_), of(second_), of(parameters_), rounded);
    };
    part(0, map_.decayed(), options.decay);
    part(map_.decayed(), map_.size(), 0);  // norms and biases do not decay
}

template <class Device>
double Trainer<Device>::accumulate(const Batch& batch, float fraction) {
    const Batch checked = check_batch(batch, losses_.size(), map_.config().vocabulary);
    const double N = counting(checked);
    start(checked, static_cast<float>(static_cast<double>(fraction) / N), [](std::int64_t) {});
    return sum_of_losses() / N;
}

template <class Device>
void Trainer<Device>::start(const Batch& batch, float each,
                            const std::function<void(std::int64_t)>& layer_done) {
    counts_ = batch.counts;
    // A target that does not count has a loss, but no gradient.
    std::vector<float> d_losses(counts_.size());
    for (std::size_t i = 0; i < counts_.size(); ++i) d_losses[i] = counts_[i] ? each : 0;
    ids_.upload(batch.ids.data(), ids_.size());
    targets_.upload(batch.targets.data(), targets_.size());
    activations_.upload(d_losses.data(), d_losses_.size(), d_losses_.data - activations_.data());
    gradient_of_x_.fill_bytes(0);  // which the norms' backward passes add to
    there_and_back(op_, layer_done);
}

template <class Device>
double Trainer<Device>::sum_of_losses() const {
    const std::vector<float> losses =
        activations_.download(losses_.data - activations_.data(), losses_.size());
    double sum = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) sum += counts_[i] ? double{losses[i]} : 0;
    return sum;
}

template <class Device>
double Trainer<Device>::step(const StepOptions& options) {
    start_step(options);
    return norm();
}

template <class Device>
void Trainer<Device>::start_step(const StepOptions& options) {
    ++step_;
    update(op_, options);
    gradient_.fill_bytes(0);
}

template <class Device>
void Trainer<Device>::load(const TrainingState& state) {
    step_ = state.step;
    parameters_.upload(state.parameters.data(), map_.size());
    first_.upload(state.first.data(), map_.size());
    second_.upload(state.second.data(), map_.size());
    if constexpr (kRounds) {
        const Shape matrices = {map_.decayed()};
        gpt2::narrow_cuda(View<const float>(parameters_.data(), matrices),
                          View<bf16>(rounded_.data(), matrices), gpt2::Before::nothing, op_.stream);
    }
}

template <class Device>
TrainingState Trainer<Device>::save() const {
    return {step_, parameters_.download(), first_.download(), second_.download()};
}

}  // namespace sixdays::day06_transformer_ops

/// @file
/// The CUDA versions, each timed with two events: where a step's time goes.
#pragma once

#include <list>
#include <map>
#include <string>

#include "common/gpu/timer.hpp"
#include "day06_transformer_ops/training/model/operations.hpp"

namespace sixdays::day06_transformer_ops {

class TimedOperations {
public:
    explicit TimedOperations(const CudaOperations& op) : op_(op) {}

    /// Seconds per operation, over all calls since the last query; waits for them.
    [[nodiscard]] std::map<std::string, double> seconds() {
        std::map<std::string, double> by_name;
        for (auto& [name, timers] : timers_) {
            for (gpu::Timer& timer : timers) by_name[name] += timer.seconds();
        }
        timers_.clear();
        return by_name;
    }

    void embed(In tokens, Ids ids, In positions, Ids places, Out out) {
        timed("embed", [&] { op_.embed(tokens, ids, positions, places, out); });
    }
    void layer_norm(In in, const NormParameters& p, const auto& out) {
        timed("layer norm", [&] { op_.layer_norm(in, p, out); });
    }
    void matmul(const auto& a, In b, const Epilogue& e, const auto& out) {
        timed("linear" + sizes(b), [&] { op_.matmul(a, b, e, out); });
    }
    void attention(const auto& q, const auto& k, const auto& v, const auto& out, Out log_sums) {
        timed("attention", [&] { op_.attention(q, k, v, out, log_sums); });
    }
    void activate(Activation what, const auto& in, const auto& out) {
        timed("activation", [&] { op_.activate(what, in, out); });
    }
    void add(In a, In b, Out out) {
        timed("add", [&] { op_.add(a, b, out); });
    }
    void cross_entropy(In logits, Ids targets, Out out) {
        timed("cross-entropy", [&] { op_.cross_entropy(logits, targets, out); });
    }

    void embed_backward(In grad, Ids ids, Ids places, const EmbedGradients& d) {
        timed("embed back", [&] { op_.embed_backward(grad, ids, places, d); });
    }
    void layer_norm_backward(In in, const NormParameters& p, In grad, Out d_in,
                             const NormGradients& d) {
        timed("layer norm back", [&] { op_.layer_norm_backward(in, p, grad, d_in, d); });
    }
    void linear_backward(const auto& in, In weight, const auto& grad, const auto& d_in,
                         const LinearGradients& d) {
        timed("linear back" + sizes(weight),
              [&] { op_.linear_backward(in, weight, grad, d_in, d); });
    }
    void attention_backward(const auto& q, const auto& k, const auto& v, const auto& out,
                            In log_sums, In grad, const auto& d) {
        timed("attention back", [&] { op_.attention_backward(q, k, v, out, log_sums, grad, d); });
    }
    void activate_backward(Activation what, const auto& in, const auto& grad, const auto& out) {
        timed("activation back", [&] { op_.activate_backward(what, in, grad, out); });
    }
    void cross_entropy_backward(In logits, Ids targets, In losses, In grad, const auto& out) {
        timed("cross-entropy back",
              [&] { op_.cross_entropy_backward(logits, targets, losses, grad, out); });
    }

    void gradient_norm(In gradient, const View<double>& out) {
        timed("gradient norm", [&] { op_.gradient_norm(gradient, out); });
    }
    void adamw(const AdamWOptions& o, In gradient, Out first, Out second, Out parameters,
               Out16 rounded) {
        timed("AdamW", [&] { op_.adamw(o, gradient, first, second, parameters, rounded); });
    }

private:
    static std::string sizes(In weight) {
        return " " + std::to_string(weight.extent(0)) + " to " + std::to_string(weight.extent(1));
    }
    template <class Call>
    void timed(const std::string& name, const Call& call) {
        gpu::Timer& timer = timers_[name].emplace_back();
        timer.start(op_.stream);
        call();
        timer.stop(op_.stream);
    }

    CudaOperations op_;
    std::map<std::string, std::list<gpu::Timer>> timers_;
};

}  // namespace sixdays::day06_transformer_ops

// The argument checks of AdamW, and the numbers that are the same for all parameters.
#include "day06_transformer_ops/training/adamw/adamw.hpp"

#include <algorithm>
#include <cmath>

#include "day06_transformer_ops/training/reject.hpp"

namespace sixdays::day06_transformer_ops {

AdamWNumbers adamw_numbers(const AdamWOptions& o) {
    const auto step = static_cast<double>(o.step);
    const double c1 = 1 - std::pow(double{o.beta1}, step), c2 = 1 - std::pow(double{o.beta2}, step);
    AdamWNumbers n;
    n.rate = o.rate, n.beta1 = o.beta1, n.beta2 = o.beta2, n.eps = o.eps;
    n.kept = static_cast<float>(1 - double{o.rate} * double{o.decay});
    n.rate1 = static_cast<float>(double{o.rate} / c1);
    n.root2 = static_cast<float>(std::sqrt(c2));
    n.most = o.most, n.norm = o.norm;
    return n;
}

void check_adamw(const AdamWOptions& o, const View<const float>& gradient, const View<float>& first,
                 const View<float>& second, const View<float>& parameters,
                 const View<bf16>& rounded) {
    static constexpr const char* kOp = "adamw";
    const auto beta = [](const char* name, float b) {
        if (!(b >= 0 && b < 1)) {
            reject(kOp, ": ", name, " is ", b, ", but must be 0 or more and below 1");
        }
    };
    beta("beta1", o.beta1);
    beta("beta2", o.beta2);
    const auto least = [](const char* name, float x) {
        if (!(x >= 0) || std::isinf(x)) {
            reject(kOp, ": ", name, " is ", x, ", but must be 0 or more, and finite");
        }
    };
    least("rate", o.rate);
    least("decay", o.decay);
    least("eps", o.eps);
    least("most", o.most);
    if (o.step < 1) {
        reject(kOp, ": step is ", o.step, ", but steps are counted from 1");
    }
    if (o.most > 0 && (o.norm.data == nullptr || o.norm.rank() != 0)) {
        reject(kOp, ": clipping to ", o.most, " needs the norm of all gradients, of rank 0");
    }
    const View<const float> views[] = {gradient, first, second, parameters};
    const char* const names[] = {"gradient", "first", "second", "parameters"};
    const auto run = [&](const char* name, const auto& v) {
        require_run(kOp, name, v);
        if (!equivalent(v.layout, parameters.layout) && v.size() > 0) {
            reject(kOp, ": ", name, " has ", v.layout, ", but parameters ", parameters.layout,
                   "; their elements must be in the same order");
        }
    };
    const bool normed = o.norm.data != nullptr;
    for (int i = 0; i < 4; ++i) {
        require_shape(kOp, names[i], views[i], parameters.shape());
        run(names[i], views[i]);
        if (normed && i > 0) require_apart(kOp, "norm", o.norm, names[i], views[i]);
        for (int j = std::max(i + 1, 1); j < 4; ++j) {
            require_apart(kOp, names[i], views[i], names[j], views[j]);
        }
        if (rounded.data != nullptr) require_apart(kOp, names[i], views[i], "rounded", rounded);
    }
    if (rounded.data == nullptr) return;
    require_extents(kOp, "rounded", rounded, parameters.shape());
    run("rounded", rounded);
    if (normed) require_apart(kOp, "norm", o.norm, "rounded", rounded);
}

void check_gradient_norm(const View<const float>& gradient, const View<double>& out) {
    require_run("gradient_norm", "gradient", gradient);
    require_memory("gradient_norm", "gradient", gradient);
    require_gradient("gradient_norm", "out", out, {});
    require_apart("gradient_norm", "gradient", gradient, "out", out);
}

std::int64_t gradient_norm_workspace_bytes() {
    return gpu::bytes_to_carve([](gpu::Carver& c) { return c.take<double>({kNormBlocks}); });
}

double rate_at(const Schedule& s, std::int64_t step) {
    if (step < s.warm_up) {
        return s.most * static_cast<double>(step + 1) / static_cast<double>(s.warm_up);
    }
    if (step >= s.steps) return s.least;
    const double way =
        static_cast<double>(step - s.warm_up) / static_cast<double>(s.steps - s.warm_up);
    return s.least + (s.most - s.least) * 0.5 * (1 + std::cos(M_PI * way));
}

}  // namespace sixdays::day06_transformer_ops

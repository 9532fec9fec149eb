// One workspace for all calls: any operation, shape and path, in any order, whatever the calls
// before have left in it.
#include "day04_argmax/reduce.hpp"

#include <optional>
#include <utility>

#include "day04_argmax/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;
using namespace sixdays::testing;

namespace {

// Whole numbers, so that every order of adding gives the same bits; and products stay small.
Tensor<float> numbers_for(bool product, const Shape& shape, std::uint64_t seed) {
    Tensor<float> x = seeded_integers<float>(shape, seed, -9, 9);
    if (!product) return x;
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = k % 997 == 5 ? -2.0f : 1.0f;
    return x;
}

// An operation on values of its own, and what the loop says.
class Call {
public:
    // what: argmax, argmin, then the reductions
    Call(int what, const Shape& shape, const Dims& dims, std::uint64_t seed)
        : what_(what), dims_(dims), in_(numbers_for(what == 6, shape, seed)) {
        const Tensor<float> values = numbers_for(what == 6, shape, seed);
        const Shape to = lines().first.layout.shape;
        if (what < 2) {
            indices_.emplace(to);
            (what == 0 ? argmax_cpu : argmin_cpu)(values.view(), dim(), indices_->view());
        } else {
            values_.emplace(to);
            reduce_cpu(reduction(), values.view(), dims, values_->view());
        }
    }

    Lines lines() const { return lines_of("test", in_.view(), dims_); }
    std::string text() const {
        return (what_ == 0   ? "argmax"
                : what_ == 1 ? "argmin"
                             : name(reduction())) +
               (" of " + to_string(in_.view().shape())) + " over " + to_string(dims_);
    }

    Comparison by(LinePath path, const gpu::Workspace& memory) const {
        if (indices_) {
            DeviceOut<std::int64_t> got(indices_->view().shape());
            const gpu::Launch<LinePath> how = {.path = path, .workspace = memory};
            (what_ == 0 ? argmax_cuda : argmin_cuda)(in_.view(), dim(), got.view(), how);
            return got.matches(*indices_);
        }
        DeviceOut<float> got(values_->view().shape());
        reduce_cuda(reduction(), in_.view(), dims_, got.view(),
                    {.path = path, .workspace = memory});
        return got.matches(*values_);
    }

private:
    int dim() const { return static_cast<int>(dims_[0]); }
    Reduction reduction() const { return static_cast<Reduction>(what_ - 2); }

    int what_;
    Dims dims_;
    DeviceIn<float> in_;
    std::optional<HostOut<std::int64_t>> indices_;
    std::optional<HostOut<float>> values_;
};

// Split takes the first ones; the others leave the workspace alone.
void call_at_random(const std::vector<std::pair<Shape, Dims>>& shapes, int calls) {
    std::vector<Call> all;
    for (const auto& [shape, dims] : shapes) {
        for (int what = dims.rank == 1 ? 0 : 2; what < 7; ++what) {
            all.emplace_back(what, shape, dims, all.size());
        }
    }
    SharedWorkspace shared(1 << 20);
    for (int call = 0; call < calls; ++call) {
        const auto bits = testing::detail::random_bits(4, call);
        const Call& it = all[bits % all.size()];
        const Lines lines = it.lines();
        // Half of the calls by the path that shares lines among blocks.
        LinePath path = bits >> 32 & 1 ? LinePath::split : kPaths[(bits >> 40) % std::size(kPaths)];
        if (!takes(path, lines) || argmax_only(path)) path = choose_path(lines, true);
        const std::int64_t bytes = workspace_bytes("test", lines, path);
        CAPTURE(call, it.text(), name(path));
        CHECK(it.by(path, shared.next(bytes)));
        CHECK(shared.kept());
    }
}

TEST_CASE("operations, shapes and paths share one workspace, in any order",
          "[day04][argmax][argmin][reduce][workspace][small]") {
    call_at_random({{{1, 40000}, {1}},
                    {{1, 9000}, {1}},
                    {{3, 8192}, {1}},
                    {{500, 33}, {1}},
                    {{64, 40}, {0}},
                    {{2, 50, 90}, {1, 2}},
                    {{1, 1500}, {1}}},
                   60);
}

TEST_CASE("long lines share one workspace too",
          "[day04][argmax][argmin][reduce][workspace][full]") {
    call_at_random({{{1, 300000}, {1}}, {{1, 9000}, {1}}, {{263, 8192}, {1}}, {{1024, 1100}, {1}}},
                   40);
}

}  // namespace

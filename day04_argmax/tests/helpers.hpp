/// @file
/// Helpers of Day 04's tests.
#pragma once

#include <cstdint>
#include <vector>

#include "common/gpu/tile.hpp"
#include "common/tensor/packings.hpp"
#include "common/tensor/transform.hpp"
#include "common/testing/shared_workspace.hpp"
#include "common/testing/testing.hpp"
#include "day04_argmax/reduce.op.hpp"

namespace sixdays::day04_argmax {

using testing::Comparison, testing::DeviceIn, testing::DeviceOut, testing::HostIn, testing::HostOut,
    testing::Lead;

inline const std::vector<LinePath> kPaths = [] {
    std::vector<LinePath> paths = {
        LinePath::one_thread, LinePath::shared_tree, LinePath::walk,    LinePath::warp,
        LinePath::vectorized, LinePath::short_lines, LinePath::strided, LinePath::split};
    if (gpu::has_tile()) paths.push_back(LinePath::tile);
    return paths;
}();

/// The path that only argmax supports.
inline bool argmax_only(LinePath path) {
    return path == LinePath::shared_tree;
}

inline const std::vector<Reduction> kReductions = {Reduction::max, Reduction::min, Reduction::sum,
                                                   Reduction::mean, Reduction::product};

/// Memory for step 08, whose counters must be 0 after every call.
class Memory {
public:
    explicit Memory(const Lines& lines)
        : bytes_(takes(LinePath::split, lines) ? workspace_bytes("test", lines, LinePath::split)
                                               : 0),
          shared_(bytes_) {}
    gpu::Workspace workspace() { return shared_.next(bytes_); }
    Comparison kept() const { return shared_.kept(); }

private:
    std::int64_t bytes_;
    testing::SharedWorkspace shared_;
};

inline Tensor<std::int64_t> second_formula(const View<const float>& in, int dim,
                                           bool largest = true) {
    Tensor<std::int64_t> answer(without(in.layout.shape, dim));
    for (const Index& at : packings::indices_of(answer.shape())) {
        const auto line = line_at(in, dim, at);
        answer.view()(at) = largest ? second_argmax(line) : second_argmin(line);
    }
    return answer;
}

/// The CPU reference and every path that supports these views equal the independent formula.
inline void check_all(const Tensor<float>& values, const Layout& layout, int dim, const Layout& out,
                      std::int64_t lead = 0, bool largest = true) {
    testing::Operation op = argmax_operation(values.shape(), dim, largest);
    op.operands[0].with(testing::taken_from(values)).placed(layout, lead);
    op.operands[1].placed(out);
    op.without_path = false;
    CHECK(computes_its_result(op));
}
inline void check_all(const Tensor<float>& values, int dim, std::int64_t lead = 0) {
    check_all(values, row_major(values.shape()), dim, row_major(without(values.shape(), dim)),
              lead);
}

}  // namespace sixdays::day04_argmax

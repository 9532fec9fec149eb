/// @file
/// The launchers of the ladder, one idea per file: `diff` two adjacent steps to see it. Step 1 is
/// the naive kernel in argmax_cuda.cu. Launchers check nothing: LinePath lists what each supports.
/// Step 2 supports argmax only; from step 3 on each is instantiated for Pick<Largest>,
/// Pick<Smallest>, Fold<Add> and Fold<Multiply>.
#pragma once

#include "common/gpu/stream.hpp"
#include "common/gpu/workspace.hpp"
#include "common/tensor/walk.hpp"
#include "day04_argmax/lines.hpp"
#include "day04_argmax/steps/argmax/operations.hpp"

namespace sixdays::day04_argmax {

void launch_shared_tree(const Lines& lines, const View<std::int64_t>& out, gpu::Stream stream);
template <class OP>
void launch_walk(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream);
template <class OP>
void launch_warp(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream);
template <class OP>
void launch_vectorized(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream);
template <class OP>
void launch_short_lines(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream);
template <class OP>
void launch_strided(const Lines& lines, const Layout& out, const OP& op, gpu::Stream stream);
template <class OP>
void launch_split(const char* name, const Lines& lines, const Layout& out, const OP& op,
                  gpu::Workspace workspace, gpu::Stream stream);

/// Where line number k begins, of[0] in `in`, and where its output goes, of[1].
template <int RANK>
using LineWalk = Walk<RANK, 2>;

/// Calls f(walk, in, op) for pieces of fewer than 2^31 lines that together cover all lines. Lines
/// are numbered in memory order.
template <class OP, class F>
void walk_lines(const Lines& lines, const Layout& out, const OP& op, const F& f) {
    in_pieces(
        kWalkable,
        [&](const View<const float>& first, const Cut& to) {
            const auto layouts = simplify(first.layout, to.layout);
            const auto call = [&](auto rank) {
                constexpr int RANK = rank;
                f(LineWalk<RANK>(layouts), first.data, op.moved(to.first));
            };
            if (layouts[0].rank() <= 2) return call(std::integral_constant<int, 2>{});
            call(std::integral_constant<int, kMaxRank>{});
        },
        lines.first, Cut{out});
}

}  // namespace sixdays::day04_argmax

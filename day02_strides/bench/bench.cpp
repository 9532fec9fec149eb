#include "day02_strides/bench/bench.hpp"

#include <memory>
#include <string>

#include "common/gpu/tile.hpp"
#include "day02_strides/conventions.hpp"
#include "day02_strides/pack.hpp"
#include "day02_strides/pitched.hpp"
#include "day02_strides/run/timed.hpp"

namespace sixdays::day02_strides {
namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 26;  // floats: 256 MiB, far beyond any cache

void pack_matrix(lesson::Report& report, const std::string& op, const Layout& from) {
    const auto pair = packing(from);
    lesson::Version v =
        version(op, "pack_cuda", from.shape, name(choose_pack(pair->in(), pair->out())));
    v.check = trial(pair, [](auto in, auto out) { pack_cuda(in, out); });
    report.port(v);
}

void pitched_matrix(lesson::Report& report, const std::string& op, std::int64_t K,
                    std::int64_t in_pitch, std::int64_t out_pitch, bool also_twin) {
    const std::int64_t M = kLarge / K;
    const auto pair = std::make_shared<Pair>(pitched_cpu, pitched_rows(M, K, in_pitch),
                                             pitched_rows(M, K, out_pitch));
    const std::string pitches =
        " (pitch " + std::to_string(in_pitch) + " to " + std::to_string(out_pitch) + ")";
    if (also_twin) {
        lesson::Version v = version(op, "one element per thread" + pitches, {M, K});
        v.check = trial(pair, [](auto in, auto out) {
            pitched_cuda(in, out, {.path = PitchedPath::one_element});
        });
        report.port(v);
    }
    lesson::Version v = version(op, "pitched_cuda" + pitches, {M, K},
                                name(choose_pitched(pair->in(), pair->out())));
    v.check = trial(pair, [](auto in, auto out) { pitched_cuda(in, out); });
    report.port(v);
}

// Tile kernels, which are never the default: a stack of heads, and padded rows.
void in_tiles(lesson::Report& report) {
    if (!gpu::has_tile()) return;
    const auto stack =
        packing(Layout({64, 12, 1024, 64}, {1024 * 12 * 64, 64, 12 * 64, 1}));  // as in the steps
    lesson::Version packed = version("pack", name(PackPath::tile), {64, 12, 1024, 64});
    packed.check =
        trial(stack, [](auto in, auto out) { pack_cuda(in, out, {.path = PackPath::tile}); });
    report.port(packed);

    const std::int64_t K = 4096, M = kLarge / K;
    const auto rows =
        std::make_shared<Pair>(pitched_cpu, pitched_rows(M, K, K + 32), pitched_rows(M, K, K + 64));
    lesson::Version v = version("pitched", "tile (pitch 4128 to 4160)", {M, K});
    v.check =
        trial(rows, [](auto in, auto out) { pitched_cuda(in, out, {.path = PitchedPath::tile}); });
    report.port(v);
}

}  // namespace

void bench_all(lesson::Report& report) {
    pack_ladder(report, 64);
    const std::int64_t K = 4096, M = kLarge / K;
    pack_matrix(report, "pack_contiguous", row_major({M, K}));
    pack_matrix(report, "pack_pitched", pitched_rows(M, K, K + 32));
    pack_matrix(report, "pack_odd_pitch", pitched_rows(M, K, K + 1));
    pack_matrix(report, "pack_flipped", Layout({M, K}, {-K, 1}));
    for (const std::int64_t row : {std::int64_t{32}, std::int64_t{1024}, std::int64_t{4096}}) {
        // The naive kernel has no loop over y: 2^21 rows are too many for its grid.
        pitched_matrix(report, "pitched", row, row + 32, row + 64, row > 32);
        pitched_matrix(report, "pitched_odd", row, row + 1, row + 32, false);
    }
    in_tiles(report);
    time_sweep(report, kStrides);
}

}  // namespace sixdays::day02_strides

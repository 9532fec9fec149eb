// For comparison: CUB, NVIDIA's library, which comes with nvcc. Prints rows for docs/results, in
// the format of --bench. Built where nvcc is found: build/gpu/bin/day04_argmax_cub.
//
// CUB's ArgMax compares with <, so it never chooses a NaN, and it writes 32-bit indices with their
// values. The inputs here contain no NaN, and its indices must equal argmax_cuda's.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cstdio>
#include <cub/cub.cuh>
#include <vector>

#include "common/bench/gpu_limits.hpp"
#include "common/bench/measure.hpp"
#include "common/gpu/check.hpp"
#include "common/lesson/csv.hpp"
#include "day04_argmax/argmax.hpp"

using namespace sixdays;
using namespace sixdays::day04_argmax;

namespace {

using Found = cub::KeyValuePair<int, float>;

/// The offset at which segment k begins.
struct Begin {
    std::int64_t length;
    __host__ __device__ std::int64_t operator()(std::int64_t k) const { return k * length; }
};

std::vector<float> noise() {
    std::vector<float> x(1000003);  // a prime period, so no two lines are equal
    std::uint64_t state = 1;
    for (float& value : x) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        value = static_cast<float>(static_cast<std::int64_t>(state >> 40) - (1 << 23)) * 0x1p-23f;
    }
    return x;
}

bool print_row(std::int64_t lines, std::int64_t length, const bench::Limits& limits) {
    const Shape shape{lines, length};
    const std::int64_t n = lines * length;
    const int sets = bench::sets_past_cache(4 * n);
    gpu::Buffer<float> in(n * sets);
    const std::vector<float> x = noise();
    const auto period = static_cast<std::int64_t>(x.size());
    for (std::int64_t at = 0; at < in.size(); at += period) {
        in.upload(x.data(), std::min(period, in.size() - at), at);
    }
    gpu::Buffer<Found> out(lines);
    const auto begin =
        thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), Begin{length});
    std::size_t bytes = 0;
    const auto call = [&](void* room, int set) {
        SIXDAYS_CUDA(cub::DeviceSegmentedReduce::ArgMax(room, bytes, in.data() + set * n,
                                                        out.data(), lines, begin, begin + 1));
    };
    call(nullptr, 0);  // returns the size of the workspace
    gpu::Buffer<std::byte> room(static_cast<std::int64_t>(bytes) + 1);
    const bench::Seconds seconds =
        bench::gpu_seconds({}, [&](int run) { call(room.data(), run % sets); }, {}).run;

    call(room.data(), 0);
    gpu::Buffer<std::int64_t> ours(lines);
    argmax_cuda({in.data(), shape}, 1, ours.view({lines}));
    const std::vector<Found> theirs = out.download();
    const std::vector<std::int64_t> want = ours.download();
    bool same = true;
    for (std::size_t k = 0; k < want.size(); ++k) same &= theirs[k].key == want[k];

    lesson::Version v;
    v.op = "argmax, dim 1";
    v.version = "CUB segmented";
    v.shape = to_string(shape);
    v.work.bytes_read = 4.0 * static_cast<double>(n);
    v.work.bytes_written = 8.0 * static_cast<double>(lines);
    std::printf("%s\n", lesson::csv_row(v, seconds, 0, limits).c_str());
    return same;
}

}  // namespace

int main() {
    const bench::Limits limits = bench::measure_gpu_limits();
    bool same = true;
    for (const auto& [lines, length] : {std::pair<std::int64_t, std::int64_t>{8192, 32768},
                                        {32768, 8192},
                                        {4096, 50257},
                                        {262144, 1024},
                                        {1 << 20, 17},
                                        {1 << 24, 16}}) {
        same &= print_row(lines, length, limits);
    }
    if (!same) std::printf("CUB and argmax_cuda return different indices.\n");
    return same ? 0 : 1;
}

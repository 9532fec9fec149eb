// The ports: a warp takes a row. Its lanes all read the same id, which is one request, and then
// walk the row side by side. The same kernels move rows of floats and rows of quads (float4).
#include "day03_views/combine_rows.hpp"

#include "common/gpu/launch.hpp"

namespace sixdays::day03_views {

// --- kernels -------------------------------------------------------------------------------------
namespace {

constexpr int kLanes = 32;
constexpr int kWarps = 8;  // rows of a block
constexpr int kEach = 4;   // loads of a lane under way

template <class T>
__device__ T nan_in_each();
template <>
__device__ float nan_in_each<float>() {
    return nanf("");
}
template <>
__device__ float4 nan_in_each<float4>() {
    return make_float4(nanf(""), nanf(""), nanf(""), nanf(""));
}

// [gather_rows]
template <class T>
__global__ void gather_rows_kernel(const __grid_constant__ View<const T> table,
                                   const __grid_constant__ View<const std::int64_t> ids,
                                   const __grid_constant__ View<T> out) {
    const std::int64_t N = out.extent(0), C = out.extent(1), V = table.extent(0);
    const std::int64_t n = std::int64_t{blockIdx.x} * kWarps + threadIdx.y;
    if (n >= N) return;
    const std::int64_t id = ids(n);
    const bool known = 0 <= id && id < V;
    for (std::int64_t first = threadIdx.x; first < C; first += kLanes * kEach) {
        T x[kEach];
        for (int j = 0; j < kEach; ++j) {
            const std::int64_t c = first + j * kLanes;
            if (c < C) x[j] = known ? table(id, c) : nan_in_each<T>();
        }
        for (int j = 0; j < kEach; ++j) {
            const std::int64_t c = first + j * kLanes;
            if (c < C) out(n, c) = x[j];
        }
    }
}
// [gather_rows]

// [scatter_rows]
template <class T>
__global__ void scatter_rows_kernel(const __grid_constant__ View<const T> in,
                                    const __grid_constant__ View<const std::int64_t> ids,
                                    const __grid_constant__ View<T> out) {
    const std::int64_t N = in.extent(0), C = in.extent(1), V = out.extent(0);
    const std::int64_t n = std::int64_t{blockIdx.x} * kWarps + threadIdx.y;
    if (n >= N) return;
    const std::int64_t id = ids(n);
    if (id < 0 || id >= V) return;
    for (std::int64_t first = threadIdx.x; first < C; first += kLanes * kEach) {
        T x[kEach];
        for (int j = 0; j < kEach; ++j) {
            const std::int64_t c = first + j * kLanes;
            if (c < C) x[j] = in(n, c);
        }
        for (int j = 0; j < kEach; ++j) {
            const std::int64_t c = first + j * kLanes;
            if (c < C) out(id, c) = x[j];
        }
    }
}
// [scatter_rows]

}  // namespace

// --- launchers -----------------------------------------------------------------------------------
namespace {

// A matrix of floats as a matrix of quads: a fourth of the columns, and a quad is four floats long.
Layout in_quads(const Layout& rows) {
    return Layout({rows.extent(0), rows.extent(1) / 4}, {rows.stride(0) / 4, 1});
}
View<const float4> quads(const View<const float>& rows) {
    return {reinterpret_cast<const float4*>(rows.data), in_quads(rows.layout)};
}
View<float4> quads(const View<float>& rows) {
    return {reinterpret_cast<float4*>(rows.data), in_quads(rows.layout)};
}

}  // namespace

void gather_rows_cuda(View<const float> table, View<const std::int64_t> ids, View<float> out,
                      gpu::Stream stream) {
    check_gather_rows(table, ids, out);
    if (out.size() == 0) return;
    const dim3 block(kLanes, kWarps);
    const unsigned grid = gpu::blocks_for(out.extent(0), kWarps);
    switch (choose_rows(table, out)) {
        case RowsPath::quads:
            gather_rows_kernel<float4><<<grid, block, 0, stream>>>(quads(table), ids, quads(out));
            return gpu::check_launch("gather_rows_kernel<float4>", grid, block);
        case RowsPath::any_layout:
            gather_rows_kernel<float><<<grid, block, 0, stream>>>(table, ids, out);
            return gpu::check_launch("gather_rows_kernel<float>", grid, block);
    }
}

void scatter_rows_cuda(View<const float> in, View<const std::int64_t> ids, View<float> out,
                       gpu::Stream stream) {
    check_scatter_rows(in, ids, out);
    if (in.size() == 0 || out.size() == 0) return;
    const dim3 block(kLanes, kWarps);
    const unsigned grid = gpu::blocks_for(in.extent(0), kWarps);
    switch (choose_rows(in, out)) {
        case RowsPath::quads:
            scatter_rows_kernel<float4><<<grid, block, 0, stream>>>(quads(in), ids, quads(out));
            return gpu::check_launch("scatter_rows_kernel<float4>", grid, block);
        case RowsPath::any_layout:
            scatter_rows_kernel<float><<<grid, block, 0, stream>>>(in, ids, out);
            return gpu::check_launch("scatter_rows_kernel<float>", grid, block);
    }
}

}  // namespace sixdays::day03_views

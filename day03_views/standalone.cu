// A transpose in plain CUDA: the naive kernel (the twin), and one that reads and writes whole
// sectors through a tile in shared memory. One file, one command.
//
//     nvcc standalone.cu && ./a.out                  with the CUDA Toolkit and a GPU
//     common/learn try day03_views/standalone.cu     without either; add --trace to see the bytes
//                                                    that each line of the two kernels moves
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

// A pointer and two strides. The strides alone define rows and columns, so a transposed view costs
// nothing. The elements move only if they have to be stored in the other order.
struct Matrix {
    float* data;
    std::int64_t rows, columns, row_step, column_step;
    __host__ __device__ float& operator()(std::int64_t m, std::int64_t n) const {
        return data[m * row_step + n * column_step];
    }
    Matrix transposed() const { return {data, columns, rows, column_step, row_step}; }
};

// [loop and twin]
void copy_cpu(Matrix in, Matrix out) {
    for (std::int64_t m = 0; m < out.rows; ++m) {
        for (std::int64_t n = 0; n < out.columns; ++n) {
            out(m, n) = in(m, n);
        }
    }
}

// Neighbouring threads write neighbouring elements. But if `in` is a transposed view, they read far
// apart: each lane of a warp loads a 32-byte sector and uses 4 bytes of it.
__global__ void copy_twin(Matrix in, Matrix out) {
    const std::int64_t n = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::int64_t m = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (m < out.rows && n < out.columns) {
        out(m, n) = in(m, n);
    }
}
// [loop and twin]

constexpr int kTile = 32;

// For an `in` with stride 1 along m, such as a transposed view. A block of 32 x 32 threads loads a
// tile along the memory of `in` and stores it along that of `out`. In between is a barrier, because
// each thread stores an element that another thread has loaded.
__global__ void copy_tile(Matrix in, Matrix out) {
    __shared__ float tile[kTile][kTile + 1];  // + 1: otherwise a column would be in one bank
    const std::int64_t first_m = std::int64_t{blockIdx.y} * kTile;
    const std::int64_t first_n = std::int64_t{blockIdx.x} * kTile;
    {
        const std::int64_t m = first_m + threadIdx.x, n = first_n + threadIdx.y;  // x along m
        if (m < out.rows && n < out.columns) tile[threadIdx.x][threadIdx.y] = in(m, n);
    }
    __syncthreads();
    const std::int64_t m = first_m + threadIdx.y, n = first_n + threadIdx.x;  // x along n
    if (m < out.rows && n < out.columns) out(m, n) = tile[threadIdx.y][threadIdx.x];
}

int main() {
    const std::int64_t M = 70, N = 45;  // not multiples of 32: edge tiles are partly empty
    const std::size_t bytes = M * N * sizeof(float);
    std::vector<float> memory(M * N), wanted(M * N), got(M * N);
    for (std::int64_t i = 0; i < M * N; ++i) memory[i] = static_cast<float>(i);
    const Matrix in = {memory.data(), M, N, N, 1};           // 70 rows of 45
    copy_cpu(in.transposed(), {wanted.data(), N, M, M, 1});  // 45 rows of 70

    std::printf("in:   0 1 2 ... and 45 46 47 ... below it\nout: ");
    for (int i = 0; i < 3; ++i) std::printf(" %g", wanted[i]);
    std::printf(" ... and");
    for (std::int64_t i = M; i < M + 3; ++i) std::printf(" %g", wanted[i]);
    std::printf(" ... below it\n");

    float *from, *to;
    check(cudaMalloc(&from, bytes), "cudaMalloc");
    check(cudaMalloc(&to, bytes), "cudaMalloc");
    check(cudaMemcpy(from, memory.data(), bytes, cudaMemcpyHostToDevice), "copying in");
    const Matrix device_in = Matrix{from, M, N, N, 1}.transposed();
    const Matrix device_out = {to, N, M, M, 1};
    for (const bool by_tile : {false, true}) {
        check(cudaMemset(to, 255, bytes), "filling out with NaN");
        const dim3 block(kTile, by_tile ? kTile : 8);
        const dim3 grid(static_cast<unsigned>((M + kTile - 1) / kTile),
                        static_cast<unsigned>((N + block.y - 1) / block.y));
        if (by_tile) {
            copy_tile<<<grid, block>>>(device_in, device_out);
        } else {
            copy_twin<<<grid, block>>>(device_in, device_out);
        }
        check(cudaGetLastError(), "the launch");
        check(cudaMemcpy(got.data(), to, bytes, cudaMemcpyDeviceToHost), "running the kernel");
        for (std::int64_t i = 0; i < M * N; ++i) {
            if (got[i] == wanted[i]) continue;
            std::printf("%s: out(%lld, %lld) is %g, not %g\n", by_tile ? "tile" : "twin",
                        static_cast<long long>(i / M), static_cast<long long>(i % M), got[i],
                        wanted[i]);
            return 1;
        }
        std::printf("%s: all %lld elements are right\n", by_tile ? "tile" : "twin",
                    static_cast<long long>(M * N));
    }
    check(cudaFree(from), "cudaFree");
    check(cudaFree(to), "cudaFree");
    std::printf("Both kernels are right.\n");
}

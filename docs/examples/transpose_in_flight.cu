// Day 03's transpose with 16 loads in flight, for one matrix of floats. The version in the lesson,
// for any element size and any stack, is day03_views/steps/transpose/05_in_flight.cu.
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kSide = 64, kRows = 4, kEach = kSide / kRows;  // blocks of 64 x 4 threads

__global__ void transpose_in_flight(  // in (M, N), out (N, M)
    const float* in, std::int64_t M, std::int64_t N, std::int64_t pitch_in, std::int64_t pitch_out,
    float* out) {
    // [kernel]
    __shared__ float shared[kSide][kSide + 1];
    const std::int64_t m0 = std::int64_t{blockIdx.x} * kSide;
    const std::int64_t n0 = std::int64_t{blockIdx.y} * kSide;
    const int column = threadIdx.x;

    float value[kEach] = {};  // 0 past the edge
    for (int j = 0; j < kEach; ++j) {
        const std::int64_t m = m0 + threadIdx.y + j * kRows, n = n0 + column;
        if (m < M && n < N) value[j] = in[m * pitch_in + n];
    }
    for (int j = 0; j < kEach; ++j) {
        shared[threadIdx.y + j * kRows][column] = value[j];
    }
    __syncthreads();  // wait until the whole tile is loaded
    for (int j = 0; j < kEach; ++j) {
        const int i = threadIdx.y + j * kRows;
        const std::int64_t m = m0 + column, n = n0 + i;
        if (m < M && n < N) out[n * pitch_out + m] = shared[column][i];
    }
    // [kernel]
}

int main() {
    const int M = 100, N = 150;
    std::vector<float> x(M * N), y(N * M);
    for (int i = 0; i < M * N; ++i) x[i] = static_cast<float>(i);
    float *in, *out;
    cudaMalloc(&in, x.size() * sizeof(float));
    cudaMalloc(&out, y.size() * sizeof(float));
    cudaMemcpy(in, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
    const dim3 grid((M + kSide - 1) / kSide, (N + kSide - 1) / kSide);
    transpose_in_flight<<<grid, dim3(kSide, kRows)>>>(in, M, N, N, M, out);
    cudaMemcpy(y.data(), out, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int m = 0; m < M; ++m) {
        for (int n = 0; n < N; ++n) wrong += y[n * M + m] == x[m * N + n] ? 0 : 1;
    }
    std::printf("(%d, %d) transposed; wrong: %d.\n", M, N, wrong);
    cudaFree(in);
    cudaFree(out);
    return wrong == 0 ? 0 : 1;
}

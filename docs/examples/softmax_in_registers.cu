// Softmax of rows of 1,024 floats: one warp per row, which is read once and kept in registers.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kRow = 1024, kVectors = kRow / 4 / 32;  // floats per row; float4s per lane

// [kernel]
__global__ void softmax_in_registers(const float4* in, float4* out, int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;  // all lanes of the warp
    float4 x[kVectors];
    for (int q = 0; q < kVectors; ++q) x[q] = in[(row * kVectors + q) * 32 + lane];

    float m = -INFINITY;
    for (int q = 0; q < kVectors; ++q) {
        m = fmaxf(m, fmaxf(fmaxf(x[q].x, x[q].y), fmaxf(x[q].z, x[q].w)));
    }
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));

    float sum = 0;
    for (int q = 0; q < kVectors; ++q) {
        x[q] = make_float4(expf(x[q].x - m), expf(x[q].y - m), expf(x[q].z - m), expf(x[q].w - m));
        sum += x[q].x + x[q].y + x[q].z + x[q].w;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);

    for (int q = 0; q < kVectors; ++q) {
        out[(row * kVectors + q) * 32 + lane] =
            make_float4(x[q].x / sum, x[q].y / sum, x[q].z / sum, x[q].w / sum);
    }
}
// [kernel]

int main() {
    const int rows = 5;
    std::vector<float> x(rows * kRow), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 7 + 1000;
    float4 *in, *out;
    cudaMalloc(&in, x.size() * sizeof(float));
    cudaMalloc(&out, y.size() * sizeof(float));
    cudaMemcpy(in, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
    softmax_in_registers<<<(rows + 3) / 4, 128>>>(in, out, rows);
    cudaMemcpy(y.data(), out, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(in);
    cudaFree(out);
    bool right = true;
    for (int r = 0; r < rows; ++r) {  // the CPU reference, in double precision
        const float* const row = x.data() + r * kRow;
        double m = row[0], sum = 0;
        for (int i = 0; i < kRow; ++i) m = std::fmax(m, row[i]);
        for (int i = 0; i < kRow; ++i) sum += std::exp(row[i] - m);
        for (int i = 0; i < kRow; ++i) {
            const double probability = std::exp(row[i] - m) / sum;
            if (!(std::fabs(y[r * kRow + i] - probability) <= 1e-5 * probability)) right = false;
        }
    }
    std::printf("%d rows of %d: %s\n", rows, kRow, right ? "all probabilities are right" : "wrong");
    return right ? 0 : 1;
}

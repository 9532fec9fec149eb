// Sums the rows of a matrix, one block to each row. There is a mistake in it.
#include <cstdio>
#include <vector>

__global__ void row_sums(const float* in, int columns, float* sums) {
    __shared__ float part[128];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        sum += in[blockIdx.x * columns + i];
    }
    part[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

int main() {
    const int rows = 4, columns = 1000;
    std::vector<float> in(rows * columns, 0.5f), sums(rows);
    float *device_in, *device_sums;
    cudaMalloc(&device_in, in.size() * sizeof(float));
    cudaMalloc(&device_sums, sums.size() * sizeof(float));
    cudaMemcpy(device_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice);
    row_sums<<<rows, 128>>>(device_in, columns, device_sums);
    cudaMemcpy(sums.data(), device_sums, sums.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (float sum : sums) std::printf("%g\n", sum);
    cudaFree(device_in);
    cudaFree(device_sums);
}

// Squares eight chunks of numbers. While one chunk is copied, a kernel works on another.
#include <cstdio>
#include <cstdlib>

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::printf("%s\n", cudaGetErrorString(error));
    std::exit(1);
}

__global__ void square(const float* in, int n, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i];
}

int main() {
    const int n = 1000, chunks = 8, slots = 2;
    const std::size_t bytes = n * sizeof(float);  // of a chunk
    float *in[slots], *device_in[slots], *device_out[slots], *out;
    cudaStream_t streams[slots];
    cudaEvent_t copied[slots];
    check(cudaMallocHost(&out, chunks * bytes));
    for (int s = 0; s < slots; ++s) {
        check(cudaMallocHost(&in[s], bytes));
        check(cudaMalloc(&device_in[s], bytes));
        check(cudaMalloc(&device_out[s], bytes));
        check(cudaStreamCreate(&streams[s]));
        check(cudaEventCreate(&copied[s]));
    }

    // [pipeline]
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int s = chunk % slots;
        check(cudaEventSynchronize(copied[s]));  // in[s] may be written again
        for (int i = 0; i < n; ++i) in[s][i] = chunk;
        check(cudaMemcpyAsync(device_in[s], in[s], bytes, cudaMemcpyHostToDevice, streams[s]));
        check(cudaEventRecord(copied[s], streams[s]));
        square<<<(n + 255) / 256, 256, 0, streams[s]>>>(device_in[s], n, device_out[s]);
        check(cudaGetLastError());
        check(cudaMemcpyAsync(out + chunk * n, device_out[s], bytes, cudaMemcpyDeviceToHost,
                              streams[s]));
    }
    for (int s = 0; s < slots; ++s) check(cudaStreamSynchronize(streams[s]));
    // [pipeline]

    for (int chunk = 0; chunk < chunks; ++chunk) std::printf("%g ", out[chunk * n]);
    std::printf("\n");
    for (int s = 0; s < slots; ++s) {
        check(cudaFreeHost(in[s]));
        check(cudaFree(device_in[s]));
        check(cudaFree(device_out[s]));
        check(cudaStreamDestroy(streams[s]));
        check(cudaEventDestroy(copied[s]));
    }
    check(cudaFreeHost(out));
}

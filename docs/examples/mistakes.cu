// One mistake for each name: mistakes no_guard. The page "When it goes wrong" shows what the
// emulator, the runtime and compute-sanitizer say to each.
#include <cstdio>
#include <cstring>
#include <vector>

float *device, *other;  // 100 floats each, of which the host has written those of `device`
std::vector<float> host(100, 1.0f);

// [no_guard]
__global__ void no_guard_kernel(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];  // 128 threads, 100 elements
}
// [no_guard]
void no_guard() {
    no_guard_kernel<<<1, 128>>>(device, other);
}

__global__ void twice(const float* in, int n, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
void host_pointer() {
    // [host_pointer]
    twice<<<1, 128>>>(host.data(), 100, other);
    // [host_pointer]
}
void never_copied() {
    // [never_copied]
    twice<<<1, 128>>>(other, 100, device);  // nothing was copied to `other`
    // [never_copied]
}
void null_pointer() {
    // [null_pointer]
    float* none = nullptr;
    twice<<<1, 128>>>(none, 100, other);
    // [null_pointer]
}
void freed() {
    // [freed]
    float* gone;
    cudaMalloc(&gone, 100 * sizeof(float));
    cudaFree(gone);
    twice<<<1, 128>>>(device, 100, gone);
    // [freed]
}
void device_on_host() {
    // [device_on_host]
    std::printf("%g\n", device[0]);
    // [device_on_host]
}
void wrong_direction() {
    // [wrong_direction]
    cudaMemcpy(host.data(), device, 100 * sizeof(float), cudaMemcpyHostToDevice);
    // [wrong_direction]
}
void too_many_threads() {
    // [too_many_threads]
    twice<<<1, 2048>>>(device, 100, other);
    // [too_many_threads]
}
void no_blocks() {
    // [no_blocks]
    twice<<<100 / 256, 256>>>(device, 100, other);
    // [no_blocks]
}

// [misaligned]
__global__ void vectors(const float* in, float* out) {
    const float4 vector = *reinterpret_cast<const float4*>(in + 1);
    out[0] = vector.x + vector.y + vector.z + vector.w;
}
// [misaligned]
void misaligned() {
    vectors<<<1, 1>>>(device, other);
}

// [all_into_one]
__global__ void sum(const float* in, float* out) {
    out[0] += in[threadIdx.x];
}
// [all_into_one]
void all_into_one() {
    cudaMemset(other, 0, sizeof(float));
    sum<<<1, 100>>>(device, other);
}

// [no_barrier]
__global__ void reversed(const float* in, float* out) {
    __shared__ float all[100];
    all[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = all[99 - threadIdx.x];
}
// [no_barrier]
void no_barrier() {
    reversed<<<1, 100>>>(device, other);
}

// [barrier_for_some]
__global__ void barrier_for_some_kernel(float* out) {
    if (threadIdx.x < 50) {
        out[threadIdx.x] = 1;
        __syncthreads();
    } else {
        out[threadIdx.x] = 2;
    }
    out[threadIdx.x] += 1;
    __syncthreads();
}
// [barrier_for_some]
void barrier_for_some() {
    barrier_for_some_kernel<<<1, 100>>>(other);
}

// [lane_stays_away]
__global__ void lane_stays_away_kernel(const float* in, float* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_down_sync(0xffffffffu, in[threadIdx.x], 1);
}
// [lane_stays_away]
void lane_stays_away() {
    lane_stays_away_kernel<<<1, 32>>>(device, other);
}

// [overflow]
__global__ void overflow_kernel(int rows, float* out) {
    const int last = rows * rows - 1;  // 65,536 * 65,536
    out[last % 100] = 1;
}
// [overflow]
void overflow() {
    overflow_kernel<<<1, 1>>>(65536, other);
}

// [endless]
__global__ void endless_kernel(const volatile float* flag, float* out) {
    while (*flag == 1) {
    }
    out[0] = 1;
}
// [endless]
void endless() {
    endless_kernel<<<1, 1>>>(device, other);
}

void managed_early() {
    // [managed_early]
    float* managed;  // one pointer for the host and for kernels
    cudaMallocManaged(&managed, 100 * sizeof(float));
    for (int i = 0; i < 100; ++i) managed[i] = 1;
    twice<<<1, 128>>>(managed, 100, managed);
    std::printf("%g\n", managed[0]);
    // [managed_early]
    cudaFree(managed);
}

void two_streams() {
    cudaStream_t copying, computing;
    cudaStreamCreate(&copying);
    cudaStreamCreate(&computing);
    // [two_streams]
    cudaMemcpyAsync(device, host.data(), 100 * sizeof(float), cudaMemcpyHostToDevice, copying);
    twice<<<1, 128, 0, computing>>>(device, 100, other);
    // [two_streams]
    cudaStreamDestroy(copying);
    cudaStreamDestroy(computing);
}

void not_freed() {
    // No finding, so the program returns 0, and then the emulator notes the leak. The pages show
    // only findings.
    float* forgotten;
    cudaMalloc(&forgotten, 100 * sizeof(float));
}

const struct {
    const char* name;
    void (*make)();
} mistakes[] = {{"no_guard", no_guard},
                {"host_pointer", host_pointer},
                {"never_copied", never_copied},
                {"null_pointer", null_pointer},
                {"freed", freed},
                {"device_on_host", device_on_host},
                {"wrong_direction", wrong_direction},
                {"too_many_threads", too_many_threads},
                {"no_blocks", no_blocks},
                {"misaligned", misaligned},
                {"all_into_one", all_into_one},
                {"no_barrier", no_barrier},
                {"barrier_for_some", barrier_for_some},
                {"lane_stays_away", lane_stays_away},
                {"overflow", overflow},
                {"endless", endless},
                {"managed_early", managed_early},
                {"two_streams", two_streams},
                {"not_freed", not_freed}};

int main(int argc, char** argv) {
    cudaMalloc(&device, 100 * sizeof(float));
    cudaMalloc(&other, 100 * sizeof(float));
    cudaMemcpy(device, host.data(), 100 * sizeof(float), cudaMemcpyHostToDevice);
    for (const auto& mistake : mistakes) {
        if (argc < 2 || std::strcmp(argv[1], mistake.name) != 0) continue;
        mistake.make();
        const cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
        const cudaError_t error = launched != cudaSuccess ? launched : ran;
        std::printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
        cudaFree(device);
        cudaFree(other);
        return error != cudaSuccess;
    }
    for (const auto& mistake : mistakes) std::printf("%s\n", mistake.name);
    return 2;
}

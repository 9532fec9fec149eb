// Measures what the page "Memory between host and device" is about, and prints it as CSV, in the
// columns of common/lesson/csv.hpp: common/learn try --gpu docs/examples/copies.cu
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#define CHECK(call) check(call, #call)
void check(cudaError_t error, const char* call) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    std::exit(1);
}

__global__ void sum(const float4* in, std::size_t n, float* out) {
    float x = 0;
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i < n; i += std::size_t{gridDim.x} * blockDim.x) {
        const float4 v = in[i];
        x += v.x + v.y + v.z + v.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Each element goes through so many multiply-adds that a chunk takes about as long as its copy.
__global__ void iterate(const float* in, int n, int rounds, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    for (int k = 0; k < rounds; ++k) x = x * 0.5f + 1.0f;
    out[i] = x;
}

double seconds_now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double copy_limit = 0;  // bytes per second that a copy within device memory reads and writes

// Runs `before`, which is not timed, and `work`, until the GPU has finished: at least 5 times, then
// up to 100 times or a quarter of a second.
template <class Before, class Work>
std::vector<double> times_of(Before before, Work work) {
    std::vector<double> times;
    const double end = seconds_now() + 0.25;
    for (int run = -1; run < 5 || (run < 100 && seconds_now() < end); ++run) {
        before();
        CHECK(cudaDeviceSynchronize());
        const double start = seconds_now();
        work();
        CHECK(cudaDeviceSynchronize());
        if (run >= 0) times.push_back(seconds_now() - start);  // the first run warms up
    }
    std::sort(times.begin(), times.end());
    return times;
}

std::string size_text(std::size_t bytes) {
    const char* units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    for (; bytes % 1024 == 0 && unit < 3; ++unit) bytes /= 1024;
    return std::to_string(bytes) + " " + units[unit];
}

template <class Before, class Work>
void row(const char* op, const char* version, std::size_t bytes, Before before, Work work) {
    const std::vector<double> times = times_of(before, work);
    const std::size_t last = times.size() - 1;
    const double median = times[last / 2];
    std::printf("%s,%s,,float32,%s,,%zu,0,0,%.4e,%.4e,%.4e,copy,%.4f,,\n", op, version,
                size_text(bytes).c_str(), bytes, median, times[last / 10], times[last - last / 10],
                bytes / median / copy_limit);
    std::fflush(stdout);
}

void nothing() {}

std::string line_of(const std::string& path, const std::string& word) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        if (line.find(word) != std::string::npos) return line;
    }
    return "";
}

void header() {
    cudaDeviceProp gpu;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    int runtime = 0;
    CHECK(cudaRuntimeGetVersion(&runtime));
    std::string driver = line_of("/proc/driver/nvidia/version", "NVRM");
    // "... Kernel Module for x86_64  580.159.04  Release Build ...", or "... Module  580.159.04 ..."
    const std::size_t number =
        driver.find_first_not_of(' ', driver.find("  ", driver.find("Module")));
    driver =
        number < driver.size() ? driver.substr(number, driver.find(' ', number) - number) : "?";
    const std::time_t now = std::time(nullptr);
    char date[16];
    std::strftime(date, sizeof date, "%Y-%m-%d", std::localtime(&now));
    std::printf("# %s, driver %s, CUDA runtime %d.%d, %s, copies\n", gpu.name, driver.c_str(),
                runtime / 1000, runtime % 1000 / 10, date);
    std::printf("# limits: this GPU: copy %.0f GB/s\n", copy_limit / 1e9);
    const std::string cpu = line_of("/proc/cpuinfo", "model name");
    char device[64];
    std::snprintf(device, sizeof device, "/sys/bus/pci/devices/%04x:%02x:%02x.0", gpu.pciDomainID,
                  gpu.pciBusID, gpu.pciDeviceID);
    std::printf("# host%s; PCIe %s, %s lanes; %d copy engines\n",
                cpu.substr(std::min(cpu.find(':'), cpu.size())).c_str(),
                line_of(device + std::string("/current_link_speed"), "").c_str(),
                line_of(device + std::string("/current_link_width"), "").c_str(),
                gpu.asyncEngineCount);
    std::printf(
        "op,version,path,dtype,shape,cache,bytes_read,bytes_written,flops,median_s,p10_s,"
        "p90_s,limit,share,peer,peer_s\n");
}

// One call of cudaMemcpy, from its start until the data has arrived.
void copies(const char* kind, char* host, char* device, std::size_t most) {
    for (std::size_t bytes = 4096; bytes <= most; bytes *= 4) {
        row("host to device", kind, bytes, nothing,
            [&] { CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)); });
        row("device to host", kind, bytes, nothing,
            [&] { CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost)); });
    }
}

// A kernel reads every byte once, from where it is.
void reads(char* pinned, char* device, std::size_t bytes) {
    const int blocks = 1024, threads = 256;
    float* out;
    CHECK(cudaMalloc(&out, blocks * threads * sizeof(float)));
    const auto read = [&](const void* in) {
        sum<<<blocks, threads>>>(static_cast<const float4*>(in), bytes / sizeof(float4), out);
        CHECK(cudaGetLastError());
    };
    row("kernel reads", "device memory", bytes, nothing, [&] { read(device); });
    row("kernel reads", "mapped", bytes, nothing, [&] { read(pinned); });
    row("kernel reads", "copied first", bytes, nothing, [&] {
        CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice));
        read(device);
    });
    char* managed;
    CHECK(cudaMallocManaged(&managed, bytes));
    const auto touch = [&] {
        std::fill(managed, managed + bytes, 0);
    };  // by the host, so it is there
    row("kernel reads", "managed", bytes, touch, [&] { read(managed); });
    row("kernel reads", "prefetched", bytes, touch, [&] {
#if CUDART_VERSION >= 13000
        CHECK(cudaMemPrefetchAsync(managed, bytes, {cudaMemLocationTypeDevice, 0}, 0, 0));
#else
        CHECK(cudaMemPrefetchAsync(managed, bytes, 0));
#endif
        read(managed);
    });
    row("kernel reads", "managed again", bytes, nothing, [&] { read(managed); });
    CHECK(cudaFree(managed));
    CHECK(cudaFree(out));
}

// 16 chunks are copied to the device, processed, and copied back.
void pipelines(char* pinned, char* device, std::size_t bytes) {
    const int chunks = 16, rounds = 2000;
    std::vector<char> pageable(bytes);
    std::vector<cudaStream_t> streams(4);
    for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));
    const auto part = [&](char* host, std::size_t first, std::size_t size, cudaStream_t stream) {
        const int n = static_cast<int>(size / sizeof(float));
        float* x = reinterpret_cast<float*>(device + first);
        CHECK(cudaMemcpyAsync(x, host + first, size, cudaMemcpyHostToDevice, stream));
        iterate<<<(n + 255) / 256, 256, 0, stream>>>(x, n, rounds, x);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(host + first, x, size, cudaMemcpyDeviceToHost, stream));
    };
    const auto in_streams = [&](char* host, int count) {
        for (int c = 0; c < chunks; ++c) {
            part(host, c * (bytes / chunks), bytes / chunks, streams[c % count]);
        }
    };
    row("pipeline", "kernel alone", bytes, nothing, [&] {
        float* x = reinterpret_cast<float*>(device);
        const int n = static_cast<int>(bytes / sizeof(float));
        iterate<<<(n + 255) / 256, 256>>>(x, n, rounds, x);
        CHECK(cudaGetLastError());
    });
    row("pipeline", "serial", bytes, nothing, [&] { part(pinned, 0, bytes, streams[0]); });
    row("pipeline", "1 stream", bytes, nothing, [&] { in_streams(pinned, 1); });
    row("pipeline", "2 streams", bytes, nothing, [&] { in_streams(pinned, 2); });
    row("pipeline", "4 streams", bytes, nothing, [&] { in_streams(pinned, 4); });
    row("pipeline", "4 streams pageable", bytes, nothing, [&] { in_streams(pageable.data(), 4); });
    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
}

int main(int argc, char** argv) {
    const std::size_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 30;
    if (argc > 2 || most < 4096 || (most & (most - 1)) != 0) {
        std::fprintf(stderr, "Usage: copies [largest size in bytes, a power of 2 from 4096 on]\n");
        return 2;
    }
    const std::size_t some = std::min(most, std::size_t{1} << 28);
    std::vector<char> pageable(most);
    char *pinned, *device, *other;
    CHECK(cudaMallocHost(&pinned, most));
    CHECK(cudaMalloc(&device, most));
    CHECK(cudaMalloc(&other, most));
    std::fill(pinned, pinned + most, 0);
    CHECK(cudaMemset(device, 0, most));
    const std::vector<double> times = times_of(
        nothing, [&] { CHECK(cudaMemcpy(other, device, most, cudaMemcpyDeviceToDevice)); });
    copy_limit = 2.0 * most / times[times.size() / 2];
    header();
    copies("pageable", pageable.data(), device, most);
    copies("pinned", pinned, device, most);
    reads(pinned, device, some);
    pipelines(pinned, device, some);
    row("allocate and free", "pinned", some, nothing, [&] {
        void* p;
        CHECK(cudaMallocHost(&p, some));
        CHECK(cudaFreeHost(p));
    });
    CHECK(cudaFree(device));
    CHECK(cudaFree(other));
    CHECK(cudaFreeHost(pinned));
}

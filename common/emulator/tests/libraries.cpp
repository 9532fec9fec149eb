// Tests cuBLAS, cooperative groups, tensor cores and intrinsics against NumPy, and the reports
// about invalid arguments of library calls.
#include <cublasXt.h>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/libraries.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

TEST_CASE("library results equal NumPy's, line by line") {
    clear_report();
    std::string folder = __FILE__;
    folder.erase(folder.rfind('/'));
    std::ifstream golden(folder + "/beside_gpu/libraries.txt");
    REQUIRE(golden);
    std::istringstream ours(groups_and_units_table() + cublas_table());
    std::string wanted, got;
    int lines = 0;
    while (std::getline(golden, wanted)) {
        REQUIRE(std::getline(ours, got));
        CHECK(got == wanted);
        ++lines;
    }
    CHECK_FALSE(std::getline(ours, got));
    CHECK(lines == 35);
    const auto report = last_report();
    INFO((report ? report->text : "no report"));
    CHECK_FALSE(report);
}

TEST_CASE("an array that does not fit a library call is reported at the caller's line") {
    clear_report();
    cublasHandle_t handle = nullptr;
    REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    const Device<float> a(std::vector<float>(6, 1.0f)), c(4);
    const float one = 1, zero = 0;
    const auto product = [&](int n, const float* b, const float* beta) {
        return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, n, 3, &one, a.data(), 2, b, 3, beta,
                           c.data(), 2);
    };
    CHECK(product(2, a.data(), &zero) == CUBLAS_STATUS_SUCCESS);
    CHECK(product(3, a.data(), &zero) == CUBLAS_STATUS_EXECUTION_FAILED);
    REQUIRE(last_report());
    CHECK(last_report()->kind == Kind::out_of_bounds);
    // The call in `product` spans two lines.
    const int line = last_report()->line;
    CHECK((line == __LINE__ - 9 || line == __LINE__ - 8));
    CHECK(last_report()->text.find("matrix B (3 x 3, leading dimension 3)") != std::string::npos);
    cudaGetLastError();
    clear_report();
    const std::vector<float> host(6, 1.0f);
    CHECK(product(2, host.data(), &zero) == CUBLAS_STATUS_EXECUTION_FAILED);
    CHECK(last_report()->kind == Kind::host_memory);
    cudaGetLastError();
    clear_report();
    const Device<float> nobody(6);
    CHECK(product(2, nobody.data(), &zero) == CUBLAS_STATUS_EXECUTION_FAILED);
    CHECK(last_report()->kind == Kind::uninitialised_read);
    cudaGetLastError();
    clear_report();
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    float on_host = 0;
    CHECK(cublasSasum(handle, 6, a.data(), 1, c.data()) == CUBLAS_STATUS_SUCCESS);
    CHECK(c.host()[0] == 6);
    CHECK(cublasSasum(handle, 6, a.data(), 1, &on_host) == CUBLAS_STATUS_EXECUTION_FAILED);
    CHECK(last_report()->kind == Kind::host_memory);
    CHECK(last_report()->text.find("result") != std::string::npos);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
    cudaGetLastError();
    clear_report();
    CHECK(product(-1, a.data(), &zero) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a.data(), 1, a.data(), 1,
                      &zero, c.data(), 1) == CUBLAS_STATUS_NOT_INITIALIZED);
    cublasDestroy(handle);
}

TEST_CASE("host and device can both access managed and pinned memory") {
    int *managed = nullptr, *pinned = nullptr, *device = nullptr;
    REQUIRE(cudaMallocManaged(&managed, 40) == cudaSuccess);
    REQUIRE(cudaHostAlloc(&pinned, 40, cudaHostAllocMapped) == cudaSuccess);
    REQUIRE(cudaHostGetDevicePointer(&device, pinned, 0) == cudaSuccess);
    for (int i = 0; i < 10; ++i) managed[i] = pinned[i] = i;
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, managed) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaMemcpy(managed, pinned + 5, 20, cudaMemcpyDefault) == cudaSuccess);
    CHECK(managed[0] == 5);
    CHECK(cudaMemset(managed, 0, 40) == cudaSuccess);
    CHECK(managed[9] == 0);
    CHECK(cudaFree(managed) == cudaSuccess);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("the host's random numbers interleave 4,096 sequences") {
    clear_report();
    curandGenerator_t generator = nullptr;
    CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MT19937) == CURAND_STATUS_TYPE_ERROR);
    REQUIRE(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS);
    const Device<float> numbers(4100), few(3);
    CHECK(curandGenerateUniform(generator, few.data(), 4) == CURAND_STATUS_LAUNCH_FAILURE);
    REQUIRE(last_report());
    CHECK(last_report()->line == __LINE__ - 2);
    clear_report();
    cudaGetLastError();
    CHECK(curandGenerateUniform(generator, numbers.data(), 4100) == CURAND_STATUS_SUCCESS);
    const std::vector<float> got = numbers.host();
    const std::vector<float> known{0.7402f, 0.9210f, 0.0390f, 0.9690f, 0.9251f, 0.4464f};
    for (std::size_t i = 0; i < known.size(); ++i) CHECK(std::abs(got[i] - known[i]) < 1e-4f);
    CHECK(curandSetPseudoRandomGeneratorSeed(generator, 0) == CURAND_STATUS_SUCCESS);
    CHECK(curandGenerateNormal(generator, numbers.data(), 4099, 0, 1) ==
          CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    CHECK(curandGenerateNormal(generator, numbers.data(), 4100, 5, 2) == CURAND_STATUS_SUCCESS);
    double sum = 0, squares = 0;
    for (const float one : numbers.host()) {
        sum += one;
        squares += (one - 5.0) * (one - 5.0);
    }
    CHECK(std::abs(sum / 4100 - 5) < 0.1);       // three deviations of the mean: 6 / sqrt(4100)
    CHECK(std::abs(squares / 4100 - 4) < 0.27);  // three of the variance: 12 sqrt(2 / 4100)
    curandDestroyGenerator(generator);
}

TEST_CASE("a Fourier transform of two waves has two peaks, and the inverse scales by n") {
    // cos(2 pi j / 8) + 3 sin(2 pi 2 j / 8)
    const float root = std::sqrt(0.5f);
    const std::vector<float> waves{1, root + 3, 0, -root - 3, -1, 3 - root, 0, root - 3};
    const Device<float> in(waves), back(8);
    const cufftComplex seven{7, 7};
    const Device<cufftComplex> peaks(5), all(std::vector<cufftComplex>(8, seven));
    cufftHandle there = 0, here = 0, both = 0;
    REQUIRE(cufftPlan1d(&there, 8, CUFFT_R2C, 1) == CUFFT_SUCCESS);
    REQUIRE(cufftPlan1d(&here, 8, CUFFT_C2R, 1) == CUFFT_SUCCESS);
    REQUIRE(cufftPlan1d(&both, 2, CUFFT_C2C, 2) == CUFFT_SUCCESS);
    CHECK(cufftExecR2C(there, in.data(), peaks.data()) == CUFFT_SUCCESS);
    const std::vector<float> re{0, 4, 0, 0, 0}, im{0, 0, -12, 0, 0};
    for (std::size_t k = 0; k < 5; ++k) {
        CHECK(std::abs(peaks.host()[k].x - re[k]) < 1e-5f);
        CHECK(std::abs(peaks.host()[k].y - im[k]) < 1e-5f);
    }
    CHECK(cufftExecC2R(here, peaks.data(), back.data()) == CUFFT_SUCCESS);
    for (std::size_t j = 0; j < 8; ++j) CHECK(std::abs(back.host()[j] - 8 * waves[j]) < 1e-5f);
    // Two transforms of length two: sums and differences.
    CHECK(cufftExecC2C(both, peaks.data(), all.data(), CUFFT_INVERSE) == CUFFT_SUCCESS);
    CHECK(std::abs(all.host()[1].x + 4) < 1e-5f);
    CHECK(std::abs(all.host()[2].y + 12) < 1e-5f);
    for (std::size_t k = 4; k < 8; ++k) CHECK(all.host()[k].x == 7);  // of no transform
    CHECK(cufftExecC2C(there, peaks.data(), all.data(), CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
    for (const cufftHandle plan : {there, here, both}) CHECK(cufftDestroy(plan) == CUFFT_SUCCESS);
    CHECK(cufftDestroy(there) == CUFFT_INVALID_PLAN);
}

TEST_CASE("a generator continues its sequences, and every kind of number comes from them") {
    clear_report();
    constexpr std::size_t kSequences = 4096;
    curandGenerator_t g = nullptr;
    REQUIRE(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_XORWOW) == CURAND_STATUS_SUCCESS);
    const Device<unsigned> bits(2 * kSequences), part(10);
    REQUIRE(curandGenerate(g, bits.data(), 2 * kSequences) == CURAND_STATUS_SUCCESS);
    const std::vector<unsigned> all = bits.host();
    const auto seeded = [&](unsigned long long seed, std::size_t n) {
        CHECK(curandSetPseudoRandomGeneratorSeed(g, seed) == CURAND_STATUS_SUCCESS);
        CHECK(curandGenerate(g, part.data(), n) == CURAND_STATUS_SUCCESS);
        return part.host()[0];
    };
    CHECK(seeded(0, 10) == all[0]);
    CHECK(curandGenerate(g, part.data(), 1) == CURAND_STATUS_SUCCESS);
    CHECK(part.host()[0] == all[10]);
    CHECK(seeded(1, 10) != all[0]);
    CHECK(seeded(1ull << 32, 10) != all[0]);
    CHECK(seeded(0, 10) == all[0]);

    // A double takes two numbers of its sequence, and so do two normal floats (Box-Muller).
    const auto first = [&](auto generate, auto out) {
        REQUIRE(curandSetPseudoRandomGeneratorSeed(g, 0) == CURAND_STATUS_SUCCESS);
        const Device<decltype(out)> numbers(2 * kSequences);
        CHECK(generate(numbers.data(), 2 * kSequences) == CURAND_STATUS_SUCCESS);
        return numbers.host();
    };
    const auto uniform =
        first([&](float* x, std::size_t n) { return curandGenerateUniform(g, x, n); }, 0.0f);
    const auto doubles =
        first([&](double* x, std::size_t n) { return curandGenerateUniformDouble(g, x, n); }, 0.0);
    const auto normal =
        first([&](float* x, std::size_t n) { return curandGenerateNormal(g, x, n, 10, 3); }, 0.0f);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, kSequences - 1}) {
        const unsigned x = all[i], y = all[i + kSequences];
        CHECK(uniform[i] == static_cast<float>(x) * 0x1p-32f + 0x1p-33f);
        CHECK(uniform[i + kSequences] == static_cast<float>(y) * 0x1p-32f + 0x1p-33f);
        CHECK(doubles[i] ==
              static_cast<double>(x ^ static_cast<unsigned long long>(y) << 21) * 0x1p-53 +
                  0x1p-54);
        const double far = std::sqrt(-2 * std::log(static_cast<double>(uniform[i])));
        const double turn = 2 * 3.14159265358979 * static_cast<double>(uniform[i + kSequences]);
        CHECK(std::abs(normal[i] - (10 + 3 * far * std::sin(turn))) < 1e-4);
        CHECK(std::abs(normal[i + kSequences] - (10 + 3 * far * std::cos(turn))) < 1e-4);
    }
    CHECK_FALSE(last_report());

    const auto none = CURAND_STATUS_NOT_INITIALIZED;
    float* const x = nullptr;
    double* const d = nullptr;
    for (const auto status :
         {curandCreateGenerator(nullptr, CURAND_RNG_PSEUDO_DEFAULT),
          curandDestroyGenerator(nullptr), curandSetStream(nullptr, nullptr),
          curandSetPseudoRandomGeneratorSeed(nullptr, 1), curandGenerate(nullptr, part.data(), 1),
          curandGenerateUniform(nullptr, x, 1), curandGenerateUniformDouble(nullptr, d, 1),
          curandGenerateNormal(nullptr, x, 2, 0, 1)}) {
        CHECK(status == none);
    }
    CHECK(curandSetStream(g, nullptr) == CURAND_STATUS_SUCCESS);
    CHECK(curandDestroyGenerator(g) == CURAND_STATUS_SUCCESS);
}

TEST_CASE("Fourier transforms of odd lengths, in batches, in double, and invalid plans") {
    clear_report();
    const auto planned = [](int n, cufftType type, int batch) {
        cufftHandle plan = 0;
        const cufftResult result = cufftPlan1d(&plan, n, type, batch);
        return std::pair(result, plan);
    };
    const auto made = [&](int n, cufftType type, int batch) {
        const auto [result, plan] = planned(n, type, batch);
        CHECK(result == CUFFT_SUCCESS);
        return plan;
    };
    // (1, 2, 3) and (3, 0, 0): n / 2 + 1 = 2 values each.
    const Device<float> in(std::vector<float>{1, 2, 3, 3, 0, 0}), back(6);
    const Device<cufftComplex> middle(4);
    const cufftHandle there = made(3, CUFFT_R2C, 2), here = made(3, CUFFT_C2R, 2);
    CHECK(cufftExecR2C(there, in.data(), middle.data()) == CUFFT_SUCCESS);
    const float root = std::sqrt(0.75f), re[] = {6, -1.5f, 3, 3}, im[] = {0, root, 0, 0};
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK(std::abs(middle.host()[k].x - re[k]) < 1e-5f);
        CHECK(std::abs(middle.host()[k].y - im[k]) < 1e-5f);
    }
    CHECK(cufftExecC2R(here, middle.data(), back.data()) == CUFFT_SUCCESS);
    for (std::size_t i = 0; i < 6; ++i) CHECK(std::abs(back.host()[i] - 3 * in.host()[i]) < 1e-5f);

    const Device<cufftDoubleComplex> z(
        std::vector<cufftDoubleComplex>{{1, 0}, {2, 0}, {3, 0}, {4, 1}}),
        out(4);
    const cufftHandle four = made(4, CUFFT_Z2Z, 1);
    for (const int sign : {CUFFT_FORWARD, CUFFT_INVERSE}) {  // 4 + i contributes i, s, -i, -s
        CHECK(cufftExecZ2Z(four, z.data(), out.data(), sign) == CUFFT_SUCCESS);
        const double s = sign, x[] = {10, -2 + s, -2, -2 - s}, y[] = {1, -2 * s, -1, 2 * s};
        for (std::size_t k = 0; k < 4; ++k) {
            CHECK(std::abs(out.host()[k].x - x[k]) < 1e-12);
            CHECK(std::abs(out.host()[k].y - y[k]) < 1e-12);
        }
    }
    CHECK_FALSE(last_report());
    // One element too few, of the input and of the output.
    const Device<float> few(std::vector<float>(5, 1));
    const auto names = [](const char* operand) {
        const auto report = last_report();
        cudaGetLastError();
        clear_report();
        return report && report->text.find("cufftExec") != std::string::npos &&
               report->text.find(operand) != std::string::npos;
    };
    CHECK(cufftExecR2C(there, few.data(), middle.data()) == CUFFT_EXEC_FAILED);
    CHECK(names("input"));
    CHECK(cufftExecC2R(here, middle.data(), few.data()) == CUFFT_EXEC_FAILED);
    CHECK(names("output"));

    CHECK(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE);
    CHECK(planned(0, CUFFT_C2C, 1).first == CUFFT_INVALID_SIZE);
    CHECK(planned(8, CUFFT_C2C, 0).first == CUFFT_INVALID_SIZE);
    for (const auto type : {CUFFT_D2Z, CUFFT_Z2D})
        CHECK(planned(8, type, 1).first == CUFFT_INVALID_TYPE);
    CHECK(cufftExecR2C(here, in.data(), middle.data()) == CUFFT_INVALID_PLAN);
    CHECK(cufftExecC2R(there, middle.data(), back.data()) == CUFFT_INVALID_PLAN);
    CHECK(cufftExecZ2Z(there, z.data(), out.data(), CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
    CHECK(cufftSetStream(there, nullptr) == CUFFT_SUCCESS);
    for (const cufftHandle plan : {there, here, four}) CHECK(cufftDestroy(plan) == CUFFT_SUCCESS);
    CHECK(cufftSetStream(there, nullptr) == CUFFT_INVALID_PLAN);
}

TEST_CASE("Philox skips as far in one step as in two") {
    for (const unsigned long long far : {1ull << 33, 1ull << 62}) {
        curandStatePhilox4_32_10 one_step, two_steps;
        curand_init(7, 2 * far, 2 * far, &one_step);
        curand_init(7, far, far, &two_steps);
        skipahead(far, &two_steps);
        skipahead_sequence(far, &two_steps);
        CHECK(curand(&one_step) == curand(&two_steps));
    }
}

TEST_CASE("cublasXt multiplies matrices in host memory") {
    cublasXtHandle_t handle = nullptr;
    REQUIRE(cublasXtCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    int devices[] = {0, 1};
    CHECK(cublasXtDeviceSelect(handle, 2, devices) == CUBLAS_STATUS_INVALID_VALUE);
    // 2 x 3 (leading dimension 4) times 3 x 2, into leading dimension 5.
    const std::vector<float> a{1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0}, b{1, 10, 100, 2, 20, 200};
    std::vector<float> c{1, 1, 7, 7, 7, 1, 1, 7, 7, 7};
    const float one = 1, two = 2;
    CHECK(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one, a.data(), 4, b.data(), 3,
                        &two, c.data(), 5) == CUBLAS_STATUS_SUCCESS);
    CHECK(c == std::vector<float>{533, 644, 7, 7, 7, 1064, 1286, 7, 7, 7});
    cublasXtDestroy(handle);
}

TEST_CASE("a graph can capture axpy, and calls that cannot be captured are rejected") {
    cublasHandle_t handle = nullptr;
    REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    const Device<float> x(std::vector<float>{1, 2}), y(std::vector<float>{10, 20});
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    float a = 3, sum = -1;
    CHECK(cublasSaxpy(handle, 2, &a, x.data(), 1, y.data(), 1) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasSasum(handle, 2, y.data(), 1, &sum) == CUBLAS_STATUS_NOT_SUPPORTED);
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    a = 5;
    CHECK(y.host() == std::vector<float>{10, 20});
    REQUIRE(cudaGraphInstantiate(&exec, graph) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
    CHECK(y.host() == std::vector<float>{16, 32});
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cublasDestroy(handle);
}

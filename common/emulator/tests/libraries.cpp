// cuBLAS, cooperative groups, tensor cores and intrinsics, held against NumPy; and what the library
// calls say of wrong arguments.
#include <cublas_v2.h>
#include <curand.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/libraries.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

TEST_CASE("libraries say what NumPy says, line by line") {
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
    CHECK(lines == 31);
    const auto report = last_report();
    INFO((report ? report->text : "no report"));
    CHECK_FALSE(report);
}

TEST_CASE("an array of a library call that does not fit is a finding at the caller's line") {
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
    // The call in `product` takes two lines.
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
    CHECK(product(-1, a.data(), &zero) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a.data(), 1, a.data(), 1,
                      &zero, c.data(), 1) == CUBLAS_STATUS_NOT_INITIALIZED);
    cublasDestroy(handle);
}

TEST_CASE("managed and pinned memory is the host's and the device's") {
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

TEST_CASE("the host's random numbers come from 4,096 sequences by turns") {
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
    CHECK(std::abs(squares / 4100 - 4) < 0.27);  // the same of the variance: 12 sqrt(2 / 4100)
    curandDestroyGenerator(generator);
}

/// @file
/// What the tests of cuBLAS share.
#pragma once

#include <cublas_v2.h>

#include <initializer_list>
#include <string>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/testing/catch.hpp"

namespace sixdays::emulator::tests {

constexpr cublasStatus_t kOk = CUBLAS_STATUS_SUCCESS, kInvalid = CUBLAS_STATUS_INVALID_VALUE,
                         kNoHandle = CUBLAS_STATUS_NOT_INITIALIZED,
                         kFailed = CUBLAS_STATUS_EXECUTION_FAILED,
                         kUnsupported = CUBLAS_STATUS_NOT_SUPPORTED;
constexpr cublasOperation_t kPlain = CUBLAS_OP_N, kTransposed = CUBLAS_OP_T;

/// Whether the last report names all of this. Clears it.
inline bool reported(std::initializer_list<const char*> words) {
    const auto report = last_report();
    INFO((report ? report->text : "no report"));
    bool all = report.has_value();
    for (const char* one : words) all = all && report->text.find(one) != std::string::npos;
    CHECK(all);
    cudaGetLastError();
    clear_report();
    return all;
}

class Handle {
public:
    Handle() { REQUIRE(cublasCreate(&handle_) == kOk); }
    ~Handle() { cublasDestroy(handle_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    operator cublasHandle_t() const { return handle_; }

private:
    cublasHandle_t handle_ = nullptr;
};

}  // namespace sixdays::emulator::tests

/// @file
/// Error codes: their names and texts, identical to the CUDA runtime's, and the last error.
#include <algorithm>
#include <array>

#include "common/emulator/api/api.hpp"
#include "common/emulator/machine/turn.hpp"
#include "common/emulator/report/finding.hpp"

namespace {

struct Entry {
    cudaError_t error;
    const char* name;
    const char* text;
};

#define ENTRY(error, text)  \
    Entry {                 \
        error, #error, text \
    }
constexpr std::array kErrors = {
    ENTRY(cudaSuccess, "no error"),
    ENTRY(cudaErrorInvalidValue, "invalid argument"),
    ENTRY(cudaErrorMemoryAllocation, "out of memory"),
    ENTRY(cudaErrorInitializationError, "initialization error"),
    ENTRY(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ENTRY(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ENTRY(cudaErrorInvalidSymbol, "invalid device symbol"),
    ENTRY(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    ENTRY(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ENTRY(cudaErrorInsufficientDriver,
          "CUDA driver version is insufficient for CUDA runtime version"),
    ENTRY(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ENTRY(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ENTRY(cudaErrorInvalidDevice, "invalid device ordinal"),
    ENTRY(cudaErrorNoKernelImageForDevice,
          "no kernel image is available for execution on the device"),
    ENTRY(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ENTRY(cudaErrorNotReady, "device not ready"),
    ENTRY(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    ENTRY(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ENTRY(cudaErrorNotSupported, "operation not supported"),
    ENTRY(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ENTRY(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ENTRY(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ENTRY(cudaErrorAssert, "device-side assert triggered"),
    ENTRY(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    ENTRY(cudaErrorMisalignedAddress, "misaligned address"),
    ENTRY(cudaErrorLaunchFailure, "unspecified launch failure"),
    Entry{sixdays::emulator::kStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
          "operation not permitted when stream is capturing"},
    ENTRY(cudaErrorInvalidClusterSize, "cluster misconfiguration"),
    ENTRY(cudaErrorUnknown, "unknown error"),
};

const Entry* find(cudaError_t error) {
    const auto* found = std::find_if(kErrors.begin(), kErrors.end(),
                                     [error](const Entry& e) { return e.error == error; });
    return found == kErrors.end() ? nullptr : found;
}

}  // namespace

namespace sixdays::emulator {

cudaError_t result(cudaError_t error) {
    if (error != cudaSuccess) set_error(error, false);
    return error;
}

cudaError_t take_kernel_error() {
    const cudaError_t error = unseen_kernel_error;
    unseen_kernel_error = cudaSuccess;
    return result(error);
}

}  // namespace sixdays::emulator

using sixdays::emulator::last_error;
using sixdays::emulator::unseen_kernel_error;

extern "C" {

// Unlike on a GPU, a kernel's error is not sticky: a program that has read it can continue.
cudaError_t cudaGetLastError() {
    const sixdays::emulator::Turn turn;
    const cudaError_t error = last_error;
    last_error = unseen_kernel_error = cudaSuccess;
    if (error != cudaSuccess) sixdays::emulator::report_was_told();
    return error;
}

cudaError_t cudaPeekAtLastError() {
    return last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
    const Entry* entry = find(error);
    return entry != nullptr ? entry->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
    const Entry* entry = find(error);
    return entry != nullptr ? entry->text : "unrecognized error code";
}

}  // extern "C"

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

constexpr std::array kErrors = {
    Entry{cudaSuccess, "cudaSuccess", "no error"},
    Entry{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    Entry{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    Entry{cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    Entry{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
          "invalid configuration argument"},
    Entry{cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    Entry{cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    Entry{cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    Entry{cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
          "invalid copy direction for memcpy"},
    Entry{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
          "CUDA driver version is insufficient for CUDA runtime version"},
    Entry{cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
          "invalid device function"},
    Entry{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    Entry{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    Entry{cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
          "no kernel image is available for execution on the device"},
    Entry{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
          "invalid resource handle"},
    Entry{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    Entry{cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
          "peer access is not supported between these two devices"},
    Entry{cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
          "too many blocks in cooperative launch"},
    Entry{cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    Entry{cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
          "an illegal memory access was encountered"},
    Entry{cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
          "too many resources requested for launch"},
    Entry{cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout",
          "the launch timed out and was terminated"},
    Entry{cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    Entry{cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction",
          "an illegal instruction was encountered"},
    Entry{cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    Entry{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    Entry{sixdays::emulator::kStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
          "operation not permitted when stream is capturing"},
    Entry{cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", "cluster misconfiguration"},
    Entry{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
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

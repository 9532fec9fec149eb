/// @file
/// Streams and events. Every launch and copy is done before its call returns, so a stream is a name
/// and an event a time of day. The times say how long the emulator took: nothing about a GPU.
#include <chrono>

#include "common/emulator/runtime/api.hpp"

using sixdays::emulator::result;
using sixdays::emulator::take_kernel_error;

struct CUstream_st {};

struct CUevent_st {
    bool recorded = false;
    std::chrono::steady_clock::time_point when;
};

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    if (stream == nullptr) return result(cudaErrorInvalidValue);
    *stream = new CUstream_st;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    return cudaStreamCreate(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (stream == nullptr) return result(cudaErrorInvalidResourceHandle);
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return take_kernel_error();
}
cudaError_t cudaStreamQuery(cudaStream_t) {
    return take_kernel_error();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned) {
    return result(event == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess);
}
cudaError_t cudaDeviceSynchronize() {
    return take_kernel_error();
}
cudaError_t cudaDeviceReset() {
    return take_kernel_error();
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    if (event == nullptr) return result(cudaErrorInvalidValue);
    *event = new CUevent_st;
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (event == nullptr) return result(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    if (event == nullptr) return result(cudaErrorInvalidResourceHandle);
    event->recorded = true;
    event->when = std::chrono::steady_clock::now();
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (event == nullptr) return result(cudaErrorInvalidResourceHandle);
    return take_kernel_error();
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return cudaEventSynchronize(event);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    if (milliseconds == nullptr) return result(cudaErrorInvalidValue);
    if (start == nullptr || stop == nullptr || !start->recorded || !stop->recorded) {
        return result(cudaErrorInvalidResourceHandle);
    }
    *milliseconds = std::chrono::duration<float, std::milli>(stop->when - start->when).count();
    return cudaSuccess;
}

}  // extern "C"

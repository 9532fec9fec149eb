/// @file
/// Streams and events. Every launch and copy is done before its call returns, so a stream holds no
/// work and an event is a time stamp. The host must still wait for its copies (in_flight.hpp).
/// Elapsed times measure the emulator, not a GPU.
#include <chrono>

#include "common/emulator/api/api.hpp"
#include "common/emulator/machine/block.hpp"
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/machine/turn.hpp"
#include "common/emulator/memory/in_flight.hpp"
#include "common/emulator/memory/memory.hpp"

using namespace sixdays::emulator;  // this file implements the runtime's API

struct CUevent_st {
    bool recorded = false;
    std::chrono::steady_clock::time_point when;
    std::set<std::uint64_t> covered;  // numbers of earlier copies
    StreamKnowledge knows;            // work that has ended before the event
};

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    const Turn turn;
    if (stream == nullptr) return result(cudaErrorInvalidValue);
    if (current != nullptr) {  // in a kernel, launches run in order (launch.cpp)
        *stream = nullptr;
        return cudaSuccess;
    }
    *stream = new CUstream_st{(flags & cudaStreamNonBlocking) == 0, {}};
    add_stream(*stream);
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const Turn turn;
    if (current != nullptr) return cudaSuccess;
    if (stream == nullptr || !is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    remove_stream(stream);
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    const Turn turn;
    if (const auto e = reject_while_recording(); e != cudaSuccess) return e;
    if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    wait_for_stream(stream);
    return take_kernel_error();
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return cudaStreamSynchronize(stream);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    const Turn turn;
    if (event == nullptr || !is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    cover(stream, event->covered);
    learn(real(stream)->knows, event->knows);
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    const Turn turn;
    if (const auto e = reject_while_recording(); e != cudaSuccess) return e;
    wait_for_all();
    return take_kernel_error();
}
cudaError_t cudaDeviceReset() {
    const Turn turn;
    wait_for_all();
    release_everything();
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
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const Turn turn;
    if (event == nullptr || !(recording() || is_stream(stream))) {
        return result(cudaErrorInvalidResourceHandle);
    }
    event->recorded = true;
    event->when = std::chrono::steady_clock::now();
    event->covered = copies_before_now(stream);
    event->knows = known_to(stream);
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    const Turn turn;
    if (event == nullptr) return result(cudaErrorInvalidResourceHandle);
    wait_for_copies(event->covered);
    host_learns(event->knows);
    return take_kernel_error();
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return cudaEventSynchronize(event);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    const Turn turn;
    if (milliseconds == nullptr) return result(cudaErrorInvalidValue);
    if (start == nullptr || stop == nullptr || !start->recorded || !stop->recorded) {
        return result(cudaErrorInvalidResourceHandle);
    }
    if (!host_knows(start->knows) || !host_knows(stop->knows)) return result(cudaErrorNotReady);
    *milliseconds = std::chrono::duration<float, std::milli>(stop->when - start->when).count();
    return cudaSuccess;
}

}  // extern "C"

/// @file
/// recording.hpp: a launch is a few numbers and the bytes of its arguments, so a copy of them can be
/// launched again.
#include "common/emulator/recording.hpp"

#include "common/emulator/runtime/api.hpp"
#include "common/emulator/runtime/in_flight.hpp"

namespace sixdays::emulator {

struct Recording::Entry {
    Launch launch;
    std::vector<std::byte> arguments;
};

namespace {

std::vector<Recording::Entry>* entries = nullptr;  // of the recording that is being made
}  // namespace

bool recording() {
    return entries != nullptr;
}

void record(const Launch& what) {
    const auto* arguments = static_cast<const std::byte*>(what.arguments);
    Launch later = what;  // what lives no longer than the call stays behind
    later.in_order = nullptr;
    later.count = 0;
    later.stream = nullptr;
    entries->push_back({later, {arguments, arguments + what.argument_bytes}});
}

cudaError_t refuse_while_recording() {
    return recording() ? result(kStreamCaptureUnsupported) : cudaSuccess;
}

Recording::Recording(const std::function<void(cudaStream_t)>& work) {
    CUstream_st stream{true, {}};
    struct Until {
        ~Until() { entries = nullptr; }
    } until_it_returns;
    entries = &entries_;
    work(&stream);
}

Recording::~Recording() = default;

void Recording::run() const {
    for (const Entry& entry : entries_) {
        Launch what = entry.launch;
        what.arguments = entry.arguments.data();
        launch(what);
    }
}

}  // namespace sixdays::emulator

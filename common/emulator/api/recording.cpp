/// @file
/// recording.hpp: a launch is a few numbers and the bytes of its arguments, so a copy can be
/// launched again. Also the work of a captured stream.
#include "common/emulator/recording.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "common/emulator/api/api.hpp"
#include "common/emulator/machine/stream_order.hpp"
#include "common/emulator/memory/in_flight.hpp"
#include "common/emulator/report.hpp"
#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

namespace {

WorkList* entries = nullptr;  // of the graph being captured
bool launches_only;
cudaStream_t recorded = nullptr;  // by a Recording

}  // namespace

bool recording() {
    return entries != nullptr;
}

bool capturing() {
    return recording() && !launches_only;
}

void write_down(WorkList* where, bool only_launches) {
    entries = where;
    launches_only = only_launches;
}

void record(const Launch& what) {
    if (launches_only && what.stream != recorded) {
        return note({Kind::invalid_launch, kStreamCaptureUnsupported, what.site,
                     "this launch is not on the stream that is being captured, so a GPU cannot "
                     "know when to run it"});
    }
    const auto* arguments = static_cast<const std::byte*>(what.arguments);
    const std::vector<std::byte> bytes(arguments, arguments + what.argument_bytes);
    Launch later = what;  // drop pointers that do not outlive the call
    later.in_order = nullptr;
    later.count = 0;
    entries->push_back([later, bytes](cudaStream_t stream) {
        Launch now = later;
        now.arguments = bytes.data();
        now.stream = stream;
        launch(now);
    });
}

cudaError_t in_order(cudaStream_t stream, std::function<cudaError_t(cudaStream_t)> work) {
    if (!recording() && !is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
    if (!capturing()) return work(stream);
    entries->push_back(std::move(work));
    return cudaSuccess;
}

cudaError_t reject_while_recording() {
    return recording() ? result(kStreamCaptureUnsupported) : cudaSuccess;
}

Recording::Recording(const std::function<void(cudaStream_t)>& work) {
    CUstream_st stream{true, {}};
    struct Until {
        ~Until() {
            write_down(nullptr);
            recorded = nullptr;
        }
    } until_it_returns;
    recorded = &stream;
    write_down(&entries_, true);
    work(&stream);
}

Recording::~Recording() = default;

void Recording::run() const {
    for (const auto& entry : entries_) entry(nullptr);
}

}  // namespace sixdays::emulator

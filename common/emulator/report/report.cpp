#include "common/emulator/report.hpp"

#include <iterator>
#include <string>

#include "common/emulator/report/finding.hpp"

namespace sixdays::emulator {

// For debug.gdb, which prints it.
extern "C" [[gnu::noipa, gnu::used]] const char* sixdays_emulator_finding() {
    const InRuntime guard;
    static std::string text;
    text = last_report()->text;
    return text.c_str();
}

std::optional<Report> last_report() {
    const Stored* const stored = stored_finding();
    if (stored == nullptr) return std::nullopt;
    const Finding& finding = stored->finding;
    std::string text = finding.text;
    for (std::size_t i = 0; i < finding.others.size(); ++i) {
        const std::string mark = "{" + std::to_string(i) + "}";
        const std::string where = file_and_line(find_line(finding.others[i]));
        for (std::size_t at; (at = text.find(mark)) != std::string::npos;) {
            text.replace(at, mark.size(), where);
        }
    }
    const Line line = find_line(finding.place);
    const std::string where = file_and_line(line);
    std::string head = stored->kernel;
    if (line.line != 0 || finding.in_kernel)
        head += (head.empty() || where.empty() ? "" : ", ") + where;
    Report report{finding.kind,
                  stored->kernel,
                  line.file,
                  line.line,
                  {},
                  {},
                  finding.address,
                  head.empty() ? text : head + ": " + text,
                  finding.fact};
    if (stored->in_thread) {
        report.block = {stored->block.x, stored->block.y, stored->block.z};
        report.thread = {stored->thread.x, stored->thread.y, stored->thread.z};
    }
    return report;
}

const char* name(Kind kind) {
    static constexpr const char* kNames[] = {"invalid_launch",
                                             "invalid_call",
                                             "out_of_bounds",
                                             "freed_memory",
                                             "host_memory",
                                             "device_memory",
                                             "uninitialised_read",
                                             "pending_copy",
                                             "misaligned",
                                             "race",
                                             "barrier",
                                             "warp_call",
                                             "stuck",
                                             "stack_overflow",
                                             "assertion",
                                             "undefined_behaviour"};
    static_assert(std::size(kNames) == static_cast<int>(Kind::undefined_behaviour) + 1);
    return kNames[static_cast<int>(kind)];
}

}  // namespace sixdays::emulator

#include "common/emulator/runtime/finding.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "common/emulator/runtime/api.hpp"
#include "common/emulator/runtime/memory.hpp"

namespace sixdays::emulator {

namespace {

struct Stored {
    Finding finding;
    std::string kernel;
    uint3 block;
    uint3 thread;
    bool in_thread;
};
std::optional<Stored> stored;
std::string kernel_name;
bool failed = false;
bool told = false;   // the stored finding's error has been returned by cudaGetLastError()
bool asked = false;  // the program has read its text, or cleared the report
std::set<std::string> own_lines;  // lines that made findings and remarks

}  // namespace

// For debug.gdb: it breaks in the first function and prints the text that the second returns.
extern "C" [[gnu::noipa]] void sixdays_emulator_noted() {}
extern "C" [[gnu::noipa, gnu::used]] const char* sixdays_emulator_finding() {
    const InRuntime guard;
    static std::string text;
    text = last_report()->text;
    return text.c_str();
}

void begin_launch(const Launch& what) {
    failed = false;
    kernel_name = what.kernel;
}

bool launch_failed() {
    return failed;
}

void remember_line(const Site& made) {
    const std::string file = made.file_name();  // built elsewhere, if from a compiler cache
    const std::size_t begin = file.rfind("emulator/");
    own_lines.insert(file.substr(begin == std::string::npos ? 0 : begin + 9) + ":" +
                     std::to_string(made.line()));
}

std::string file_and_line(const Line& line) {
    return line.line == 0 ? line.why_not
                          : line.file + ":" + std::to_string(line.line) + line.callers;
}

bool is_unread() {
    return stored && !asked;
}

void note(Finding finding) {
    failed = true;
    if (finding.in_kernel) excuse_unwritten();
    set_error(finding.error, finding.in_kernel && finding.kind != Kind::invalid_launch);
    if (is_telling()) {
        tell_report();  // the previous one, whose error was never read
    } else if (stored && !told) {
        return;
    }
    told = asked = false;
    remember_line(finding.made);
    const Thread* thread = finding.thread != nullptr ? finding.thread : current;
    const std::string kernel = finding.in_kernel ? kernel_name : "";
    stored = Stored{std::move(finding), kernel, block.index,
                    thread != nullptr ? thread->index : uint3{}, thread != nullptr};
    if (const std::optional<Who>& who = stored->finding.who) {
        stored->block = who->block;
        stored->thread = who->thread;
        stored->in_thread = true;
    }
    sixdays_emulator_noted();
    if (current == nullptr && is_telling()) tell_report();  // a kernel's: when its launch ends
}

void fail(Finding finding) {
    note(std::move(finding));
    if (current == nullptr) {
        tell_report();
        std::abort();
    }
    wait_for_turn();  // the scheduler sees that the launch failed and resumes no thread
    std::abort();
}

void report_was_told() {
    told = true;
}

void clear_report() {
    stored.reset();
}

std::optional<Report> last_report() {
    if (!stored) return std::nullopt;
    asked = true;
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
                  head.empty() ? text : head + ": " + text};
    if (stored->in_thread) {
        report.block = {stored->block.x, stored->block.y, stored->block.z};
        report.thread = {stored->thread.x, stored->thread.y, stored->thread.z};
    }
    return report;
}

std::set<std::string> own_lines_that_reported() {
    return std::exchange(own_lines, {});
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

std::string format(const char* pattern, ...) {
    va_list list, again;
    va_start(list, pattern);
    va_copy(again, list);
    std::string text(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, pattern, list)), '\0');
    std::vsnprintf(text.data(), text.size() + 1, pattern, again);
    va_end(again);
    va_end(list);
    return text;
}

std::string name(uint3 v) {
    return format("(%u,%u,%u)", v.x, v.y, v.z);
}

std::string name(uint3 thread, uint3 block_index) {
    return "thread " + name(thread) + " of block " + name(block_index);
}

std::string name(const Thread& thread) {
    if (block.in_tiles) return "block " + name(block.index);
    return name(thread.index, block.index);
}

}  // namespace sixdays::emulator

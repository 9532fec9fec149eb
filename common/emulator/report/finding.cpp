#include "common/emulator/report/finding.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "common/emulator/memory/memory.hpp"

namespace sixdays::emulator {

bool telling = false;
constinit thread_local cudaError_t last_error = cudaSuccess;
constinit cudaError_t unseen_kernel_error = cudaSuccess;

namespace {

std::optional<Finding> stored;  // the first since the last one that was told
std::string kernel_name, stored_kernel;
bool told;   // the stored finding's error has been returned by cudaGetLastError()
bool asked;  // the program has read its text, or cleared the report
std::vector<std::pair<Place, std::string>> remarked;
std::set<std::string> own_lines;  // lines that made findings and remarks

}  // namespace

// For debug.gdb, which breaks here.
extern "C" [[gnu::noipa]] void sixdays_emulator_noted() {}

// For debug.gdb, which prints it.
extern "C" [[gnu::noipa, gnu::used]] const char* sixdays_emulator_finding() {
    const InRuntime guard;
    static std::string text;
    text = last_report()->text;
    return text.c_str();
}

void begin_launch(const Launch& what) {
    set_launch_failed(false);
    kernel_name = what.kernel;
}

static void remember_line(const Site& made) {
    const std::string file = made.file_name();  // built elsewhere, if from a compiler cache
    const std::size_t begin = file.rfind("emulator/");
    own_lines.insert(file.substr(begin == std::string::npos ? 0 : begin + 9) + ":" +
                     std::to_string(made.line()));
}

std::string file_and_line(const Line& line) {
    using enum Line::Unknown;
    if (line.line == 0) {
        return line.why_not == no_addr2line ? "(line unknown: the program addr2line was not found)"
               : line.why_not == no_debug_information ? "(line unknown: no debug information)"
                                                      : "";
    }
    std::string text = line.file + ":" + std::to_string(line.line);
    for (const int caller : line.called_from)
        text += ", called from line " + std::to_string(caller);
    return text + (line.helper.empty() ? "" : ", in " + line.helper);
}

void set_error(cudaError_t error, bool from_kernel) {
    if (last_error == cudaSuccess || !from_kernel) last_error = error;
    if (from_kernel && unseen_kernel_error == cudaSuccess) unseen_kernel_error = error;
}

bool is_unread() {
    return stored && !asked;
}

void note(Finding finding) {
    set_launch_failed(true);
    if (finding.in_kernel) excuse_unwritten();
    set_error(finding.error, finding.in_kernel && finding.kind != Kind::invalid_launch);
    if (telling) {
        tell_report();  // the previous one, whose error was never read
    } else if (stored && !told) {
        return;
    }
    told = asked = false;
    remember_line(finding.made);
    const Thread* thread = finding.thread != nullptr ? finding.thread : current;
    if (!finding.who && thread != nullptr) finding.who = Who{thread->index, block.index};
    stored = std::move(finding);
    stored_kernel = kernel_name;
    sixdays_emulator_noted();
    if (current == nullptr && telling) tell_report();  // a kernel's: when its launch ends
}

Finding by_thread(Kind kind, cudaError_t error, const Place& place, const std::string& text,
                  std::uintptr_t address, const Place& other) {
    return {kind, error, place, name(*current) + text, address, {other}};
}

Finding by_host(Kind kind, cudaError_t error, const Place& place, const std::string& text,
                std::uintptr_t address, const Place& other) {
    return {kind, error, place, text, address, {other}, nullptr, false};
}

void fail(Finding finding) {
    note(std::move(finding));
    end_launch();
}

std::optional<Report> last_report() {
    if (!stored) return std::nullopt;
    asked = true;
    std::string text = stored->text;
    for (std::size_t i = 0; i < stored->others.size(); ++i) {
        const std::string mark = "{" + std::to_string(i) + "}";
        const std::string where = file_and_line(find_line(stored->others[i]));
        for (std::size_t at; (at = text.find(mark)) != std::string::npos;) {
            text.replace(at, mark.size(), where);
        }
    }
    const Line line = find_line(stored->place);
    const std::string where = file_and_line(line);
    std::string head = stored->in_kernel ? stored_kernel : "";
    const std::string kernel = head;
    if (line.line != 0 || stored->in_kernel)
        head += (head.empty() || where.empty() ? "" : ", ") + where;
    if (!head.empty()) head += ": ";
    Report report{stored->kind, kernel,          line.file,   line.line,   {},
                  {},           stored->address, head + text, stored->fact};
    if (const std::optional<Who>& who = stored->who) {
        report.block = {who->block.x, who->block.y, who->block.z};
        report.thread = {who->thread.x, who->thread.y, who->thread.z};
    }
    return report;
}

void clear_report() {
    stored.reset();
}

bool is_remarked(const Place& where) {
    return std::any_of(remarked.begin(), remarked.end(), [&where](const auto& one) {
        return one.first.code == where.code && one.first.line == where.line;
    });
}

void remark(const Place& where, const std::string& text, Site made) {
    if (is_remarked(where)) return;
    remarked.emplace_back(where, text);
    remember_line(made);
}

std::vector<std::string> remarks() {
    std::vector<std::string> all;
    for (const auto& [place, text] : std::exchange(remarked, {})) {
        const std::string where = file_and_line(find_line(place));
        all.push_back(where.empty() ? text : where + ": " + text);
    }
    return all;
}

void report_was_told() {
    told = true;
}

std::set<std::string> own_lines_that_reported() {
    return std::exchange(own_lines, {});
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

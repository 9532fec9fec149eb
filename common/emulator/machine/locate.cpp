/// @file
/// Resolves a return address to a file and a line with addr2line, which comes with g++.
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "common/emulator/machine/place.hpp"
#include "common/emulator/machine/program.hpp"

namespace sixdays::emulator {

namespace {

std::string relative(const std::string& path) {
    const std::string file = std::filesystem::path(path).lexically_normal();
    const std::string root = SIXDAYS_EMULATOR_ROOT "/";
    if (file.rfind(root, 0) == 0) return file.substr(root.size());
    std::error_code none;
    const std::string here = std::filesystem::current_path(none).string() + "/";
    return file.rfind(here, 0) == 0 ? file.substr(here.size()) : file;
}

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// "/path/a.cu:31 (discriminator 2)" -> {"/path/a.cu", 31}
Line parse(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return {text, 0};
    return {text.substr(0, colon), std::atoi(text.c_str() + colon + 1)};
}

// The innermost frame comes first, then the frames it was inlined into. A helper in a header says
// less than the kernel's line that called it, so the first .cu file wins; otherwise the first file
// that is not a system header.
Line ask_addr2line(std::uintptr_t address) {
    // Through /proc, since the program's name may contain shell metacharacters.
    char text[BUFSIZ];
    std::snprintf(text, sizeof(text), "addr2line -i -e /proc/%ld/exe 0x%zx 2>/dev/null",
                  static_cast<long>(getpid()), static_cast<std::size_t>(address));
    std::FILE* pipe = popen(text, "r");
    if (pipe == nullptr) return {};
    Line innermost, chosen;
    while (std::fgets(text, sizeof(text), pipe) != nullptr) {
        std::string one = text;
        while (!one.empty() && one.back() == '\n') one.pop_back();
        const Line line = parse(one);
        if (innermost.file.empty() || innermost.file.rfind("/usr/", 0) == 0) innermost = line;
        if (!ends_with(line.file, ".cu")) continue;
        if (chosen.file.empty()) {
            chosen = line;
        } else {
            chosen.called_from.push_back(line.line);
        }
    }
    if (pclose(pipe) != 0) return {"", 0, Line::Unknown::no_addr2line};
    if (chosen.file.empty()) chosen = innermost;
    if (chosen.line == 0) return {"", 0, Line::Unknown::no_debug_information};
    return chosen;
}

}  // namespace

std::uintptr_t program_start() {
    static const std::uintptr_t start = [] {
        std::uintptr_t found = 0;
        dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* data) {
                *static_cast<std::uintptr_t*>(data) = info->dlpi_addr;
                return 1;  // the first object is the program
            },
            &found);
        return found;
    }();
    return start;
}

Line find_line(const Place& place) {
    if (place.file != nullptr) {
        Line known{relative(place.file), static_cast<int>(place.line)};
        if (place.code == nullptr) return known;
        Line caller = find_line(Place(place.code));
        if (ends_with(place.file, ".cu")) {
            known.called_from = caller.called_from;  // of the function there
            return known;
        }
        if (caller.line == 0 || !ends_with(caller.file, ".cu")) return known;
        caller.helper = known.file + ":" + std::to_string(known.line);
        return caller;
    }
    if (place.code == nullptr) return {};
    static auto& known = *new std::map<const void*, Line>;  // used until the program ends
    const auto found = known.find(place.code);
    if (found != known.end()) return found->second;
    // One byte back: the return address belongs to the next instruction.
    Line line = ask_addr2line(reinterpret_cast<std::uintptr_t>(place.code) - program_start() - 1);
    line.file = relative(line.file);
    return known[place.code] = line;
}

}  // namespace sixdays::emulator

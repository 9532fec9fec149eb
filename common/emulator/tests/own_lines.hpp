/// @file
/// Which lines of the emulator report findings, for tests that require a report of each.
#pragma once

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace sixdays::emulator::tests {

/// The lines of these files that report a finding or a remark, "machine/warp.cpp:72", except those
/// in `seen`. A line that only forwards its caller's position, `made`, does not count.
inline std::vector<std::string> lines_without_report(const std::string& emulator,
                                                     const std::vector<std::string>& files,
                                                     const std::set<std::string>& seen) {
    static const std::regex makes(R"((^|[^\w.:])(fail|note|remark|accuse|reject|reject_pointer|)"
                                  R"(reject_unless_before|overflow)\((?!\))|)"
                                  R"(Finding finding\{)");
    static const std::regex declares(
        R"(^ *(\[\[noreturn\]\] )?(static )?(void|cudaError_t) \w+\()");
    static const std::regex passes_on(R"(\bmade\b|(fail|note)\((finding|std::move\(finding\))\))");
    std::vector<std::string> missing;
    for (const std::string& file : files) {
        std::ifstream in(emulator + file);
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::string code = lines[i].substr(0, lines[i].find("//"));
            if (!std::regex_search(code, makes) || std::regex_search(code, declares)) continue;
            std::string statement = code;
            const auto place = [&file](std::size_t line) {
                return file + ":" + std::to_string(line + 1);
            };
            bool was_seen = seen.count(place(i)) != 0;
            for (std::size_t next = i; lines[next].find(';') == std::string::npos;) {
                statement += lines[++next];
                was_seen = was_seen || seen.count(place(next)) != 0;
            }
            if (was_seen || std::regex_search(statement, passes_on)) continue;
            missing.push_back(place(i) + ": " + code);
        }
    }
    return missing;
}

}  // namespace sixdays::emulator::tests

/// @file
/// The command line of a day's executable. The same flags every day, plus the day's own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sixdays::lesson {

/// A flag that only one day has.
struct Flag {
    std::string name;   ///< "--png"
    std::string value;  ///< what must follow it, e.g. "FILE"; empty: nothing
    std::string help;   ///< one line for --help
};

/// What the command line asked for.
struct Options {
    bool timing = true;   ///< --no-timing: leave out everything that differs from run to run
    bool trace = false;   ///< --trace: each warp's memory accesses (emulated build)
    bool bench = false;   ///< --bench: measured times as CSV
    std::string only;     ///< --only: the beginning of the names of the operations to measure
    std::string program;  ///< its name, without folder
    std::map<std::string, std::string> own;  ///< the day's own flags that were given

    /// Should versions of this operation be shown?
    [[nodiscard]] bool wants(const std::string& op) const {
        return op.compare(0, only.size(), only) == 0;
    }
};

/// Reads the command line. For --help or an invalid command line it prints the help or an error and
/// returns no options; `status` is then the program's exit status, 0 for --help, else 2.
std::optional<Options> parse(int argc, char** argv, const std::string& what_it_shows,
                             const std::vector<Flag>& own, int& status);

}  // namespace sixdays::lesson

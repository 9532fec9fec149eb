/// @file
/// The command line of a day's executable. The same flags every day, plus the day's own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sixdays::lesson {

/// A flag that only one day has. `value` names what must follow it, e.g. "FILE"; empty: nothing.
struct Flag {
    std::string name;  // "--png"
    std::string value;
    std::string help;
};

struct Options {
    bool timing = true;   // --no-timing: leave out everything that differs from run to run
    bool trace = false;   // --trace: what each warp touches (emulated build)
    bool bench = false;   // --bench: measured times as CSV
    std::string only;     // --only: of --bench, the operations whose names begin so; "": all
    std::string program;  // its name, without folder
    std::map<std::string, std::string> own;  // the day's own flags that were given

    /// Is a version of this operation to be shown?
    [[nodiscard]] bool wants(const std::string& op) const {
        return op.compare(0, only.size(), only) == 0;
    }
};

/// Reads the command line. If there is nothing left to do (--help, or something that is not
/// understood) it has printed what there is to say and returns no options; `status` is then the
/// program's exit status: 0 for --help, 2 for a command line it rejects.
std::optional<Options> parse(int argc, char** argv, const std::string& what_it_shows,
                             const std::vector<Flag>& own, int& status);

}  // namespace sixdays::lesson

#include "common/lesson/lesson.hpp"

#include <cstdio>
#include <exception>

#include "common/lesson/output.hpp"

namespace sixdays::lesson {
namespace {

int run_or_throw(const Options& options, const Day& day) {
    if (options.trace) {
        day.trace();
        return 0;
    }
    Report report(day.title, day.shows, options);
    if (options.bench) {
        day.bench(report);
        return report.finish("");
    }
    for (const auto& section : day.sections) section(report);
    return report.finish(day.try_this);
}

int run_or_tell(int argc, char** argv, const Day& day) {
    int status = 0;
    const auto options = parse(argc, argv, day.title + ". " + day.shows, day.flags, status);
    if (!options) return status;
    try {
        return run_or_throw(*options, day);
    } catch (const std::exception& error) {
        std::fflush(stdout);
        std::fprintf(stderr, "\n%s\n", error.what());
        return 1;
    }
}

}  // namespace

int run(int argc, char** argv, const Day& day) {
    const int status = run_or_tell(argc, argv, day);
    return output_written() || status != 0 ? status : 1;
}

}  // namespace sixdays::lesson

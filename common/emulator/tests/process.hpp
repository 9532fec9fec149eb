/// @file
/// What a process leaves behind.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "common/emulator/report.hpp"
#include "common/testing/catch.hpp"

namespace sixdays::emulator::tests {

struct Ended {
    int status;  // negative: the signal that ended it
    std::string said;
};
/// Runs the work in another process, which ends with status 0 unless the work ends it.
inline Ended in_another_process(const std::function<void()>& work) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        std::signal(SIGABRT, SIG_DFL);  // not Catch2's
        clear_report();
        work();
        std::exit(0);
    }
    close(ends[1]);
    Ended ended{};
    char some[256];
    for (ssize_t n; (n = read(ends[0], some, sizeof(some))) > 0;) {
        ended.said.append(some, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return ended;
}

}  // namespace sixdays::emulator::tests

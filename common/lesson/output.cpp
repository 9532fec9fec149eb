#include "common/lesson/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sixdays::lesson {
namespace {

// Evaluated before main(): a file opened later could get the descriptor of a closed stream.
const bool stdout_was_open = fcntl(STDOUT_FILENO, F_GETFD) != -1;

bool is_open(std::FILE* out) {
    const int number = fileno(out);
    return fcntl(number, F_GETFD) != -1 && (number != STDOUT_FILENO || stdout_was_open);
}

}  // namespace

bool output_written(std::FILE* out) {
    const bool failed_before = std::ferror(out) != 0;
    const int error = std::fflush(out) == 0 ? 0 : errno;
    if (error == 0 && !failed_before && is_open(out)) return true;
    const char* why = "an earlier write failed (is the disk full?)";
    if (error != 0) why = std::strerror(error);
    if (!is_open(out)) why = "it was closed";
    std::fprintf(stderr, "Not everything that was printed arrived at its output: %s.\n", why);
    return false;
}

}  // namespace sixdays::lesson

#include "day06_transformer_ops/gpt2/file/plain_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <istream>
#include <stdexcept>

#include "common/tensor/sentence.hpp"

namespace sixdays::gpt2 {
namespace {

[[noreturn]] void cannot(const std::string& path, const char* what) {
    throw std::invalid_argument(path + " cannot be " + what + ": " + std::strerror(errno));
}

void require_plain(const std::string& path, const struct stat& about) {
    if (S_ISREG(about.st_mode)) return;
    throw std::invalid_argument(path + " is " + kind_of(about.st_mode) +
                                ", but must be a plain file");
}

}  // namespace

const char* kind_of(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
            return "a plain file";
        case S_IFDIR:
            return "a directory";
        case S_IFIFO:
            return "a pipe";
        case S_IFSOCK:
            return "a socket";
        case S_IFLNK:
            return "a symbolic link";
        default:
            return "a device";
    }
}

PlainFile::PlainFile(const std::string& path) {
    struct stat about = {};
    if (stat(path.c_str(), &about) != 0) cannot(path, "opened");
    require_plain(path, about);  // before opening, which may have an effect on a device
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor_ < 0) cannot(path, "opened");
    try {
        if (fstat(descriptor_, &about) != 0) cannot(path, "looked at");
        require_plain(path, about);  // it may have been replaced
    } catch (...) {
        close(descriptor_);
        throw;
    }
    size_ = about.st_size;
}

PlainFile::~PlainFile() {
    close(descriptor_);
}

std::string contents_of(const std::string& path, std::int64_t most) {
    const PlainFile file(path);
    const auto too_long = [&](std::int64_t bytes) {
        reject(path, " has ", bytes, " bytes or more; at most ", most, " are read");
    };
    if (file.size() > most) too_long(file.size());
    std::string all(static_cast<std::size_t>(file.size()) + 1, '\0');
    std::size_t got = 0;
    for (;;) {  // it may grow meanwhile, and files in /proc report a size of 0
        if (got == all.size()) all.resize(2 * all.size() + 4096);
        const ssize_t count = read(file.descriptor(), all.data() + got, all.size() - got);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) cannot(path, "read");
        if (count == 0) break;
        got += static_cast<std::size_t>(count);
        if (got > static_cast<std::size_t>(most)) too_long(static_cast<std::int64_t>(got));
    }
    all.resize(got);
    return all;
}

bool next_line(std::istream& in, std::string& line) {
    constexpr std::size_t kLongest = std::size_t{1} << 20;
    line.clear();
    for (char letter = 0; in.get(letter) && letter != '\n';) {
        if (line.size() == kLongest) {
            reject("a line of the input has more than ", kLongest, " bytes");
        }
        line += letter;
    }
    return !line.empty() || in.good();
}

}  // namespace sixdays::gpt2

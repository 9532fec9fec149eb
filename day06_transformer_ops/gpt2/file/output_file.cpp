#include "day06_transformer_ops/gpt2/file/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <stdexcept>

#include "common/tensor/sentence.hpp"
#include "day06_transformer_ops/gpt2/file/plain_file.hpp"

namespace sixdays::gpt2 {
namespace {

[[noreturn]] void cannot(const std::string& path) {
    throw std::runtime_error(path + " cannot be written: " + std::strerror(errno));
}

// Renaming would replace even a device or a link.
void require_replaceable(const std::string& path) {
    struct stat about = {};
    if (lstat(path.c_str(), &about) != 0) {
        if (errno != ENOENT) cannot(path);
        return;
    }
    if (!S_ISREG(about.st_mode)) {
        throw std::invalid_argument(path + " is " + kind_of(about.st_mode) +
                                    ", which writing would replace: it must be a plain file, or "
                                    "nothing yet");
    }
    // ENOENT: a lock that its holder has just removed.
    if (access(path.c_str(), W_OK) != 0 && errno != ENOENT) cannot(path);
}

// Closes the file, and removes it if it is incomplete.
class NewFile {
public:
    explicit NewFile(const std::string& path) : path_(path) {
        // Left over from a killed run. Neither follows a link nor waits for a pipe.
        require_replaceable(path);
        unlink(path.c_str());
        file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file_ < 0) cannot(path_);
    }
    ~NewFile() {
        if (file_ < 0) return;
        close(file_);
        unlink(path_.c_str());
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    void reserve(std::int64_t bytes) {
        if (bytes == 0 || fallocate(file_, 0, 0, bytes) == 0) return;
        if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR) {
            throw std::runtime_error(
                sentence(path_, ": ", bytes, " bytes cannot be written: ", std::strerror(errno)));
        }
    }
    void write_all(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const ssize_t written = write(file_, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) cannot(path_);
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        }
    }
    void put_in_place(const std::string& place) {
        if (fsync(file_) != 0 || std::rename(path_.c_str(), place.c_str()) != 0) cannot(path_);
        close(file_);
        file_ = -1;
    }

private:
    std::string path_;
    int file_ = -1;
};

// "process 1234", as written by the holder; "" if it has not written yet.
std::string holder(int file) {
    char text[40] = "";
    const ssize_t count = pread(file, text, sizeof text - 1, 0);
    return count > 0 ? " (" + std::string(text, static_cast<std::size_t>(count)) + ")" : "";
}

}  // namespace

void write_whole(const std::string& path, const std::vector<std::byte>& bytes) {
    require_replaceable(path);
    NewFile file(path + ".new");
    file.write_all(bytes);
    file.put_in_place(path);
}

void check_output(const std::string& path, std::int64_t room) {
    require_replaceable(path);
    NewFile(path + ".new").reserve(room);
}

OutputLock::OutputLock(const std::string& path) : path_(path + ".lock") {
    require_replaceable(path);
    for (int tries = 0; tries < 1000; ++tries) {
        require_replaceable(path_);
        file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (file_ < 0) cannot(path_);
        if (flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            const std::string who = holder(file_);
            close(file_);
            throw std::invalid_argument(path + " is being written by another run" + who +
                                        ": wait for its end, or choose another name");
        }
        // The file system has no locks, so other runs cannot be detected.
        struct stat mine = {}, there = {};
        const bool same = fstat(file_, &mine) == 0 && stat(path_.c_str(), &there) == 0 &&
                          mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
        if (same) {
            const std::string me = "process " + std::to_string(getpid());
            if (ftruncate(file_, 0) != 0 ||
                pwrite(file_, me.data(), me.size(), 0) != static_cast<ssize_t>(me.size())) {
                // A full disk: the lock is held anyway.
            }
            return;
        }
        close(file_);  // its holder has removed it between the two calls
    }
    errno = EBUSY;
    cannot(path_);
}

OutputLock::~OutputLock() {
    unlink(path_.c_str());
    close(file_);
}

}  // namespace sixdays::gpt2

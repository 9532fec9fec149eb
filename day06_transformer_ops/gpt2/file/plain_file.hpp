/// @file
/// Files named by a user: their kind, and their bytes.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <iosfwd>
#include <string>

namespace sixdays::gpt2 {

/// The kind of a file, for error messages: "a directory", "a pipe", "a device", ...
[[nodiscard]] const char* kind_of(mode_t mode);

/// A plain file, opened for reading; closed by the destructor.
class PlainFile {
public:
    /// @throws std::invalid_argument  no such file, no permission to read it, or not a plain file:
    /// a pipe or a device may have no end, and opening one may block forever
    explicit PlainFile(const std::string& path);
    ~PlainFile();
    PlainFile(const PlainFile&) = delete;
    PlainFile& operator=(const PlainFile&) = delete;

    /// A system file descriptor for reading, owned by this object.
    int descriptor() const noexcept { return descriptor_; }
    /// Its size in bytes when it was opened.
    std::int64_t size() const noexcept { return size_; }

private:
    int descriptor_ = -1;
    std::int64_t size_ = 0;
};

/// Limit for a text, which is read as a whole.
inline constexpr std::int64_t kMostText = std::int64_t{1} << 30;

/// All bytes of a plain file.
/// @throws std::invalid_argument  as PlainFile; more than `most` bytes
[[nodiscard]] std::string contents_of(const std::string& path, std::int64_t most = kMostText);

/// The next line of a possibly endless input. Returns whether there is one.
/// @throws std::invalid_argument  a line of more than a megabyte
[[nodiscard]] bool next_line(std::istream& in, std::string& line);

}  // namespace sixdays::gpt2

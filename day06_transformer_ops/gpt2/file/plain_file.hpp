/// @file
/// Files that a user names: what is there, and all of its bytes.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <iosfwd>
#include <string>

namespace sixdays::gpt2 {

/// What something that is no plain file is called: "a directory", "a pipe", "a device", ...
[[nodiscard]] const char* kind_of(mode_t mode);

/// A plain file, opened for reading; closed at the end of its life.
class PlainFile {
public:
    /// @throws std::invalid_argument  no such file, one that may not be read, or no plain file: a
    /// pipe or a device may have no end, and opening one may wait for ever
    explicit PlainFile(const std::string& path);
    ~PlainFile();
    PlainFile(const PlainFile&) = delete;
    PlainFile& operator=(const PlainFile&) = delete;

    /// Of the system, for reading. Whoever made this object closes it.
    int descriptor() const noexcept { return descriptor_; }
    /// Bytes that it had when it was opened.
    std::int64_t size() const noexcept { return size_; }

private:
    int descriptor_ = -1;
    std::int64_t size_ = 0;
};

/// A text is read as a whole.
inline constexpr std::int64_t kMostText = std::int64_t{1} << 30;

/// All bytes of a plain file.
/// @throws std::invalid_argument  as PlainFile; more than `most` bytes
[[nodiscard]] std::string contents_of(const std::string& path, std::int64_t most = kMostText);

/// The next line of an input, which may have no end. Returns whether there is one.
/// @throws std::invalid_argument  a line of more than a megabyte
[[nodiscard]] bool next_line(std::istream& in, std::string& line);

}  // namespace sixdays::gpt2

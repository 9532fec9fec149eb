/// @file
/// Files that a program writes: what may be replaced, locks between writers, and atomic
/// replacement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sixdays::gpt2 {

/// Writes PATH.new and renames it, which is atomic: even after a
/// power failure, either the old file or the new one is there.
/// @throws std::invalid_argument  as check_output()
/// @throws std::runtime_error  no such folder, no permission to write there, a full disk; the old
/// file is kept
void write_whole(const std::string& path, const std::vector<std::byte>& bytes);

/// Checks that write_whole() would succeed. It creates PATH.new and removes it again, so hold an
/// OutputLock first if another process may write there.
/// @param room  bytes that must be free, where the file system can say so
/// @throws std::invalid_argument  PATH or PATH.new is a directory, a device, a pipe, a socket or a
/// symbolic link
/// @throws std::runtime_error  as write_whole()
void check_output(const std::string& path, std::int64_t room = 0);

/// The right to write PATH and files next to it: one holder at a time, by a lock on PATH.lock.
/// The lock ends with its holder's process, however that exits.
class OutputLock {
public:
    /// @throws std::invalid_argument  another process holds it; PATH exists but is not a plain file
    /// @throws std::runtime_error  PATH.lock cannot be written
    explicit OutputLock(const std::string& path);
    ~OutputLock();
    OutputLock(const OutputLock&) = delete;
    OutputLock& operator=(const OutputLock&) = delete;

private:
    std::string path_;
    int file_ = -1;
};

}  // namespace sixdays::gpt2

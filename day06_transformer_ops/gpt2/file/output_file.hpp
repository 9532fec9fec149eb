/// @file
/// Files that a program writes: what may be in their place, who else writes them, and how they get
/// there as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sixdays::gpt2 {

/// Writes PATH.new and renames it, which a file system does as a whole or not at all: whoever pulls
/// the plug, the old file or the new one is there.
/// @throws std::invalid_argument  as check_output()
/// @throws std::runtime_error  no such folder, no right to write there, a full disk; what was there
/// before still is
void write_whole(const std::string& path, const std::vector<std::byte>& bytes);

/// Could write_whole() write there? It makes PATH.new and removes it again, so whoever may not be
/// the only writer has an OutputLock before.
/// @param room  bytes that must be free, where the file system can say so
/// @throws std::invalid_argument  in its place, or in that of PATH.new, is a directory, a device, a
/// pipe, a socket or a symbolic link
/// @throws std::runtime_error  as write_whole()
void check_output(const std::string& path, std::int64_t room = 0);

/// The right to write PATH and what lies beside it: one holder at a time, by a lock on PATH.lock.
/// The lock ends with its holder, however that ends; then another one may take it.
class OutputLock {
public:
    /// @throws std::invalid_argument  another process has it; PATH is there and no plain file
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

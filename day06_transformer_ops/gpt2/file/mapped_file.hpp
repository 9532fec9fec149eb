/// @file
/// A file mapped to memory: its pages are read from the disk when they are first touched.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sixdays::gpt2 {

/// A file mapped for reading. A model of 500 MB "loads" instantly, programs that map the same file
/// share its pages, and unread pages are never loaded. While it is mapped the file must not be
/// truncated: touching a missing page ends the program.
class MappedFile {
public:
    /// @throws std::invalid_argument  no such file, not a plain file, or no permission to read it
    explicit MappedFile(const std::string& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    /// The whole file. The address is a multiple of the page size.
    std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

private:
    const std::byte* data_ = nullptr;  // null if the file is empty
    std::size_t size_ = 0;
};

}  // namespace sixdays::gpt2

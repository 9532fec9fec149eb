#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "day06_transformer_ops/gpt2/file/plain_file.hpp"

namespace sixdays::gpt2 {

MappedFile::MappedFile(const std::string& path) {
    const PlainFile file(path);
    if (file.size() == 0) return;  // mmap rejects to map nothing

    size_ = static_cast<std::size_t>(file.size());
    void* const memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (memory == MAP_FAILED) {
        throw std::invalid_argument(path + " cannot be mapped: " + std::strerror(errno));
    }
    data_ = static_cast<const std::byte*>(memory);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace sixdays::gpt2

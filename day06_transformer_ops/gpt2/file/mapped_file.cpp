#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace sixdays::gpt2 {
namespace {

struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) close(number);
    }
};

[[noreturn]] void cannot(const std::string& path, const char* what) {
    throw std::invalid_argument(path + " cannot be " + what + ": " + std::strerror(errno));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
    const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (file.number < 0) cannot(path, "opened");
    struct stat about = {};
    if (fstat(file.number, &about) != 0) cannot(path, "looked at");
    if (!S_ISREG(about.st_mode)) throw std::invalid_argument(path + " is not a plain file");
    if (about.st_size == 0) return;  // mmap refuses to map nothing

    size_ = static_cast<std::size_t>(about.st_size);
    void* const memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (memory == MAP_FAILED) cannot(path, "mapped");
    data_ = static_cast<const std::byte*>(memory);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace sixdays::gpt2

/// @file
/// The files of a model: one, or the parts that llama.cpp's gguf-split made of it.
///
///     model-00001-of-00003.gguf   keys, some of the tensors     split.no 0
///     model-00002-of-00003.gguf   further tensors               split.no 1
///     model-00003-of-00003.gguf   further tensors               split.no 2
///
/// Each part is a complete GGUF file, with three keys: split.no, its number from 0; split.count, the
/// number of parts; split.tensors.count, the number of tensors in all parts together. The model's own
/// keys are in the first part.
///
/// The format: https://github.com/ggml-org/llama.cpp/blob/master/tools/gguf-split/gguf-split.cpp
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "day06_transformer_ops/gpt2/file/gguf.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"

namespace sixdays::gpt2 {

/// Maps a model's files. Views of its weights point into them.
class ModelFiles {
public:
    /// Opens a file. If it is a part of a model, opens all parts, which are looked for beside it.
    /// @param path  the model's only file, or any of its parts
    /// @throws std::invalid_argument  a missing or damaged file: see MappedFile, Gguf and
    /// Gguf::check_checksums(); a part whose name does not end in its numbers; numbers that differ
    /// from those of the file that was asked for: a part of another model; a tensor in two parts, or
    /// in none
    explicit ModelFiles(const std::string& path) : file_(open(path)) {}

    /// The keys of the first part, and the tensors of all.
    const Gguf& file() const noexcept { return file_; }
    /// Bytes of all files.
    std::size_t size() const noexcept;

    /// Reads the files' pages from disk.
    /// @param progress  receives the bytes so far, every 16 MB and at the end
    void load(const std::function<void(std::size_t)>& progress) const;

private:
    Gguf open(const std::string& path);
    Gguf read(const std::string& path);

    std::vector<std::unique_ptr<MappedFile>> mapped_;
    Gguf file_;
};

}  // namespace sixdays::gpt2

#include "day06_transformer_ops/gpt2/file/model_files.hpp"

#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>

#include "common/tensor/arguments.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr const char* kNumber = "split.no";
constexpr const char* kCount = "split.count";
constexpr const char* kTensors = "split.tensors.count";
constexpr std::int64_t kMostParts = 99999;  // five digits in a name

std::int64_t count_of(const Gguf& part) {
    return part.integer(kCount, 1, kMostParts);
}

// "-00002-of-00003.gguf" for part number 1
std::string ending(std::int64_t number, std::int64_t count) {
    char text[64];
    std::snprintf(text, sizeof text, "-%05lld-of-%05lld.gguf", static_cast<long long>(number + 1),
                  static_cast<long long>(count));
    return text;
}

// The name of a part, without its ending.
std::string stem_of(const Gguf& part, const std::string& path) {
    const std::int64_t count = count_of(part), number = part.integer(kNumber, 0, count - 1);
    const std::string end = ending(number, count);
    if (!path.ends_with(end)) {
        part.reject(part.value(kNumber).at,
                    sentence("this is part ", number + 1, " of ", count,
                             " of a model, so the file's name must end in '", end,
                             "': the other parts are looked for under such names"));
    }
    return path.substr(0, path.size() - end.size());
}

void require_equal(const Gguf& part, const char* key, std::int64_t wanted, const Gguf& of) {
    const std::int64_t found = part.integer(key, 0, std::numeric_limits<std::int32_t>::max());
    if (found == wanted) return;
    part.reject(part.value(key).at, sentence(quoted(key), " is ", found, ", but must be ", wanted,
                                             " in this part of the model of ", of.file_name()));
}

}  // namespace

Gguf ModelFiles::read(const std::string& path) {
    mapped_.push_back(std::make_unique<MappedFile>(path));
    Gguf file(mapped_.back()->bytes(), path);
    if (file.has_checksums()) file.check_checksums();
    return file;
}

Gguf ModelFiles::open(const std::string& path) {
    Gguf given = read(path);
    // A model that was put together again has 0.
    if (!given.has(kCount) || given.integer(kCount, 0, kMostParts) <= 1) return given;
    const std::string stem = stem_of(given, path);
    const std::int64_t count = count_of(given), number = given.integer(kNumber, 0, count - 1);
    const std::int64_t tensors =
        given.integer(kTensors, 0, std::numeric_limits<std::int32_t>::max());
    const auto part = [&](std::int64_t i) {
        if (i == number) return given;
        Gguf other = with_prefix(sentence("part ", i + 1, " of ", count),
                                 [&] { return read(stem + ending(i, count)); });
        require_equal(other, kCount, count, given);
        require_equal(other, kNumber, i, given);
        require_equal(other, kTensors, tensors, given);
        return other;
    };
    Gguf whole = part(0);
    for (std::int64_t i = 1; i < count; ++i) whole.append(part(i));
    if (std::ssize(whole.tensors()) != tensors) {
        whole.reject(whole.value(kTensors).at,
                     sentence(quoted(kTensors), " is ", tensors, ", but the ", count,
                              " parts have ", whole.tensors().size(), " tensors together"));
    }
    return whole;
}

std::size_t ModelFiles::size() const noexcept {
    std::size_t all = 0;
    for (const auto& file : mapped_) all += file->bytes().size();
    return all;
}

void ModelFiles::load(const std::function<void(std::size_t)>& progress) const {
    constexpr std::size_t kPage = 4096, kStep = std::size_t{16} << 20;
    std::size_t before = 0;
    for (const auto& file : mapped_) {
        const auto bytes = file->bytes();
        for (std::size_t at = 0; at < bytes.size(); at += kPage) {
            [[maybe_unused]] const volatile std::byte touched = bytes[at];
            if (at % kStep == 0) progress(before + at);
        }
        before += bytes.size();
    }
    progress(before);
}

}  // namespace sixdays::gpt2

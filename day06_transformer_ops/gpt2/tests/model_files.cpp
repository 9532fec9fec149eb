// Models in several files: split-0000N-of-00003.gguf are tiny.gguf, split by PyPI's gguf
// (reference.py). Each rejection changes one thing in them.
#include "day06_transformer_ops/gpt2/file/model_files.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/tests/temporary.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

namespace {

std::string part_name(int number) {
    return "split-0000" + std::to_string(number) + "-of-00003.gguf";
}

Bytes bytes_of_test(const std::string& name) {
    const MappedFile mapped(file_of_tests(name));
    return {mapped.bytes().begin(), mapped.bytes().end()};
}

// The three parts, to be changed and written.
struct Parts {
    Bytes bytes[3] = {bytes_of_test(part_name(1)), bytes_of_test(part_name(2)),
                      bytes_of_test(part_name(3))};
    Temporary folder;

    template <class T>
    void set(int part, const char* key, T number) {
        Bytes& all = bytes[part - 1];
        const std::size_t at = Gguf(all, "part").value(key).at;
        std::memcpy(all.data() + at, &number, sizeof number);
    }
    std::string path(int part) const { return folder / part_name(part); }
    void write() const {
        for (int part = 1; part <= 3; ++part) {
            std::ofstream(path(part), std::ios::binary)
                .write(reinterpret_cast<const char*>(bytes[part - 1].data()),
                       std::ssize(bytes[part - 1]));
        }
    }
    std::string rejected(int part) const {
        write();
        return rejection([&] { ModelFiles files(path(part)); });
    }
};

}  // namespace

TEST_CASE("a split model is the same as the whole one, whichever part is opened",
          "[day06][small]") {
    const int opened = GENERATE(1, 2, 3);
    const ModelFiles whole(file_of_tests("tiny.gguf")), split(file_of_tests(part_name(opened)));
    REQUIRE(split.file().tensors().size() == whole.file().tensors().size());
    for (const FileTensor& tensor : whole.file().tensors()) {
        INFO(tensor.name);
        const Weight &want = tensor.weight, &got = split.file().tensor(tensor.name).weight;
        REQUIRE((got.type == want.type && got.shape == want.shape));
        const auto bytes = static_cast<std::size_t>(bytes_of(want.type, want.shape));
        CHECK(std::memcmp(got.data, want.data, bytes) == 0);
    }
    CHECK(split.file().texts("tokenizer.ggml.tokens") ==
          whole.file().texts("tokenizer.ggml.tokens"));
    CHECK(read_model(split.file()).config.layers == 2);
    std::size_t size = 0;
    for (int part = 1; part <= 3; ++part) size += bytes_of_test(part_name(part)).size();
    CHECK(split.size() == size);
    std::vector<std::size_t> steps;
    split.load([&](std::size_t bytes) { steps.push_back(bytes); });
    CHECK(std::is_sorted(steps.begin(), steps.end()));
    CHECK((steps.size() == 4 && steps.front() == 0 && steps.back() == size));
}

TEST_CASE("an error in a split model names the part and its byte", "[day06][small]") {
    const ModelFiles split(file_of_tests(part_name(1)));
    for (int part = 1; part <= 3; ++part) {
        const MappedFile mapped(file_of_tests(part_name(part)));
        const Gguf alone(mapped.bytes(), part_name(part));
        for (const FileTensor& tensor : alone.tensors()) {
            const std::size_t at = split.file().tensor(tensor.name).at;
            CHECK(contains(rejection([&] { split.file().reject(at, "why"); }),
                           part_name(part) + ", byte " + std::to_string(tensor.at) + ": why"));
        }
    }
}

TEST_CASE("a missing part of a model is rejected by its name", "[day06][small]") {
    const Parts parts;
    parts.write();
    for (const int missing : {1, 2, 3}) {
        CAPTURE(missing);
        std::filesystem::remove(parts.path(missing));
        const std::string why = rejection([&] { ModelFiles files(parts.path(missing % 3 + 1)); });
        CHECK(why == "part " + std::to_string(missing) + " of 3: " + parts.path(missing) +
                         " cannot be opened: No such file or directory");
        parts.write();
    }
}

TEST_CASE("a part whose name does not match its number is rejected", "[day06][small]") {
    Parts parts;
    parts.write();
    for (const char* name :
         {"tiny.gguf", "split-00002-of-00003.gguf", "split-00001-of-00004.gguf"}) {
        CAPTURE(name);
        std::filesystem::copy(file_of_tests(part_name(1)), parts.folder / name,
                              std::filesystem::copy_options::overwrite_existing);
        CHECK(contains(rejection([&] { ModelFiles files(parts.folder / name); }),
                       "this is part 1 of 3 of a model, so the file's name must end in "
                       "'-00001-of-00003.gguf'"));
    }
    parts.bytes[2] = parts.bytes[1];  // part 2 under the name of part 3
    CHECK(contains(parts.rejected(1), part_name(3) + ", byte "));
    CHECK(contains(parts.rejected(1), "'split.no' is 1, but must be 2 in this part of the model"));
}

TEST_CASE("a part of another model is rejected", "[day06][small]") {
    const int part = GENERATE(2, 3);
    Parts count, tensors, whole;
    count.set(part, "split.count", std::uint16_t{4});
    CHECK(contains(count.rejected(1), part_name(part) + ", byte "));
    CHECK(contains(count.rejected(1),
                   "'split.count' is 4, but must be 3 in this part of the model "
                   "of " +
                       count.path(1)));
    tensors.set(part, "split.tensors.count", std::int32_t{27});
    CHECK(contains(tensors.rejected(1), "'split.tensors.count' is 27, but must be 28"));
    whole.bytes[part - 1] = bytes_of_test("tiny.gguf");
    CHECK(contains(whole.rejected(1), "'split.count' is not among the file's"));
}

TEST_CASE("each tensor of a split model is in one part", "[day06][small]") {
    Parts twice, less;
    twice.bytes[2] = twice.bytes[1];
    twice.set(3, "split.no", std::uint16_t{2});
    const std::string why = twice.rejected(3);
    CHECK(contains(why, part_name(3) + ", byte "));
    CHECK(contains(why, " is also in " + twice.path(2)));
    for (int part = 1; part <= 3; ++part) less.set(part, "split.tensors.count", std::int32_t{29});
    CHECK(contains(less.rejected(2), part_name(1) + ", byte "));
    CHECK(contains(less.rejected(2),
                   "'split.tensors.count' is 29, but the 3 parts have 28 "
                   "tensors together"));
}

TEST_CASE("a model that was put together again, or has one part, needs no name", "[day06][small]") {
    Parts parts;
    for (const int count : {0, 1}) {
        parts.set(1, "split.count", static_cast<std::uint16_t>(count));
        parts.write();
        std::filesystem::copy_file(parts.path(1), parts.folder / "merged.gguf",
                                   std::filesystem::copy_options::overwrite_existing);
        const ModelFiles files(parts.folder / "merged.gguf");
        CHECK(files.size() == parts.bytes[0].size());
    }
}

TEST_CASE("the numbers of a part must be possible", "[day06][small]") {
    Parts late, negative;
    late.set(1, "split.no", std::uint16_t{3});
    CHECK(contains(late.rejected(1), "'split.no' is 3"));
    negative.set(1, "split.tensors.count", std::int32_t{-1});
    CHECK(contains(negative.rejected(1), "'split.tensors.count' is -1"));
}

TEST_CASE("loading reports its progress at every 16 MiB of each part", "[day06][small]") {
    const Parts parts;
    parts.write();
    constexpr std::size_t kStep = std::size_t{16} << 20, kSecond = 2 * kStep + 5;
    std::filesystem::resize_file(parts.path(2), kSecond);  // followed by zeros
    const ModelFiles files(parts.path(1));
    const std::size_t first = parts.bytes[0].size(), last = parts.bytes[2].size();
    REQUIRE(files.size() == first + kSecond + last);
    std::vector<std::size_t> steps;
    files.load([&](std::size_t bytes) { steps.push_back(bytes); });
    CHECK(steps == std::vector<std::size_t>{0, first, first + kStep, first + 2 * kStep,
                                            first + kSecond, files.size()});
}

TEST_CASE("a model has at most 99,999 parts, whose keys are all needed", "[day06][small]") {
    const Temporary folder;
    const auto opened = [&](std::optional<std::uint32_t> number, std::uint32_t count,
                            std::optional<std::uint32_t> tensors) {
        GgufWriter file;
        if (number) file.value("split.no", *number);
        file.value("split.count", count);
        if (tensors) file.value("split.tensors.count", *tensors);
        const Bytes bytes = file.bytes();
        const std::string path = folder / sentence("m-99999-of-", count, ".gguf");
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
        return rejection([&] { ModelFiles files(path); });
    };
    CHECK(opened(99998, 99999, 0) == sentence("part 1 of 99999: ", folder.name,
                                              "/m-00001-of-99999.gguf cannot be opened: No such "
                                              "file or directory"));
    CHECK(contains(opened(99998, 100000, 0),
                   "'split.count' is 100000, but must be a number from 0 to 99999"));
    CHECK(contains(opened({}, 99999, 0), "key 'split.no' is not among the file's"));
    CHECK(contains(opened(99998, 99999, {}), "key 'split.tensors.count' is not among"));
}

TEST_CASE("a damaged file with checksums is rejected when it is opened", "[day06][small]") {
    const Temporary folder;
    GgufWriter writer = small_model(WeightType::f16, false, {});
    writer.checksums();
    Bytes bytes = writer.bytes();
    const auto opened = [&] {
        std::ofstream(folder / "model.gguf", std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
        return rejection([&] { ModelFiles files(folder / "model.gguf"); });
    };
    CHECK(opened().empty());
    const FileTensor last = Gguf(bytes, "model").tensors().back();
    bytes[static_cast<std::size_t>(last.weight.data - bytes.data())] ^= std::byte{1};
    CHECK(contains(opened(), quoted(last.name)));
}

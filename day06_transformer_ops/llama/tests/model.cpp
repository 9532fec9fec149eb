// Files of any architecture, opened by the architecture that they name.
#include "day06_transformer_ops/llama/model.hpp"

#include <filesystem>
#include <fstream>

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/tests/temporary.hpp"
#include "day06_transformer_ops/llama/tests/small_llama.hpp"

using namespace sixdays;
using namespace sixdays::llama;
using namespace sixdays::testing;
using gpt2::WeightType;

TEST_CASE("a model is opened by the architecture that its file names", "[day06][small]") {
    const Model llama(tests::file_of_tests("llama.gguf"));
    CHECK(std::holds_alternative<ModelWeights>(llama.weights));
    CHECK(summary(llama) ==
          "llama, 2 layers, 32 channels, 300 tokens, context 64, weights in Q8_0, 0.1 MB");
    CHECK(llama.sizes().heads == 4);
    CHECK(llama.vocabulary.size() == 300);
    const Model gpt2(gpt2::tests::file_of_tests("tiny.gguf"));
    CHECK(std::holds_alternative<gpt2::ModelWeights>(gpt2.weights));
    CHECK(summary(gpt2) ==
          "gpt2, 2 layers, 32 channels, 300 tokens, context 24, weights in Q8_0, 0.1 MB");
    CHECK(contains(rejection([] { Model(tests::file_of_tests("expected.gguf")); }),
                   "the architecture is 'expected', but this engine runs 'gpt2', 'llama', 'qwen2' "
                   "and 'qwen3'"));
}

TEST_CASE("a summary has the type of the matrices, and the file's size in two or more digits",
          "[day06][small]") {
    const gpt2::tests::Temporary folder;
    const std::string path = folder / "model.gguf";
    const gpt2::Bytes bytes = gpt2::tests::small_model(WeightType::f16, false, {}).bytes();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    const struct {
        std::uintmax_t bytes;
        const char* text;
    } sizes[] = {{1'449'999, "1.4 MB"},
                 {1'450'001, "1.5 MB"},
                 {9'949'999, "9.9 MB"},
                 {9'950'001, "10 MB"},
                 {251'500'001, "252 MB"}};
    for (const auto& size : sizes) {
        std::filesystem::resize_file(path, size.bytes);  // followed by zeros
        CHECK(summary(Model(path)) ==
              sentence("gpt2, 1 layers, 8 channels, 257 tokens, context 5, weights in F16, ",
                       size.text));
    }
}

TEST_CASE("loading reports every byte of the file", "[day06][small]") {
    const Model model(tests::file_of_tests("llama.gguf"));
    std::size_t last = 0;
    model.files.load([&](std::size_t bytes) {
        CHECK(bytes >= last);
        last = bytes;
    });
    CHECK(last == model.files.size());
}

// Files on a disk: mapping them, and files written by PyPI's `gguf` (reference.py).
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

TEST_CASE("a mapped file has the file's bytes", "[day06][small]") {
    const MappedFile file(file_of_tests("gpt2_merges.bin"));
    REQUIRE(file.bytes().size() == 200000);
    CHECK(file.bytes()[0] == std::byte{220});  // " " and "t", the first merge
    CHECK(file.bytes()[2] == std::byte{83});
}

TEST_CASE("files that cannot be mapped are rejected with the reason", "[day06][small]") {
    const auto opened = [](const std::string& path) {
        return rejection([&] { MappedFile file(path); });
    };
    CHECK(opened("/nowhere/model.gguf") ==
          "/nowhere/model.gguf cannot be opened: No such file or directory");
    CHECK(contains(opened(file_of_tests("")), "is a directory, but must be a plain file"));
    CHECK(contains(opened("/dev/null"), "/dev/null is a device, but must be a plain file"));
}

TEST_CASE("models written by PyPI's gguf are read", "[day06][small]") {
    const bool own_head = GENERATE(false, true);
    const std::string name = own_head ? "tiny_head" : "tiny";
    const MappedFile mapped(file_of_tests(name + ".gguf"));
    const Gguf file(mapped.bytes(), name);
    const ModelWeights model = read_model(file);
    CHECK(model.config.layers == 2);
    CHECK(model.config.heads == 2);
    CHECK(model.config.channels == 32);
    CHECK(model.config.context == 24);
    CHECK(model.config.hidden == 128);
    CHECK(model.config.vocabulary == 300);
    CHECK(model.config.epsilon == 1e-5f);
    CHECK((model.head.data == model.token_embedding.data) == !own_head);
    CHECK(model.blocks[1].qkv.weight.type == (own_head ? WeightType::f32 : WeightType::f16));
    CHECK(model.blocks[1].attention_output.weight.type ==
          (own_head ? WeightType::f32 : WeightType::bf16));
    CHECK(file.text("tokenizer.ggml.pre") == "gpt-2");
    const Vocabulary vocabulary(file);
    CHECK(vocabulary.size() == 300);
    CHECK(vocabulary.end_of_text() == 299);
    CHECK(vocabulary.bytes(256) == " t");

    // The input of the first block is exactly the sum of two rows, Q8_0 in one of the files.
    const MappedFile mapped_expected(file_of_tests("tiny_expected.gguf"));
    const Gguf expected(mapped_expected.bytes(), "tiny_expected.gguf");
    const auto tokens = expected.integers(name + ".tokens", 0, 299);
    REQUIRE(tokens.size() == 24);
    Tensor<float> embedding({300, 32}), positions({24, 32}), sums({24, 32});
    to_float_cpu(model.token_embedding, embedding.view());
    to_float_cpu(model.position_embedding, positions.view());
    for (std::int64_t t = 0; t < 24; ++t) {
        for (std::int64_t c = 0; c < 32; ++c) {
            sums(t, c) = embedding(tokens[static_cast<std::size_t>(t)], c) + positions(t, c);
        }
    }
    CHECK(equal(sums.view(), expected.tensor(name + ".passed.0").weight.as_f32()));
    CHECK(expected.tensor(name + ".logits").weight.shape == Shape{24, 300});
}

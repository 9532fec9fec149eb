// Damaged files: each must be read or rejected with an error message. The sanitizers find reads
// past the end, overflows and wild pointers; these cases are mainly for them.
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/file/model_file.hpp"
#include "day06_transformer_ops/gpt2/tests/damage.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;

namespace {

// Reads everything in a file. Returns the error message, or "" if all could be read.
std::string read_all(const Bytes& bytes) {
    return testing::rejection([&] {
        const Gguf file(bytes, "damaged");
        for (const FileTensor& tensor : file.tensors()) {
            Tensor<float> values(tensor.weight.shape);
            to_float_cpu(tensor.weight, values.view());
        }
        (void)read_model(file);
        const Vocabulary vocabulary(file);
        for (std::int64_t t = 0; t < vocabulary.size(); ++t) (void)vocabulary.bytes(t);
    });
}

// The same for a file that has only a vocabulary.
std::string read_vocabulary(const Bytes& bytes) {
    return testing::rejection([&] {
        const Gguf file(bytes, "damaged");
        const Vocabulary vocabulary(file);
        std::string all;
        for (std::int64_t t = 0; t < vocabulary.size(); ++t) all += vocabulary.bytes(t);
        (void)encode(vocabulary, all);
    });
}

}  // namespace

TEST_CASE("24,000 damaged files are read or rejected with an error message", "[day06][small]") {
    const Bytes tied = small_model(WeightType::f16, false, {"h e", "Ġ t", "Ġt he"}).bytes();
    const Bytes own = small_model(WeightType::f32, true, {"h e"}).bytes();
    GgufWriter kinds;  // all metadata types and Q8_0, which a model of 8 channels cannot have
    kinds.value("u8", std::uint8_t{1});
    kinds.array("i64s", std::vector<std::int64_t>{1, -2, 3});
    kinds.value("yes", true);
    kinds.texts("texts", {"a", "", "ccc"});
    kinds.tensor("q", {64, 3}, WeightType::q8_0, Bytes(3 * 2 * 34));
    kinds.tensor("v", {2, 3, 2}, WeightType::bf16, Bytes(24));
    REQUIRE(read_all(tied).empty());
    REQUIRE(read_all(own).empty());
    REQUIRE(testing::contains(read_all(kinds.bytes()), "'general.architecture' is not among"));

    Outcome sum;
    const auto add = [&](const Bytes& good, std::size_t head, int files, std::uint64_t seed) {
        const Outcome one = damage_often(good, head, files, seed, read_all);
        sum.whole += one.whole, sum.rejected += one.rejected, sum.silent += one.silent;
    };
    // The keys before the tokens, the list of tensors after them, and anywhere.
    const Gguf file(tied, "tied");
    const std::size_t tensors = file.tensors()[0].at;
    add(tied, 400, 6000, 1000000);
    add(tied, tied.size(), 4000, 2000000);
    add(Bytes(tied), tensors + 900, 4000, 3000000);
    add(own, 400, 4000, 4000000);
    add(kinds.bytes(), 250, 6000, 5000000);
    CHECK(sum.whole + sum.rejected == 24000);
    CHECK(sum.silent == 0);
    CHECK(sum.whole > 500);  // a changed weight is still valid
    CHECK(sum.rejected > 15000);
}

TEST_CASE("1,000 damaged SentencePiece vocabularies are read or rejected", "[day06][small]") {
    const MappedFile file(file_of_tests("golden_llama2.gguf"));
    const Bytes good(file.bytes().begin(), file.bytes().end());
    REQUIRE(read_vocabulary(good).empty());
    const Outcome outcome = damage_often(good, good.size() / 2, 1000, 6000000, read_vocabulary);
    CHECK(outcome.silent == 0);
    CHECK(outcome.whole > 20);
    CHECK(outcome.rejected > 500);
}

TEST_CASE("every byte of a model's keys and tensor list, inverted", "[day06][small]") {
    const Bytes good = small_model(WeightType::bf16, false, {"h e"}).bytes();
    const Gguf file(good, "good");
    const std::size_t first = file.tensors()[0].at;
    const std::size_t last = file.tensors().back().at + 60;
    int rejected = 0, seen = 0;
    for (std::size_t at = 0; at < last; ++at) {
        if (at == 420) at = first - 40;  // tokens: the case above sees enough of them
        Bytes bytes = good;
        bytes[at] ^= std::byte{0xFF};
        rejected += !read_all(bytes).empty();
        ++seen;
    }
    CAPTURE(rejected, seen);
    CHECK(rejected > seen * 9 / 10);
}

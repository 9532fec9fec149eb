// Keys and tensors that the readers of all architectures take: by name, checked, and the rest
// rejected.
#include "day06_transformer_ops/gpt2/file/model_reader.hpp"

#include <limits>

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

namespace {

// A file of an architecture "some" with keys of every kind.
Bytes file_of_keys() {
    GgufWriter file;
    file.text("general.architecture", "some");
    file.text("general.name", "is of no architecture");
    file.value("some.zero", std::uint32_t{0});
    file.value("some.one", std::uint32_t{1});
    file.value("some.most", std::uint32_t{1} << 24);
    file.value("some.more", (std::uint32_t{1} << 24) + 1);
    file.value("some.real", 0.25f);
    file.value("some.least", std::numeric_limits<float>::denorm_min());
    file.value("some.negative", -0.25f);
    file.value("some.no_number", std::numeric_limits<double>::quiet_NaN());
    file.value("some.endless", std::numeric_limits<double>::infinity());
    file.text("some.text", "words");
    file.value("someone.else", std::uint32_t{1});
    return file.bytes();
}

}  // namespace

TEST_CASE("sizes, numbers and texts are taken by their key, or have a default", "[day06][small]") {
    const Bytes bytes = file_of_keys();
    const Gguf file(bytes, "test.gguf");
    KeyTaker take(file);
    CHECK(take.full("one") == "some.one");
    CHECK(take.has("one"));
    CHECK_FALSE(take.has("two"));
    CHECK_FALSE(take.has("some.one"));

    CHECK(take.size("one") == 1);
    CHECK(take.size("most") == 1 << 24);
    CHECK(take.size("one", 7) == 1);
    CHECK(take.size("two", 7) == 7);
    CHECK(take.size("two", -7) == -7);
    CHECK(take.size("zero", 7, 0) == 0);
    CHECK(take.size("one", 7, 1) == 1);
    const std::string limits = ", but must be a number from ";
    CHECK(contains(rejection([&] { (void)take.size("zero"); }),
                   "key 'some.zero' is 0" + limits + "1 to 16777216"));
    CHECK(contains(rejection([&] { (void)take.size("zero", 7); }), limits + "1 to 16777216"));
    CHECK(contains(rejection([&] { (void)take.size("one", 7, 2); }), limits + "2 to 16777216"));
    for (const auto least : {0, 1}) {
        CHECK(contains(rejection([&] { (void)take.size("more", 7, least); }), "is 16777217, but"));
    }
    CHECK(contains(rejection([&] { (void)take.size("more"); }), "is 16777217, but"));
    CHECK(contains(rejection([&] { (void)take.size("two"); }), "'some.two' is not among"));

    CHECK(take.positive("real") == 0.25);
    CHECK(take.positive("least") > 0);
    CHECK(take.positive("real", 3) == 0.25);
    CHECK(take.positive("two", 3) == 3);
    for (const char* const bad : {"negative", "no_number", "endless"}) {
        const std::string said = sentence("'some.", bad, "' is ", file.shown(take.full(bad)),
                                          ", but must be finite and above 0");
        CHECK(contains(rejection([&] { (void)take.positive(bad); }), said));
        CHECK(contains(rejection([&] { (void)take.positive(bad, 3); }), said));
    }
    CHECK(contains(rejection([&] { (void)take.positive("two"); }), "'some.two' is not among"));
    CHECK(take.text("text", "none") == "words");
    CHECK(take.text("two", "none") == "none");
}

TEST_CASE("a key that no reader takes is rejected, with its value", "[day06][small]") {
    const Bytes bytes = file_of_keys();
    const Gguf file(bytes, "test.gguf");
    const auto rest = [&](const auto& taken) {
        KeyTaker take(file);
        for (const char* const key :
             {"zero", "most", "more", "real", "least", "negative", "no_number", "endless"}) {
            take.ignore(key);
        }
        taken(take);
        return rejection([&] { take.reject_rest(); });
    };
    const std::string end = ", which this engine does not know; its results could be wrong";
    CHECK(
        rest([](KeyTaker& take) { (void)take.size("one"), (void)take.text("text", ""); }).empty());
    CHECK(contains(rest([](KeyTaker& take) { (void)take.size("one", 7); }),
                   "'some.text' is 'words'" + end));
    CHECK(contains(rest([](KeyTaker& take) { (void)take.text("text", ""); }),
                   "'some.one' is 1" + end));
    CHECK(contains(rest([](KeyTaker& take) { (void)take.has("one"), take.ignore("text"); }),
                   "'some.one' is 1" + end));

    const auto allowed = [&](const char* name, const char* value) {
        return rest([&](KeyTaker& take) {
            take.ignore("one"), take.ignore("text");
            take.allow(name, value, "for a reason");
        });
    };
    CHECK(allowed("two", "1").empty());  // absent
    CHECK(rest([](KeyTaker& take) { take.allow("one", "1", ""), take.ignore("text"); }).empty());
    CHECK(contains(rejection([&] { KeyTaker(file).allow("one", "2", "for a reason"); }),
                   "'some.one' is 1, but must be 2: for a reason"));
}

TEST_CASE("a tensor is taken once it has the right shape, and the rest is rejected",
          "[day06][small]") {
    GgufWriter writer;
    const std::vector<float> values = {1, 2, 3, 4, 5, 6};
    Bytes data;
    for (const float value : values) append(data, value);
    writer.tensor("matrix", {3, 2}, WeightType::f32, data);  // innermost first
    writer.tensor("vector", {6}, WeightType::f32, data);
    writer.tensor("token_embd.weight", {3, 2}, WeightType::f32, data);
    const Bytes bytes = writer.bytes();
    const Gguf file(bytes, "test.gguf");
    TensorTaker take(file);
    const auto rest = [&] { return rejection([&] { take.reject_rest("a test"); }); };
    CHECK(take.has("matrix"));
    CHECK_FALSE(take.has("other"));
    CHECK(contains(rest(), "tensor 'matrix' has no place in a test"));
    CHECK(contains(rejection([&] {
                       (void)take.matrix("matrix", {3, 2});
                   }),
                   "tensor 'matrix' has shape (2, 3), but the keys of this file ask for (3, 2)"));
    CHECK(contains(rest(), "tensor 'matrix' has no place"));
    CHECK(take.matrix("matrix", {2, 3}).as_f32()(1, 0) == 4);
    CHECK(contains(rest(), "tensor 'vector' has no place"));
    CHECK(contains(rejection([&] { (void)take.vector("vector", 5); }), "has shape (6), but"));
    CHECK(contains(rejection([&] { (void)take.vector_or_none("vector", 7); }), "ask for (7)"));
    CHECK(take.vector_or_none("other", 6).shape() == Shape{0});
    CHECK(contains(rest(), "tensor 'vector' has no place"));
    CHECK(take.vector_or_none("vector", 6)(5) == 6);
    CHECK(contains(rest(), "tensor 'token_embd.weight' has no place"));
    const Weight embedding = take.matrix("token_embd.weight", {2, 3});
    CHECK(take.head(embedding).data == embedding.data);  // no "output.weight"
    CHECK(rest().empty());
    CHECK(vocabulary_of(file) == 2);
}

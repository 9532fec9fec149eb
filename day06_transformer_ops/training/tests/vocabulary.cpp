// A vocabulary learned from a text: against a literal implementation of the rule, and gpt2's
// tokenizer.
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "day06_transformer_ops/gpt2/backend/philox.hpp"
#include "day06_transformer_ops/gpt2/text/bpe_trainer.hpp"
#include "day06_transformer_ops/gpt2/text/pre_split.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"
#include "day06_transformer_ops/tests/helpers.hpp"
#include "day06_transformer_ops/training/checkpoint.hpp"
#include "day06_transformer_ops/training/data.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::gpt2;
using namespace sixdays::testing;

namespace {

using Tokens = std::vector<std::int64_t>;

// The rule, literally: count all pairs of neighbours again, merge the most frequent one, repeat.
// @return the merges; fewer than requested if no pair occurs twice
struct Plain {
    std::vector<std::string> merges;
    Tokens tokens;
};
Plain plainly(const std::vector<std::string_view>& pieces, std::int64_t size) {
    Plain made;
    std::vector<std::string> names = byte_tokens();
    std::vector<Tokens> words;
    for (const std::string_view piece : pieces) {
        words.emplace_back();
        for (const char c : piece) {
            words.back().push_back(byte_token(static_cast<std::uint8_t>(c)));
        }
    }
    const auto name = [&](std::int64_t token) { return names[static_cast<std::size_t>(token)]; };
    while (static_cast<std::int64_t>(names.size()) + 1 < size) {
        std::map<std::pair<std::int64_t, std::int64_t>, int> times;
        for (const Tokens& word : words) {
            for (std::size_t i = 0; i + 1 < word.size(); ++i) ++times[{word[i], word[i + 1]}];
        }
        std::pair<std::int64_t, std::int64_t> best;
        int most = 1;
        for (const auto& [pair, count] : times) {  // in the order of left, then right
            const bool is_new = std::find(names.begin(), names.end(),
                                          name(pair.first) + name(pair.second)) == names.end();
            if (count > most && is_new) most = count, best = pair;
        }
        if (most == 1) break;
        made.merges.push_back(name(best.first) + " " + name(best.second));
        names.push_back(name(best.first) + name(best.second));
        for (Tokens& word : words) {
            for (std::size_t i = 0; i + 1 < word.size(); ++i) {
                if (word[i] != best.first || word[i + 1] != best.second) continue;
                word[i] = static_cast<std::int64_t>(names.size()) - 1;
                word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            }
        }
    }
    for (const Tokens& word : words) {
        made.tokens.insert(made.tokens.end(), word.begin(), word.end());
    }
    return made;
}

// The vocabulary as read from a file.
Vocabulary read(const NewVocabulary& vocabulary) {
    GgufWriter file;
    write_vocabulary(file, vocabulary);
    const Bytes bytes = file.bytes();
    return Vocabulary(Gguf(bytes, "learned"));
}

std::string drawn(std::uint64_t seed, std::int64_t length, int letters, std::string_view alphabet) {
    std::string text;
    for (std::int64_t i = 0; i < length; ++i) {
        const double u = uniform(seed, static_cast<std::uint64_t>(i));
        const auto at = static_cast<std::size_t>(u * letters);
        text += alphabet.empty() ? static_cast<char>(at) : alphabet[at];
    }
    return text;
}

// Words of some syllables: common parts are worth a token.
std::string words_of(std::uint64_t seed, std::int64_t count) {
    constexpr const char* kSyllables[] = {"ta", "ke", "ro", "min", "su", "el", "a", "thor"};
    std::string text;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto draw = static_cast<std::uint64_t>(4 * i);
        const auto n = static_cast<int>(1 + uniform(seed, draw) * 3);
        for (int s = 0; s < n; ++s) {
            const double u = uniform(seed, draw + 1 + static_cast<std::uint64_t>(s));
            text += kSyllables[static_cast<std::size_t>(u * u * 8)];
        }
        text += i % 11 == 10 ? ".\n" : " ";
    }
    return text;
}

}  // namespace

TEST_CASE("a vocabulary worked by hand: the hen, then the hens", "[day06][training][small]") {
    const std::string text = "the hen, then the hens";
    const LearnedVocabulary learned = learn_vocabulary(pre_split(text), 262);
    // h e five times. Then t he and he n three times each: t is the older token. Then three
    // pairs twice: the blank before he first, then the blank before the.
    CHECK(learned.vocabulary.merges ==
          std::vector<std::string>{"h e", "t he", "Ġ he", "Ġ the", "Ġhe n"});
    REQUIRE(learned.vocabulary.size() == 262);
    CHECK(learned.vocabulary.tokens[256] == "he");
    CHECK(learned.vocabulary.tokens[260] == "Ġhen");
    CHECK(learned.vocabulary.tokens[261] == "<|endoftext|>");
    const Tokens want = {257, 260, byte_token(','), 259, byte_token('n'),
                         259, 260, byte_token('s')};
    CHECK(learned.tokens == want);
    CHECK(encode(read(learned.vocabulary), text) == want);
    const std::string said = rejection([&] { (void)learn_vocabulary(pre_split(text), 263); });
    CHECK(contains(said, "263 tokens: this text gives 262, then no pair of neighbours"));
}

TEST_CASE("a learned vocabulary matches the rule, on a hundred texts", "[day06][training][small]") {
    int wrong = 0, merges = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        const std::string text = seed % 3 == 0   ? words_of(seed, 40)
                                 : seed % 3 == 1 ? drawn(seed, 90, 3, "ab ")
                                                 : drawn(seed, 60, 2, "ab");
        const auto pieces = pre_split(text);
        const Plain plain = plainly(pieces, 257 + static_cast<std::int64_t>(seed % 60));
        const LearnedVocabulary learned =
            learn_vocabulary(pieces, 257 + static_cast<std::int64_t>(plain.merges.size()));
        wrong += learned.vocabulary.merges != plain.merges || learned.tokens != plain.tokens;
        merges += static_cast<int>(plain.merges.size());
    }
    CHECK(wrong == 0);
    CHECK(merges > 1000);
}

TEST_CASE(
    "a learned vocabulary: gpt2's tokenizer gives the same tokens, and they decode to the text",
    "[day06][training][small]") {
    const std::string any = drawn(7, 4000, 256, "");
    const std::string texts[] = {words_of(1, 3000), any + any,
                                 words_of(2, 300) + "h\u00e9n \u20ac 20" + any + any};
    for (const std::string& text : texts) {
        const LearnedVocabulary learned = learn_vocabulary(pre_split(text), 300);
        const Vocabulary vocabulary = read(learned.vocabulary);
        CHECK(vocabulary.size() == 300);
        CHECK(vocabulary.end_of_text() == 299);
        CHECK(encode(vocabulary, text) == learned.tokens);
        CHECK(decode(vocabulary, learned.tokens) == text);
        CHECK(learned.tokens.size() < text.size());
        // Also for a text that it has not seen.
        for (const std::string& other : texts) {
            CHECK(decode(vocabulary, encode(vocabulary, other)) == other);
        }
        CHECK(learn_vocabulary(pre_split(text), 300).vocabulary.merges ==
              learned.vocabulary.merges);
    }
}

TEST_CASE("a learned vocabulary: one piece of a megabyte, and a thousand merges of another",
          "[day06][training][small]") {
    const std::string one(1 << 20, 'a');  // one endless word
    const LearnedVocabulary learned = learn_vocabulary({one}, 257 + 19);
    CHECK(learned.tokens.size() == 2);  // of half a megabyte each
    const std::string text = drawn(3, 1 << 20, 40, "etaoinshrdlucmfwypvbgkqjxz    ETAOIN.,\n 12");
    CHECK(learn_vocabulary(pre_split(text), 1257).vocabulary.merges.size() == 1000);
}

TEST_CASE("a learned vocabulary: a pair is in the heap once, however many places it occurs at",
          "[day06][training][small]") {
    const std::string genes = drawn(4, 1 << 17, 4, "ACGT");  // one piece, few pairs, many places
    const LearnedVocabulary learned = learn_vocabulary({genes}, 257 + 300);
    CHECK(learned.vocabulary.merges.size() == 300);
    CHECK(learned.taken >= 300);
    CHECK(learned.taken < 10 * 300);  // each merge creates a few pairs, and makes some rarer
}

TEST_CASE("a learned vocabulary rejects invalid arguments", "[day06][training][small]") {
    const std::string text = "abababab";
    CHECK(contains(rejection([&] { (void)learn_vocabulary(pre_split(text), 256); }),
                   "a vocabulary of 256 tokens: 257 is the least"));
    CHECK(learn_vocabulary(pre_split(text), 257).tokens.size() == 8);
    CHECK(learn_vocabulary({}, 257).tokens.empty());
    CHECK(contains(rejection([] { (void)learn_vocabulary({}, 258); }), "this text gives 257"));
    for (const std::size_t at : {0u, 1u, 2u}) {
        std::vector<std::string_view> pieces = {"ab", "ab"};
        pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(at), "");
        const std::string said = rejection([&] { (void)learn_vocabulary(pieces, 257); });
        CHECK(contains(said, "piece " + std::to_string(at) + " of the text is empty"));
    }
}

TEST_CASE("a text in a learned vocabulary: tokens, words and rejections of the source",
          "[day06][training][small]") {
    std::string path = (std::filesystem::temp_directory_path() / "vocabulary_XXXXXX").string();
    const int file = mkstemp(path.data());
    REQUIRE(file >= 0);
    close(file);
    const std::string text = "the hen, then the hens";
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    write_whole(path, {bytes, bytes + text.size()});
    const Source source = text_source(path, {2, 4, 0}, 262);
    CHECK(source.words == "a text of 8 tokens, 22 bytes");
    CHECK(source.vocabulary.size() == 262);
    CHECK(source.prompt == Tokens{257, 260});
    CHECK_FALSE(source.answers);
    const Batch batch = source.batch(0);
    for (const std::int64_t id : batch.ids) CHECK(id < 261);
    CHECK(source.fingerprint == text_source(path, {2, 4, 0}).fingerprint);
    CHECK(contains(rejection([&] {
                       (void)text_source(path, {2, 8, 0}, 262);
                   }),
                   "has 8 tokens of this vocabulary, but a context of 8 needs 9 at least"));
    CHECK(contains(rejection([&] {
                       (void)text_source(path, {2, 4, 0}, 263);
                   }),
                   "this text gives 262"));
    std::filesystem::remove(path);
}

// GPT-2's vocabulary from a file, and merging.
#include "day06_transformer_ops/gpt2/text/vocabulary.hpp"

#include <functional>

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/text/bpe.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

namespace {

struct Keys {
    std::string model = "gpt2", pre = "gpt-2";
    std::vector<std::string> merges = {"h e", "Ġ t", "Ġt he"};
    std::vector<std::string> tokens = tokens_with(merges);
    std::vector<std::int32_t> types = {};  // empty: all normal but the last
    std::int64_t end = -1;                 // -1: the last
    std::function<void(GgufWriter&)> more = [](GgufWriter&) {};

    Bytes bytes() const {
        std::vector<std::int32_t> all = types;
        if (all.empty()) {
            all.assign(tokens.size(), 1);
            all.back() = 3;
        }
        GgufWriter file;
        file.text("tokenizer.ggml.model", model);
        if (!pre.empty()) file.text("tokenizer.ggml.pre", pre);
        file.texts("tokenizer.ggml.tokens", tokens);
        file.array("tokenizer.ggml.token_type", all);
        file.texts("tokenizer.ggml.merges", merges);
        file.value("tokenizer.ggml.eos_token_id",
                   end < 0 ? static_cast<std::int64_t>(tokens.size() - 1) : end);
        more(file);
        return file.bytes();
    }
    Vocabulary vocabulary() const {
        const Bytes file = bytes();
        return Vocabulary(Gguf(file, "test.gguf"));
    }
    std::string rejection() const {
        return testing::rejection([&] { (void)vocabulary(); });
    }
};

std::vector<std::int64_t> encoded(const Vocabulary& vocabulary, std::string_view piece) {
    std::vector<std::int64_t> tokens;
    encode_piece(vocabulary, piece, tokens);
    return tokens;
}

// The rule, literally: repeatedly merge the lowest rank anywhere, leftmost first.
std::vector<std::int64_t> plainly(const Vocabulary& vocabulary, std::string_view piece) {
    std::vector<std::int64_t> tokens;
    for (const char c : piece) {
        tokens.push_back(vocabulary.token_of_byte(static_cast<std::uint8_t>(c)));
    }
    while (true) {
        std::optional<Merge> best;
        std::size_t at = 0;
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
            const auto merge = vocabulary.merge(tokens[i], tokens[i + 1]);
            if (merge && (!best || merge->rank < best->rank)) best = merge, at = i;
        }
        if (!best) return tokens;
        tokens[at] = best->result;
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
}

}  // namespace

TEST_CASE("bytes and letters map to each other", "[day06][small]") {
    CHECK(letter_of('!') == U'!');
    CHECK(letter_of('~') == U'~');
    CHECK(letter_of(0xA1) == 0xA1);
    CHECK(letter_of(0xAC) == 0xAC);
    CHECK(letter_of(0xAE) == 0xAE);
    CHECK(letter_of(0xFF) == 0xFF);
    CHECK(letter_of(0) == 0x100);
    CHECK(letter_of('\n') == U'Ċ');
    CHECK(letter_of(' ') == U'Ġ');
    CHECK(letter_of(0x7F) == 0x121);
    CHECK(letter_of(0xA0) == 0x142);
    CHECK(letter_of(0xAD) == 0x143);
}

TEST_CASE("a vocabulary has its bytes, merges and end of text", "[day06][small]") {
    const Vocabulary vocabulary = Keys().vocabulary();
    CHECK(vocabulary.size() == 260);
    CHECK(vocabulary.bytes(0) == "!");
    CHECK(vocabulary.bytes(188) == std::string(1, '\0'));
    CHECK(vocabulary.bytes(258) == " the");
    CHECK(vocabulary.bytes(259) == "<|endoftext|>");
    CHECK(vocabulary.end_of_text() == 259);
    for (int byte = 0; byte < 256; ++byte) {
        const auto b = static_cast<std::uint8_t>(byte);
        CHECK(vocabulary.bytes(vocabulary.token_of_byte(b)) ==
              std::string(1, static_cast<char>(b)));
    }
    CHECK(rejection([&] { (void)vocabulary.bytes(260); }) == "token 260 of a vocabulary of 260");
    CHECK(contains(rejection([&] { (void)vocabulary.bytes(-1); }), "token -1"));
    CHECK(contains(rejection([&] { (void)decode(vocabulary, {0, 260}); }), "token 260"));
    CHECK(decode(vocabulary, {258, 0, 259}) == " the!<|endoftext|>");

    const std::int64_t h = vocabulary.token_of_byte('h'), e = vocabulary.token_of_byte('e');
    REQUIRE(vocabulary.merge(h, e).has_value());
    CHECK(vocabulary.merge(h, e)->rank == 0);
    CHECK(vocabulary.merge(h, e)->result == 256);
    CHECK_FALSE(vocabulary.merge(e, h).has_value());
    Keys without;
    without.pre = "";
    without.end = 7;
    CHECK(without.vocabulary().end_of_text() == 7);
}

TEST_CASE("merging matches results worked by hand", "[day06][small]") {
    const Vocabulary vocabulary = Keys().vocabulary();
    CHECK(encoded(vocabulary, " the") == std::vector<std::int64_t>{258});
    CHECK(encoded(vocabulary, " thehe") == std::vector<std::int64_t>{258, 256});
    CHECK(encoded(vocabulary, "").empty());
    // The name of the end token is encoded like any other text.
    CHECK(encoded(vocabulary, "<|endoftext|>").size() == 13);
}

TEST_CASE("the lowest rank is merged first, of equal pairs the leftmost", "[day06][small]") {
    Keys keys;
    keys.merges = {"a a", "b a", "aa b"};
    keys.tokens = tokens_with(keys.merges);
    const Vocabulary vocabulary = keys.vocabulary();
    const std::int64_t a = vocabulary.token_of_byte('a');
    CHECK(encoded(vocabulary, "aaa") == std::vector<std::int64_t>{256, a});
    CHECK(encoded(vocabulary, "aaaaa") == std::vector<std::int64_t>{256, 256, a});
    CHECK(encoded(vocabulary, "baa") ==
          std::vector<std::int64_t>{vocabulary.token_of_byte('b'), 256});
    CHECK(encoded(vocabulary, "aab") == std::vector<std::int64_t>{258});
    CHECK(encoded(vocabulary, "aaba") ==
          std::vector<std::int64_t>{256, 257});  // "b a" before "aa b"
}

TEST_CASE("the heap merges as the rule does, on all texts of three letters", "[day06][small]") {
    Keys keys;
    keys.merges = {"b c", "a bc", "a a", "aa a", "c a", "bc ca", "ca b", "aa aa", "b b"};
    keys.tokens = tokens_with(keys.merges);
    const Vocabulary vocabulary = keys.vocabulary();
    int wrong = 0;
    for (int length = 0; length <= 9; ++length) {
        int count = 1;
        for (int i = 0; i < length; ++i) count *= 3;
        for (int number = 0; number < count; ++number) {
            std::string text;
            for (int i = 0, rest = number; i < length; ++i, rest /= 3) {
                text += static_cast<char>('a' + rest % 3);
            }
            wrong += encoded(vocabulary, text) != plainly(vocabulary, text);
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a piece of 256 KiB is merged", "[day06][small]") {
    Keys keys;
    keys.merges = {"a a", "aa aa", "aaaa aaaa"};
    keys.tokens = tokens_with(keys.merges);
    const Vocabulary vocabulary = keys.vocabulary();
    const auto tokens = encoded(vocabulary, std::string(1 << 18, 'a'));
    CHECK(tokens == std::vector<std::int64_t>(1 << 15, 258));
}

TEST_CASE("an invalid vocabulary is rejected", "[day06][small]") {
    const auto with = [](auto change) {
        Keys keys;
        change(keys);
        return keys.rejection();
    };
    CHECK(with([](Keys&) {}).empty());
    CHECK(contains(with([](Keys& k) { k.model = "bert"; }),
                   "key 'tokenizer.ggml.model' is 'bert', but must be 'gpt2' or 'llama'"));
    CHECK(contains(with([](Keys& k) { k.pre = "qwen35"; }),
                   "key 'tokenizer.ggml.pre' is 'qwen35', but must be one of 'gpt-2', 'smollm', "
                   "'llama-bpe', 'qwen2'"));
    CHECK(contains(with([](Keys& k) { k.pre = "default"; }), "is 'default', but must be one of"));
    const auto without_pre = [&](const char* architecture) {
        return with([&](Keys& k) {
            k.pre = "";
            k.more = [=](GgufWriter& file) { file.text("general.architecture", architecture); };
        });
    };
    CHECK(without_pre("gpt2").empty());
    CHECK(contains(without_pre("llama"),
                   "key 'tokenizer.ggml.pre' is missing, and only a GPT-2 can be split without "
                   "it: it must be one of 'gpt-2', 'smollm', 'llama-bpe', 'qwen2'"));
    CHECK(contains(with([](Keys& k) { k.types = {1, 1}; }), "has 2 types for 260 tokens"));
    CHECK(contains(with([](Keys& k) { k.types.assign(260, 7); }), "must be a number from 0 to 6"));
    CHECK(
        contains(with([](Keys& k) { k.end = 260; }), "is 260, but must be a number from 0 to 259"));
    CHECK(contains(with([](Keys& k) { k.tokens[3] = "€"; }),
                   R"(token 3, '???', is not written in GPT-2's letters for bytes)"));
    CHECK(
        contains(with([](Keys& k) { k.tokens[3] = "\xFF"; }), "is not written in GPT-2's letters"));
    CHECK(contains(with([](Keys& k) { k.tokens[3] = ""; }), "token 3, '', is not written"));
    CHECK(contains(with([](Keys& k) { k.tokens[3] = "#"; }), "token 3, '#', is token 2 already"));
    CHECK(contains(with([](Keys& k) { k.merges[1] = "the"; }),
                   "merge 1, 'the', is not two tokens separated by a space"));
    CHECK(
        contains(with([](Keys& k) { k.merges[1] = "th e"; }), "needs a token that does not exist"));
    CHECK(
        contains(with([](Keys& k) { k.merges[1] = "e th"; }), "needs a token that does not exist"));
    CHECK(contains(with([](Keys& k) { k.merges[1] = "e h"; }), "merge 1, 'e h', needs a token"));
    CHECK(contains(with([](Keys& k) { k.merges[1] = " h"; }), "merge 1, ' h', needs a token"));
    CHECK(contains(with([](Keys& k) { k.merges[1] = "h e x"; }), "needs a token"));
    CHECK(
        contains(with([](Keys& k) { k.merges[1] = "h e"; }), "merge 1, 'h e', was listed before"));
}

TEST_CASE("a byte may lack a token, as in SmolLM2, until a text has it", "[day06][small]") {
    Keys keys;
    keys.tokens[0] = "!!";
    const Vocabulary vocabulary = keys.vocabulary();
    CHECK(encoded(vocabulary, " the\"") ==
          std::vector<std::int64_t>{258, vocabulary.token_of_byte('"')});
    CHECK(rejection([&] { (void)encoded(vocabulary, " the!"); }) ==
          "byte 33 of the text has no token in this vocabulary");
}

TEST_CASE("only Llama 3 takes a piece that is a token without merging", "[day06][small]") {
    Keys keys;
    keys.tokens.insert(keys.tokens.end() - 1, "hen");  // the result of no merge
    for (const char* const pre : {"gpt-2", "", "smollm", "qwen2", "llama-bpe"}) {
        keys.pre = pre;
        keys.more = [](GgufWriter& file) {
            file.value("tokenizer.ggml.bos_token_id", std::uint32_t{0});
        };
        const Vocabulary vocabulary = keys.vocabulary();
        const bool whole = keys.pre == "llama-bpe";
        CAPTURE(pre);
        CHECK(vocabulary.takes_whole_pieces() == whole);
        CHECK(encoded(vocabulary, "hen").size() == (whole ? 1 : 2));
        CHECK(encoded(vocabulary, " hen").size() == 3);
    }
}

TEST_CASE("a text begins with a token if the file or its pre-split says so", "[day06][small]") {
    constexpr const char *kAdd = "tokenizer.ggml.add_bos_token",
                         *kBegin = "tokenizer.ggml.bos_token_id";
    const auto begins = [&](const char* pre, std::optional<bool> add) {
        Keys keys;
        keys.pre = pre;
        keys.more = [&](GgufWriter& file) {
            if (add) file.value(kAdd, *add);
            file.value(kBegin, std::uint32_t{7});
        };
        const auto token = keys.vocabulary().begin_of_text();
        CHECK((!token || *token == 7));
        return token.has_value();
    };
    for (const char* const pre : {"gpt-2", "", "smollm", "qwen2"}) {
        CHECK_FALSE(begins(pre, {}));
        CHECK(begins(pre, true));
    }
    CHECK(begins("llama-bpe", {}));
    CHECK_FALSE(begins("llama-bpe", false));
    Keys without;
    without.pre = "llama-bpe";
    CHECK(contains(without.rejection(), "key 'tokenizer.ggml.bos_token_id' is not among"));
    without.more = [&](GgufWriter& file) { file.value(kBegin, std::uint32_t{260}); };
    CHECK(contains(without.rejection(), "is 260, but must be a number from 0 to 259"));
    without.more = [&](GgufWriter& file) { file.value(kAdd, std::uint8_t{1}); };
    CHECK(contains(without.rejection(), kAdd));
}

TEST_CASE("the end of text and the end of a turn end what is written", "[day06][small]") {
    Keys keys;
    keys.tokens.insert(keys.tokens.end() - 1, {"<|im_end|>", "<tool", "<tool>"});
    keys.types.assign(keys.tokens.size(), 1);
    keys.types[262] = 3;
    keys.types[260] = keys.types[261] = 4;
    const auto ends = [](const Vocabulary& vocabulary) {
        std::vector<std::int64_t> tokens;
        for (std::int64_t token = 0; token < vocabulary.size(); ++token) {
            if (vocabulary.ends(token)) tokens.push_back(token);
        }
        return tokens;
    };
    CHECK(ends(Keys().vocabulary()) == std::vector<std::int64_t>{259});
    keys.tokens[259] = "he!";  // an ordinary token
    CHECK(ends(keys.vocabulary()) == std::vector<std::int64_t>{262});
    keys.tokens[259] = "<|im_end|>";
    keys.types[259] = 3;
    CHECK(ends(keys.vocabulary()) == std::vector<std::int64_t>{259, 262});
    keys.tokens[259] = "<|eot_id|>";
    CHECK(ends(keys.vocabulary()) == std::vector<std::int64_t>{259, 262});
    for (const char* const name : {"<|eom_id|>", "<|endoftext|>", "<|end_of_text|>"}) {
        keys.tokens[259] = name;
        CHECK(ends(keys.vocabulary()) == std::vector<std::int64_t>{259, 262});
    }
    keys.more = [](GgufWriter& file) {
        file.value("tokenizer.ggml.eom_token_id", std::uint32_t{6});
    };
    CHECK(ends(keys.vocabulary()) == std::vector<std::int64_t>{6, 259, 262});
    keys.tokens[259] = "<|eot_id|>";
    keys.more = [](GgufWriter& file) {
        file.value("tokenizer.ggml.eot_token_id", std::uint32_t{5});
    };
    CHECK(ends(keys.vocabulary()) == std::vector<std::int64_t>{5, 259, 262});
    keys.more = [](GgufWriter& file) {
        file.value("tokenizer.ggml.eot_token_id", std::uint32_t{263});
    };
    CHECK(contains(keys.rejection(), "is 263, but must be a number from 0 to 262"));
    keys.more = [](GgufWriter&) {};

    // Text is encoded to user-defined tokens, the longest first, and not to control tokens.
    const Vocabulary vocabulary = keys.vocabulary();
    CHECK(vocabulary.special("<|eot_id|>") == 259);
    CHECK(vocabulary.special("<tool>") == 261);
    CHECK_FALSE(vocabulary.special("he").has_value());
    CHECK(vocabulary.user_defined_at("<tool>") == 261);
    CHECK(vocabulary.user_defined_at("<tools>") == 260);
    CHECK_FALSE(vocabulary.user_defined_at("<too").has_value());
    CHECK_FALSE(vocabulary.user_defined_at("<|eot_id|>").has_value());
    CHECK_FALSE(vocabulary.user_defined_at("").has_value());
    keys.types[259] = 4;  // its name is a control token's
    CHECK_FALSE(keys.vocabulary().user_defined_at("<|eot_id|>").has_value());
    CHECK(keys.vocabulary().special("<|eot_id|>") == 259);
}

TEST_CASE("only some types of tokens come from text, by merging or by their names",
          "[day06][small]") {
    for (std::int32_t type = 0; type <= 6; ++type) {
        for (const char* const name : {"<tool>", "<|tool", "tool|>", "<|tool|>"}) {
            Keys keys;
            keys.tokens.insert(keys.tokens.end() - 1, name);
            keys.types.assign(keys.tokens.size(), 1);
            keys.types[259] = type;
            const Vocabulary vocabulary = keys.vocabulary();
            CAPTURE(type, name);
            const bool normal = type == 1, control = type == 3, user_defined = type == 4;
            const bool is_mark = name == std::string("<|tool|>");
            CHECK(vocabulary.bytes(259) == name);
            CHECK(vocabulary.token_of(name).has_value() == normal);
            CHECK(vocabulary.special(name).has_value() == (control || user_defined));
            CHECK(vocabulary.user_defined_at(name).has_value() == (user_defined && !is_mark));
        }
    }
    Keys keys;  // a user-defined token without a name is in no text
    keys.tokens.insert(keys.tokens.end() - 1, "");
    keys.types.assign(keys.tokens.size(), 1);
    keys.types[259] = 4;
    CHECK_FALSE(keys.vocabulary().user_defined_at(" the").has_value());
}

TEST_CASE("GPT-2's real vocabulary has the tokens that its papers show", "[day06][small]") {
    const Bytes bytes = real_vocabulary().bytes();
    const Vocabulary vocabulary{Gguf(bytes, "gpt2")};
    CHECK(vocabulary.size() == 50257);
    CHECK(vocabulary.end_of_text() == 50256);
    CHECK(vocabulary.bytes(220) == " ");
    CHECK(vocabulary.bytes(262) == " the");
    CHECK(vocabulary.bytes(50255) == " gazed");
    CHECK(vocabulary.bytes(50256) == "<|endoftext|>");
    CHECK(encoded(vocabulary, " SolidGoldMagikarp") == std::vector<std::int64_t>{43453});
}

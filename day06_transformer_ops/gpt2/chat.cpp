#include "day06_transformer_ops/gpt2/chat.hpp"

#include <algorithm>

#include "common/tensor/arguments.hpp"
#include "day06_transformer_ops/gpt2/text/tokenizer.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr const char* kTemplate = "tokenizer.chat_template";

// A turn is: begin, role, after_role, text, end, after_end. The texts between two control tokens
// are encoded at once.
struct Marks {
    const char *begin, *end_of_role;  // control tokens; end_of_role may be absent
    const char *after_role, *end, *after_end;
    bool trims;
};

const Marks& marks_of(ChatForm form) {
    static constexpr Marks kChatMl = {"<|im_start|>", nullptr, "\n", "<|im_end|>", "\n", false};
    static constexpr Marks kLlama3 = {
        "<|start_header_id|>", "<|end_header_id|>", "\n\n", "<|eot_id|>", "", true};
    return form == ChatForm::chatml ? kChatMl : kLlama3;
}

void append(std::vector<std::int64_t>& tokens, const std::vector<std::int64_t>& more) {
    tokens.insert(tokens.end(), more.begin(), more.end());
}

// Without the ASCII white space at both ends, as Jinja's trim.
std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\n\v\f\r\x1c\x1d\x1e\x1f";
    const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
    return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// A turn without its end.
std::vector<std::int64_t> open_turn(const Vocabulary& vocabulary, const Marks& marks,
                                    std::string_view role, std::string_view text) {
    std::vector<std::int64_t> tokens = {vocabulary.special(marks.begin).value()};
    std::string words(role);
    if (marks.end_of_role != nullptr) {
        append(tokens, encode(vocabulary, words));
        tokens.push_back(vocabulary.special(marks.end_of_role).value());
        words.clear();
    }
    append(tokens, encode(vocabulary, sentence(words, marks.after_role, text)));
    return tokens;
}

std::vector<std::int64_t> end_of_turn(const Vocabulary& vocabulary, const Marks& marks) {
    std::vector<std::int64_t> tokens = {vocabulary.special(marks.end).value()};
    append(tokens, encode(vocabulary, marks.after_end));
    return tokens;
}

}  // namespace

ChatForm chat_form(const Gguf& file, const Vocabulary& vocabulary) {
    if (!file.has(kTemplate)) {
        reject("--chat needs a model for conversations, whose file has the key ", quoted(kTemplate),
               "; this one only continues texts");
    }
    const std::string_view text = file.text(kTemplate);
    const auto has = [&](std::string_view mark) { return text.find(mark) != std::string::npos; };
    const bool other = has("<|im_sep|>") || has("<end_of_utterance>");  // Phi-4, SmolVLM
    ChatForm form = ChatForm::chatml;
    if (has("<|start_header_id|>") && has("<|end_header_id|>")) {
        form = ChatForm::llama3;
    } else if (!has("<|im_start|>") || !has("<|im_end|>") || other) {
        file.reject(file.value(kTemplate).at,
                    sentence("key ", quoted(kTemplate),
                             " is neither of the two forms that --chat "
                             "knows: ChatML, with <|im_start|> and <|im_end|>, and Llama 3's, with "
                             "<|start_header_id|> and <|end_header_id|>"));
    }
    const Marks& marks = marks_of(form);
    for (const char* const mark : {marks.begin, marks.end_of_role, marks.end}) {
        if (mark != nullptr && !vocabulary.special(mark)) {
            file.reject(file.value(kTemplate).at,
                        sentence("key ", quoted(kTemplate), " uses ", quoted(mark),
                                 ", but the vocabulary has no special token of that name"));
        }
    }
    return form;
}

std::vector<std::int64_t> turn_tokens(const Vocabulary& vocabulary, ChatForm form,
                                      std::string_view role, std::string_view text) {
    const Marks& marks = marks_of(form);
    auto tokens = open_turn(vocabulary, marks, role, marks.trims ? trimmed(text) : text);
    append(tokens, end_of_turn(vocabulary, marks));
    return tokens;
}

std::vector<std::int64_t> answer_tokens(const Vocabulary& vocabulary, ChatForm form) {
    return open_turn(vocabulary, marks_of(form), "assistant", "");
}

Chat::Chat(Engine& engine, const Vocabulary& vocabulary, ChatForm form, const std::string& system)
    : engine_(engine),
      vocabulary_(vocabulary),
      form_(form),
      beginning_(encode_beginning(vocabulary, "")) {
    if (!system.empty()) append(beginning_, turn_tokens(vocabulary, form, "system", system));
    restart();
}

void Chat::restart() {
    engine_.forget();
    pending_ = beginning_;
}

Generated Chat::answer(std::string_view user, std::optional<std::int64_t> n,
                       const std::function<void(std::string_view)>& print,
                       const std::function<bool()>& stop, bool measure) {
    std::vector<std::int64_t> ids = pending_;
    append(ids, turn_tokens(vocabulary_, form_, "user", user));
    append(ids, answer_tokens(vocabulary_, form_));
    const std::int64_t room = most_tokens(engine_.capacity() - engine_.length(), ids);
    if (room < 1) {
        reject("a turn of ", ids.size(), " tokens does not fit: the conversation has ",
               engine_.length(), ", and the context ends at ", engine_.capacity(),
               "; :new begins another conversation");
    }
    const std::int64_t length = engine_.length();
    std::vector<std::int64_t> before =
        std::exchange(pending_, end_of_turn(vocabulary_, marks_of(form_)));
    try {
        const Generated made = continue_text(
            engine_, vocabulary_, ids, std::min(n.value_or(room), room), print, stop, measure);
        if (made.unread) pending_.insert(pending_.begin(), *made.unread);
        return made;
    } catch (...) {  // nothing was read, so the next turn begins as this one
        if (engine_.length() == length) pending_ = std::move(before);
        throw;
    }
}

}  // namespace sixdays::gpt2

/// @file
/// Conversations: turns in the form that a model was trained on.
///
/// A model for conversations was trained on texts in which control tokens, which no user can write,
/// mark who speaks. Its file has this form as a template in the language Jinja. We do not interpret
/// templates: we recognise two by the control tokens in them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "day06_transformer_ops/gpt2/generate.hpp"

namespace sixdays::gpt2 {

/// The form of a conversation, as in src/llama-chat.cpp of https://github.com/ggml-org/llama.cpp.
/// A turn in ChatML, and in Llama 3's form:
///
///     <|im_start|>user
///     Hello<|im_end|>
///
///     <|start_header_id|>user<|end_header_id|>
///
///     Hello<|eot_id|>
enum class ChatForm {
    chatml,  // a line break after the role and after each turn
    llama3,  // an empty line after the role
};

/// The form of the file's tokenizer.chat_template. A system prompt that the template would add by
/// itself is not part of it.
/// @throws std::invalid_argument  no template; one of another form; a control token of the form
/// that the vocabulary does not have
[[nodiscard]] ChatForm chat_form(const Gguf& file, const Vocabulary& vocabulary);

/// The tokens of a turn. Nothing in `text` becomes a control token. Llama 3's form trims the white
/// space at both ends of it.
/// @param role  "system", "user" or "assistant"
[[nodiscard]] std::vector<std::int64_t> turn_tokens(const Vocabulary& vocabulary, ChatForm form,
                                                    std::string_view role, std::string_view text);

/// The tokens before an answer: the beginning of the assistant's turn.
[[nodiscard]] std::vector<std::int64_t> answer_tokens(const Vocabulary& vocabulary, ChatForm form);

/// A conversation. The engine keeps the keys and values of all turns, so each turn processes only
/// its own tokens.
class Chat {
public:
    /// Begins a conversation, and forgets the engine's text.
    /// @param system  how the model is to answer; empty: no such turn
    Chat(Engine& engine, const Vocabulary& vocabulary, ChatForm form,
         const std::string& system = "");

    /// Processes the user's turn, and generates the answer.
    /// @param n  the most tokens of the answer; without it, up to the end of the context
    /// @param print, stop, measure  as in generate()
    /// @throws std::invalid_argument  no room for the turn and one token; nothing has changed then
    Generated answer(std::string_view user, std::optional<std::int64_t> n,
                     const std::function<void(std::string_view)>& print,
                     const std::function<bool()>& stop, bool measure = false);

    /// Has the conversation reached the end of the context?
    bool is_full() const noexcept { return engine_.length() == engine_.capacity(); }

    /// Begins a new conversation.
    void restart();

private:
    Engine& engine_;
    const Vocabulary& vocabulary_;
    ChatForm form_;
    std::vector<std::int64_t> beginning_;  // of each conversation, with the system's turn
    std::vector<std::int64_t> pending_;    // what the next turn processes first
};

}  // namespace sixdays::gpt2

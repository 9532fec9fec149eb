// Replaces pre_split.cpp if PCRE2 was not found.
#include <stdexcept>

#include "day06_transformer_ops/gpt2/text/pre_split.hpp"

namespace sixdays::gpt2 {

std::vector<std::string_view> pre_split(std::string_view, PreSplit) {
    throw std::runtime_error(
        "this program was built without PCRE2, which cuts text into pieces for the tokenizer: "
        "apt install libpcre2-dev, then configure and build again");
}

}  // namespace sixdays::gpt2

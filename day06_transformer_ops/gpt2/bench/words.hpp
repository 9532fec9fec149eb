/// @file
/// The command line of a benchmark: words in any order, and its exit status.
#pragma once

#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/tensor/sentence.hpp"

namespace sixdays::gpt2 {

/// The words that were given: `cuda` or `cpu`, which leaves out the other, and the others by kind.
struct Words {
    bool cuda = true, cpu = true;
    std::set<std::string> parts, types;

    /// Is it to be measured? Without a word of this kind, all are.
    bool part(const std::string& name) const { return parts.empty() || parts.contains(name); }
    bool type(const std::string& name) const { return types.empty() || types.contains(name); }
};
/// @param parts, types  the words that may be given besides cuda and cpu
/// @throws std::invalid_argument  another word
inline Words words_of(int argc, char** argv, const std::vector<std::string>& parts,
                      const std::vector<std::string>& types) {
    Words words;
    for (const std::string& word : std::vector<std::string>(argv + 1, argv + argc)) {
        if (word == "cuda") {
            words.cpu = false;
        } else if (word == "cpu") {
            words.cuda = false;
        } else if (std::ranges::count(parts, word) > 0) {
            words.parts.insert(word);
        } else if (std::ranges::count(types, word) > 0) {
            words.types.insert(word);
        } else {
            std::string all = "cuda, cpu";
            for (const auto* known : {&parts, &types}) {
                for (const std::string& one : *known) all += ", " + one;
            }
            reject("'", word, "' is not one of ", all);
        }
    }
    return words;
}

/// Runs a benchmark, and prints an error after the program's name.
/// @return the exit status: 2 if the command line was rejected, 1 after any other error
template <class Read, class Run>
int status_of(const char* program, const Read& read, const Run& run) {
    int status = 2;
    try {
        const auto wanted = read();
        status = 1;
        run(wanted);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", program, error.what());
        return status;
    }
}

}  // namespace sixdays::gpt2

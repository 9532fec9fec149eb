#include "common/lesson/options.hpp"

#include <cstdio>

namespace sixdays::lesson {
namespace {

std::vector<Flag> all_flags(const std::vector<Flag>& own) {
    std::vector<Flag> flags = own;
    flags.push_back({"--no-timing", "", "leave out times, which differ from run to run"});
    flags.push_back({"--trace", "", "print which memory each warp touches (emulated build)"});
    flags.push_back({"--bench", "", "measure every version and print CSV (needs a GPU)"});
    flags.push_back({"--only", "WORD", "with --bench, operations that begin with WORD"});
    flags.push_back({"--help", "", "print this"});
    return flags;
}

std::string with_value(const Flag& flag) {
    return flag.value.empty() ? flag.name : flag.name + " " + flag.value;
}

std::string names(const std::vector<Flag>& flags) {
    std::string text;
    for (const Flag& flag : flags) text += (text.empty() ? "" : ", ") + with_value(flag);
    return text;
}

}  // namespace

std::optional<Options> parse(int argc, char** argv, const std::string& what_it_shows,
                             const std::vector<Flag>& own, int& status) {
    const std::vector<Flag> flags = all_flags(own);
    const auto reject = [&](const std::string& sentence) {
        std::fprintf(stderr, "%s: %s. It takes: %s.\n", argv[0], sentence.c_str(),
                     names(flags).c_str());
        status = 2;
        return std::nullopt;
    };
    Options options;
    options.program = argv[0];
    options.program.erase(0, options.program.rfind('/') + 1);  // npos + 1 is 0
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const Flag* found = nullptr;
        for (const Flag& flag : flags) {
            if (flag.name == word) found = &flag;
        }
        if (found == nullptr) return reject("\"" + word + "\" is not a flag of this program");
        std::string value;
        if (!found->value.empty()) {
            if (i + 1 == argc) return reject(word + " needs a value: " + with_value(*found));
            value = argv[++i];
            if (value.empty()) return reject(word + " was given an empty " + found->value);
        }
        if (word == "--help") {
            std::printf("%s\n\n", what_it_shows.c_str());
            for (const Flag& flag : flags) {
                std::printf("  %-14s %s\n", with_value(flag).c_str(), flag.help.c_str());
            }
            status = 0;
            return std::nullopt;
        }
        if (word == "--no-timing") {
            options.timing = false;
        } else if (word == "--trace") {
            options.trace = true;
        } else if (word == "--bench") {
            options.bench = true;
        } else if (word == "--only") {
            options.only = value;
        } else {
            options.own[word] = value;
        }
    }
    if (!options.only.empty() && !options.bench) {
        return reject("--only requires --bench");
    }
    return options;
}

}  // namespace sixdays::lesson

// A folder for a test's files.
#pragma once

#include <stdlib.h>  // mkdtemp

#include <filesystem>
#include <string>

#include "common/testing/testing.hpp"

namespace sixdays::gpt2::tests {

/// Removed at the end.
struct Temporary {
    std::string name = (std::filesystem::temp_directory_path() / "files_XXXXXX").string();
    Temporary() { REQUIRE(mkdtemp(name.data()) != nullptr); }
    ~Temporary() { std::filesystem::remove_all(name); }
    Temporary(const Temporary&) = delete;
    std::string operator/(const std::string& file) const { return name + "/" + file; }
};

}  // namespace sixdays::gpt2::tests

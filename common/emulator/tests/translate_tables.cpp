// What the translator makes of each line of ptx.txt and sides.txt.
#include <fstream>
#include <string>
#include <utility>

#include "common/emulator/translate/ptx.hpp"
#include "common/emulator/translate/rewrite.hpp"
#include "common/testing/catch.hpp"

namespace {

std::ifstream opened(const std::string& name) {
    const std::string here = __FILE__;
    std::ifstream table(here.substr(0, here.rfind('/') + 1) + name);
    REQUIRE(table);
    return table;
}

}  // namespace

// Each instruction in ptx.txt is followed by its translation, with `ptx::` and `emu::` for the
// namespaces, or by the part that a message names as unknown. %0 to %3 are a, b, c and d.
TEST_CASE("every PTX instruction, register and operand has its translation, or none") {
    std::ifstream table = opened("ptx.txt");
    int rows = 0;
    for (std::string ptx, wanted; std::getline(table, ptx) && std::getline(table, wanted); ++rows) {
        INFO(ptx);
        const auto got = sixdays::translate::translate_ptx(ptx, {"a", "b", "c", "d"});
        std::string text = got.unknown.empty() ? got.calls : "unknown: " + got.unknown + " ";
        for (const auto& [from, to] :
             {std::pair<std::string, std::string>{"::sixdays::emulator::ptx::", "ptx::"},
              {"::sixdays::emulator::", "emu::"}}) {
            for (std::size_t at; (at = text.find(from)) != std::string::npos;)
                text.replace(at, from.size(), to);
        }
        CHECK("    " + (text.empty() ? "nothing " : text) == wanted + " ");
    }
    CHECK(rows > 200);
}

// Each program in sides.txt is followed by the beginnings of its errors, if it has any.
TEST_CASE("what belongs to the host and to the device is told apart in every form") {
    std::ifstream table = opened("sides.txt");
    std::string program, wanted, told;
    int rows = 0;
    const auto check = [&] {
        INFO(program);
        CHECK(told == wanted);
        ++rows;
    };
    for (std::string line; std::getline(table, line);) {
        if (line.rfind("    ", 0) != 0) {
            if (!program.empty()) check();
            program = line;
            wanted = told = "";
            const auto result = sixdays::translate::rewrite(
                program, false, [](std::string_view) { return std::string(); });
            for (const auto& error : result.errors) told += "    " + error.sentence + "\n";
            continue;
        }
        // Compares only as much of each sentence as the table has.
        const std::size_t end = wanted.size() + line.size();
        if (told.compare(wanted.size(), line.size(), line) == 0 &&
            told.find('\n', end) != told.npos)
            told.erase(end, told.find('\n', end) - end);
        wanted += line + "\n";
    }
    check();
    CHECK(rows > 100);
}

// What the translator makes of each line of ptx.txt and sides.txt.
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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
TEST_CASE("host code and device code are recognized in every form") {
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

TEST_CASE("a file may end anywhere, and includes are replaced where they are read") {
    const auto translated = [](const std::string& text) {
        return sixdays::translate::rewrite(text, false, [](std::string_view named) {
            return std::string(named.find("ours.h") != named.npos ? "\"new.h\"" : "");
        });
    };
    for (const char* const text : {"/* open",
                                   "/*",
                                   "/",
                                   "//",
                                   "\"open",
                                   "'",
                                   "\"a\\",
                                   "R\"x(open",
                                   "R\"x",
                                   "#",
                                   "#define",
                                   "#define F",
                                   "#define F(",
                                   "#include",
                                   "#include <a",
                                   "#include \"",
                                   "",
                                   "\n",
                                   "\xef\xbb",
                                   "u8R\"(k<<<1, 2>>>())\" a",
                                   "R\"x(x\" k<<<1, 2>>>())x\" a",
                                   "xR \"(a)\"",
                                   "1e+5 - 1e-5f + 0x1p-3 + 1'000 + .5",
                                   "#include <a.h> // \"ours.h\"",
                                   "// #include <ours.h>",
                                   "#if 1 /* a\n b */ + 2\nint i;",
                                   "int a; // \\\n k<<<1, 2>>>()\n",
                                   "#pragma a \\\n k<<<1, 2>>>()\nint i;",
                                   "#define A B\\\nC\nint i;",
                                   "int f(int e, int n) { return (4-e << n); }"}) {
        INFO(text);
        const auto result = translated(text);
        CHECK(result.text == text);
        CHECK(result.errors.empty());
        CHECK_FALSE(result.rewritten);
    }
    CHECK(translated("#include <ours.h> // b\n# \tinclude \"ours.h\"\nint i;").text ==
          "#include \"new.h\" // b\n# \tinclude \"new.h\"\nint i;");
    // Dynamic shared memory of one name and two types: rejected for CUDA's own types only.
    for (const auto& [one, other, errors] :
         std::vector<std::tuple<std::string, std::string, int>>{{"float", "float", 0},
                                                                {"float", "int", 1},
                                                                {"unsigned int", "int", 1},
                                                                {"float4", "float2", 1},
                                                                {"T", "U", 0},
                                                                {"T", "float", 0},
                                                                {"unsigned", "unsigned", 0},
                                                                {"long long", "long", 1},
                                                                {"unsigned char", "char", 1}}) {
        INFO(one << " and " << other);
        const auto kernel = [](const std::string& name, const std::string& type) {
            return "__global__ void " + name + "() { extern __shared__ " + type + " a[]; }\n";
        };
        const auto result = translated(kernel("k", one) + kernel("l", other));
        CHECK(static_cast<int>(result.errors.size()) == errors);
    }
}

#include "common/emulator/translate/sides.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "common/emulator/translate/scopes.hpp"

namespace sixdays::translate {

namespace {

enum class Side { host, device, both, kernel, unknown };

struct Function {
    Side side;
    Index name, open, body, end;  // open: of the parameters; body, end: its braces, if any
    bool is_constexpr;
};

// Words that are not macros: each says everything or nothing about the side.
bool is_plain_word(const Token& token) {
    return is_one_of(
        token,
        {"static",         "inline",      "extern",   "const",      "volatile",   "unsigned",
         "signed",         "long",        "short",    "int",        "char",       "float",
         "double",         "bool",        "void",     "auto",       "constexpr",  "consteval",
         "typename",       "struct",      "class",    "enum",       "__device__", "__host__",
         "__constant__",   "__managed__", "noexcept", "__global__", "__inline__", "__noinline__",
         "__forceinline__"});
}

// `SIXDAYS_HD int f()`: the macro may expand to anything.
bool may_be_macro(const Token& token) {
    return token.kind == Token::Kind::word && token.text.size() > 1 &&
           std::all_of(token.text.begin(), token.text.end(), [](char c) {
               return std::isupper(static_cast<unsigned char>(c)) != 0 || c == '_' ||
                      std::isdigit(static_cast<unsigned char>(c)) != 0;
           });
}

class Reader {
public:
    explicit Reader(const Source& in) : in_(in) {}

    Sides run() {
        read_declarations();
        for (const Function& one : functions_) {
            const auto known = sides_.emplace(text(one.name), one.side);
            if (!known.second && known.first->second != one.side) {
                known.first->second = Side::unknown;
            }
            if (one.is_constexpr) known.first->second = Side::unknown;
        }
        for (const Function& one : functions_) {
            if (one.body != kNone) check(one);
        }
        return std::move(found_);
    }

private:
    std::string_view text(Index i) const { return in_.at(i).text; }

    // Declarations at namespace scope, each from its first token to its brace or semicolon.
    void read_declarations() {
        Scopes scopes(in_);
        for (Index i = 0; i < in_.size(); ++i) {
            const bool outside = !scopes.in_function() && !scopes.in_type();
            scopes.follow(i);
            if (!outside || scopes.in_define()) continue;
            if (in_.at(i).is(";")) declaration(scopes.statement(), i, kNone, i);
            if (in_.at(i).is("{")) declaration(scopes.statement(), i, i, in_.close_of(i));
        }
    }

    bool holds(Index begin, Index end, std::initializer_list<std::string_view> words) const {
        for (Index i = begin; i < end; ++i) {
            if (is_one_of(in_.at(i), words)) return true;
        }
        return false;
    }

    // @param brace  the start of its body or initializer; kNone if `head_end` is its semicolon
    void declaration(Index begin, Index head_end, Index brace, Index close) {
        if (close == kNone || holds(begin, head_end, {"namespace"})) return;
        if (holds(begin, head_end,
                  {"struct", "class", "union", "enum", "using", "typedef", "operator", "concept",
                   "static_assert"}) &&
            !holds(begin, head_end, {"("})) {
            return;
        }
        Index first = begin;
        while (in_.at(first).is("template") && in_.at(first + 1).is("<")) {
            if (in_.close_of(first + 1) == kNone) return;
            first = in_.close_of(first + 1) + 1;
        }
        if (brace != kNone && is_one_of(in_.at(first), {"struct", "class", "union", "enum"}))
            return;
        const Index mark = in_.end_of_name(first);
        if (mark == kNone || mark == first || mark > head_end) return;
        bool unknown =
            holds(begin, head_end, {"operator", "using", "typedef", "friend", "requires"});
        // The first of two adjacent words unknown to C++ is a macro too: `both_sides vec3 f()`.
        for (Index i = first; i + 1 < mark; ++i) {
            const Token &one = in_.at(i), &next = in_.at(i + 1);
            const bool two = in_.is_word(i) && !is_plain_word(one) && i + 2 < mark &&
                             in_.is_word(i + 1) && !is_one_of(next, {"const", "volatile"});
            unknown = unknown || may_be_macro(one) || two;
        }
        Index name = mark - 1;
        if (in_.at(name).is(">") && in_.open_of(name) != kNone) name = in_.open_of(name) - 1;
        if (unknown || !in_.is_word(name) || in_.at(name - 1).is("::")) return;
        if (first == name) return;  // a macro call, or the end of a typedef
        const bool device = holds(first, mark, {"__device__"}),
                   host = holds(first, mark, {"__host__"});
        const bool kernel = holds(first, mark, {"__global__", "__tile_global__", "__tile__"});
        if (in_.at(mark).is("(")) {
            functions_.push_back({kernel           ? Side::kernel
                                  : device && host ? Side::both
                                  : device         ? Side::device
                                                   : Side::host,
                                  name, mark, brace, close,
                                  holds(first, mark, {"constexpr", "consteval"})});
        } else if (!holds(first, mark, {"__managed__", "__shared__", "constexpr", "const"}) ||
                   holds(first, mark, {"__constant__"})) {
            const bool of_device = device || holds(first, mark, {"__constant__"});
            if (begin != first) return;
            std::set<std::string_view>& names = of_device ? of_device_ : of_host_;
            names.insert(text(name));
            for (Index k = mark; (k = in_.find(k, {",", ";"})) != kNone && in_.at(k).is(",");) {
                for (++k; in_.at(k).is("*");) ++k;
                names.insert(text(k));
            }
        }
    }

    // True if the name means something else here: a parameter, a local variable, a member.
    bool is_shadowed(const Function& f, std::string_view name) const {
        for (Index i = f.open + 1; i < f.end; ++i) {
            if (text(i) != name) continue;
            const Token& before = in_.at(i - 1);
            const bool declared = (in_.is_name(i - 1) && !before.is("else")) ||
                                  is_one_of(before, {"*", "&", ">", "]"});
            const bool marks = is_one_of(before, {"*", "&", ">"});
            if (declared && !(marks && i > f.body)) return true;
            if (marks && is_one_of(in_.at(i + 1), {"=", ";", "["}) && in_.is_word(i - 2))
                return true;
        }
        return false;
    }

    void say(Index at, const std::string& sentence) {
        if (found_.wrong.empty() || found_.wrong.back().at != at)
            found_.wrong.push_back({at, sentence});
    }

    void check(const Function& f) {
        if (f.side == Side::both || f.side == Side::unknown || f.is_constexpr) return;
        if (holds(f.body, f.end, {"__device__", "__host__"})) return;  // a lambda with a side
        const bool on_host = f.side == Side::host;
        if (on_host) found_.of_host.emplace_back(f.body, f.end);
        const std::string who =
            on_host ? std::string(text(f.name)) + "()"
                    : (f.side == Side::kernel ? "the kernel " : "the device function ") +
                          std::string(text(f.name));
        for (Index i = f.body + 1; i < f.end; ++i) {
            if (!in_.is_word(i)) continue;
            const bool member = is_one_of(in_.at(i - 1), {".", "->", "::"});
            if (on_host) {
                host_word(f, i, who, member);
            } else {
                device_word(f, i, who, member);
            }
        }
    }

    Side side_named(Index i) const {
        const auto known = sides_.find(text(i));
        return known == sides_.end() ? Side::unknown : known->second;
    }

    void host_word(const Function& f, Index i, const std::string& who, bool member) {
        const std::string name(text(i));
        const bool called = in_.at(i + 1).is("(") && !member;
        if (in_.at(i + 1).is("<<<") && !member && side_named(i) == Side::host &&
            !is_shadowed(f, name)) {
            say(i,
                name +
                    " is launched, but it is a plain function: declare a kernel with __global__");
        } else if (called && side_named(i) == Side::device && !is_shadowed(f, name)) {
            say(i, who + " of the host calls " + name +
                       "(), which is __device__. Only kernels and device " +
                       "functions can; declare it  __host__ __device__  to call it from both");
        } else if (called &&
                   is_one_of(in_.at(i),
                             {"__syncthreads", "__syncwarp", "atomicAdd", "atomicMax", "atomicMin",
                              "atomicCAS", "atomicExch", "__threadfence", "__shfl_down_sync",
                              "__shfl_sync", "__shfl_xor_sync", "__ballot_sync"})) {
            say(i, who + " of the host calls " + name +
                       "(), which is __device__: only kernels and device functions can");
        } else if (!member && of_device_.count(name) > 0 && !is_argument_of_symbol_call(i) &&
                   !is_shadowed(f, name)) {
            say(i,
                who + " of the host uses the device's variable `" + name +
                    "` by its name, which is a different variable on the host. Copy it with "
                    "cudaMemcpyToSymbol(" +
                    name +
                    ", ...) or cudaMemcpyFromSymbol, or ask cudaGetSymbolAddress for its address");
        }
    }

    void device_word(const Function& f, Index i, const std::string& who, bool member) {
        const std::string name(text(i));
        const bool called = in_.at(i + 1).is("(") && !member;
        if (called && side_named(i) == Side::host && !is_shadowed(f, name)) {
            say(i, who + " calls " + name +
                       "(), a function of the host: declare it  __device__ , or  " +
                       "__host__ __device__  if the host calls it, too");
        } else if (called &&
                   is_one_of(in_.at(i), {"rand", "srand", "puts", "getenv", "fopen", "fprintf",
                                         "time", "qsort"}) &&
                   side_named(i) == Side::unknown && sides_.count(text(i)) == 0) {
            say(i, who + " calls " + name + "(), a function of the host");
        } else if (in_.at(i - 1).is("::") && in_.at(i - 2).is("std") &&
                   is_one_of(in_.at(i), {"sort", "stable_sort", "vector", "string", "cout", "cerr",
                                         "map", "set", "unordered_map"})) {
            say(i, who + " uses std::" + name + ", which exists only on the host");
        } else if (is_one_of(in_.at(i), {"throw", "try"})) {
            say(i, who + ": kernels do not support exceptions");
        } else if (!member && !in_.at(i + 1).is("::") && of_host_.count(name) > 0 &&
                   of_device_.count(name) == 0 && !is_shadowed(f, name)) {
            say(i, who + " uses `" + name +
                       "`, a variable of the host. Pass it as an argument, or declare " +
                       "it __device__ or __constant__ and copy its value there");
        } else if (in_.is_word(i - 1) && in_.at(i + 1).is("[") && in_.is_word(i + 2) &&
                   in_.at(i + 3).is("]") && is_parameter(f, text(i + 2)) &&
                   !is_one_of(in_.at(i - 1), {"return", "delete", "else"})) {
            say(i, who + ": the array `" + name + "` has an extent that is not a constant, `" +
                       std::string(text(i + 2)) + "`; nvcc requires one in device code");
        }
    }

    // cudaMemcpyToSymbol(n, ...), sizeof(n), and arguments of macros.
    bool is_argument_of_symbol_call(Index i) const {
        Index open = i;
        for (int depth = 0; open-- > 0;) {
            if (is_one_of(in_.at(open), {";", "{", "}"}) || in_.is_border(open)) return false;
            if (is_one_of(in_.at(open), {")", "]"})) ++depth;
            if (!is_one_of(in_.at(open), {"(", "["})) continue;
            if (--depth >= 0) continue;
            depth = 0;
            Index name = open - 1;
            if (in_.at(name).is(">") && in_.open_of(name) != kNone) name = in_.open_of(name) - 1;
            const std::string_view before = open > 0 ? text(name) : "";
            if (before.find("Symbol") != before.npos || before == "sizeof" ||
                before == "decltype") {
                return true;
            }
        }
        return false;
    }

    bool is_parameter(const Function& f, std::string_view name) const {
        const Index close = in_.close_of(f.open);
        for (Index i = f.open + 1; i < close; ++i) {
            if (text(i) == name && is_one_of(in_.at(i + 1), {",", ")", "="}) &&
                in_.is_word(i - 1)) {
                return true;
            }
        }
        return false;
    }

    const Source& in_;
    std::vector<Function> functions_;
    std::map<std::string_view, Side> sides_;
    std::set<std::string_view> of_host_, of_device_;
    Sides found_;
};

}  // namespace

Sides sides_of(const Source& in) {
    return Reader(in).run();
}

}  // namespace sixdays::translate

#include "common/emulator/translate/rewrite.hpp"

#include <algorithm>
#include <initializer_list>

#include "common/emulator/translate/tokens.hpp"

namespace sixdays::translate {

namespace {

using Index = std::size_t;
constexpr Index kNone = ~Index{0};

bool is_one_of(const Token& token, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), token.text) != words.end();
}
bool is_memory(const Token& token) {
    return is_one_of(token, {"__device__", "__constant__", "__managed__"});
}
/// Words that a parenthesis with no business of ours follows.
bool is_attribute(const Token& token) {
    return is_one_of(token, {"alignas", "__align__", "__attribute__", "__launch_bounds__",
                             "__cluster_dims__", "__maxnreg__", "decltype", "noexcept"});
}
std::string in_quotes(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

struct Edit {
    std::size_t begin, end;
    std::string text;
};

/// One pass over the tokens. Knows where the current statement began and what encloses it.
class Rewriter {
public:
    explicit Rewriter(std::string_view file) : file_(file), tokens_(tokens_of(file)) {}

    Result run(const std::function<std::string(std::string_view)>& include) {
        for (Index i = 0; i < tokens_.size(); ++i) {
            follow(i);
            const Token& token = tokens_[i];
            if (token.kind == Token::Kind::include) {
                const std::string other = include(token.text);
                if (!other.empty()) edits_.push_back({token.begin, token.end(), other});
            } else if (token.is("<<<")) {
                launch(i);
            } else if (token.is("__shared__")) {
                shared(i);
            } else if (token.is("__global__")) {
                kernel(i);
            } else if (is_memory(token)) {
                variable(i);
            } else if (is_one_of(token, {"asm", "__asm", "__asm__"})) {
                inline_ptx(i);
            }
        }
        return result();
    }

private:
    enum class Scope { name_space, type, function };

    // --- tokens ---------------------------------------------------------------------------------
    const Token& at(Index i) const {
        static const Token nothing{Token::Kind::border, {}, 0};
        return i < tokens_.size() ? tokens_[i] : nothing;
    }
    bool is_word(Index i) const { return at(i).kind == Token::Kind::word; }
    /// A word that an expression may begin or end with, not one that stands before a statement.
    bool is_name(Index i) const {
        return is_word(i) && !is_one_of(at(i), {"return", "else", "do"});
    }
    bool is_border(Index i) const { return at(i).kind == Token::Kind::border; }

    /// The bracket that closes the one at `open`: ( [ {, or < where that opens template arguments.
    Index close_of(Index open) const {
        const bool angle = at(open).is("<");
        const std::string_view close = angle              ? ">"
                                       : at(open).is("(") ? ")"
                                       : at(open).is("[") ? "]"
                                                          : "}";
        for (Index i = open + 1; !is_border(i); ++i) {
            if (at(i).is(close)) return i;
            if (is_one_of(at(i), {"(", "[", "{"}) || (angle && at(i).is("<"))) i = close_of(i);
            if (i == kNone) break;
        }
        return kNone;
    }
    /// The bracket that opens the one at `close`: ) ] } >.
    Index open_of(Index close) const {
        const bool angle = at(close).is(">");
        const std::string_view open = angle               ? "<"
                                      : at(close).is(")") ? "("
                                      : at(close).is("]") ? "["
                                                          : "{";
        for (Index i = close; i-- > 0 && !is_border(i);) {
            if (at(i).is(open)) return i;
            if (is_one_of(at(i), {")", "]", "}"}) || (angle && at(i).is(">"))) i = open_of(i);
            if (i == kNone) break;
        }
        return kNone;
    }
    /// The first of these marks from `i` on that no bracket encloses.
    Index find(Index i, std::initializer_list<std::string_view> marks) const {
        for (; i != kNone && !is_border(i); ++i) {
            if (is_one_of(at(i), marks)) return i;
            if (is_one_of(at(i), {"(", "[", "{"})) i = close_of(i);
            if (i == kNone) break;
        }
        return kNone;
    }
    /// Tokens as text: on one line, without comments.
    std::string joined(Index begin, Index end) const {
        std::string text;
        for (Index i = begin; i < end; ++i) {
            const bool gap = i > begin && at(i - 1).end() != at(i).begin;
            if (gap && !text.empty()) text += ' ';
            text += at(i).text;
        }
        return text;
    }

    // --- where we are ---------------------------------------------------------------------------
    void follow(Index i) {
        const Token& token = at(i);
        if (token.kind == Token::Kind::border) {
            in_define_ ? leave_define() : enter_define();
            statement_ = in_define_ ? i + 1 : before_define_.statement;
        } else if (i > 0 && ends_statement(i - 1)) {
            statement_ = i;
        }
        if (token.is("{")) {
            scopes_.push_back(scope_of(i));
        } else if (token.is("}") && !scopes_.empty()) {
            scopes_.pop_back();
        }
    }
    bool ends_statement(Index i) const {
        if (at(i).kind == Token::Kind::include || is_one_of(at(i), {";", "{", "}"})) return true;
        return at(i).is(":") &&
               is_one_of(at(statement_), {"case", "default", "public", "private", "protected"});
    }
    Scope scope_of(Index brace) const {
        Scope scope = Scope::function;
        for (Index i = statement_; i < brace; ++i) {
            if (at(i).is("namespace") || at(i).kind == Token::Kind::string)
                return Scope::name_space;
            if (at(i).is("template") && at(i + 1).is("<") && close_of(i + 1) < brace) {
                i = close_of(i + 1);
            } else if (is_attribute(at(i)) && at(i + 1).is("(") && close_of(i + 1) < brace) {
                i = close_of(i + 1);
            } else if (is_one_of(at(i), {"struct", "class", "union", "enum"})) {
                scope = Scope::type;
            } else if (at(i).is("(")) {
                return Scope::function;
            }
        }
        return scope;
    }
    bool in_function() const {
        return in_define_ || std::count(scopes_.begin(), scopes_.end(), Scope::function) > 0;
    }
    void enter_define() {
        before_define_ = {statement_, scopes_};
        in_define_ = true;
    }
    void leave_define() {
        scopes_ = before_define_.scopes;
        in_define_ = false;
    }

    // --- what is rewritten ----------------------------------------------------------------------
    /// Where the expression that ends before `end` begins: k, ns::k<T>, (*pointer), table[i].k
    Index begin_of_expression(Index end) const {
        Index begin = end;
        for (Index i = end; i-- > 0;) {
            if (at(i).is(">") || at(i).is(")") || at(i).is("]")) {
                const bool primary = at(i).is(")");
                i = open_of(i);
                if (i == kNone) return kNone;
                begin = i;
                if (i > 0 && (is_name(i - 1) || is_one_of(at(i - 1), {")", "]", ">"}))) continue;
                if (!primary) return kNone;
            } else if (is_word(i)) {
                begin = i;
            } else {
                return begin == end ? kNone : begin;
            }
            if (i == 0 || !is_one_of(at(i - 1), {"::", ".", "->"})) return begin;
            begin = --i;
            // `::` may begin a name
            if (at(i).is("::") && (i == 0 || (!is_name(i - 1) && !at(i - 1).is(">")))) return begin;
        }
        return begin;
    }
    /// The first `>` of the `>>>` that ends a launch's configuration.
    Index end_of_configuration(Index i) const {
        for (; (i = find(i, {">", ";"})) != kNone && !at(i).is(";"); ++i) {
            const bool three =
                at(i + 1).is(">") && at(i + 2).is(">") && at(i + 2).begin == at(i).begin + 2;
            if (three && at(i + 3).is("(")) return i;
        }
        return kNone;
    }
    void launch(Index i) {
        const Index begin = begin_of_expression(i);
        const Index end = end_of_configuration(i + 1);
        if (begin == kNone || end == kNone) {
            return error(i,
                         "the emulator cannot read this launch. It is written  kernel<<<grid, "
                         "block>>>(arguments)");
        }
        const std::string kernel = joined(begin, i);
        // A function, or a pointer to one. A template whose arguments are deduced has no name here.
        replace(at(begin).begin, at(i).end(),
                kEmulator + "configure(" + in_quotes(kernel) +
                    ", [&](auto emu_f) { if constexpr (requires { emu_f(" + kernel +
                    "); }) return emu_f(" + kernel + "); else return nullptr; }" +
                    ", [&](auto... emu_a) { " + kernel + "(emu_a...); }, ");
        replace(at(end).begin, at(end + 2).end(), ")");
        const Index close = close_of(end + 3);
        for (Index k = end + 3; (k = find(k + 1, {"NULL", ")"})) < close;) {
            replace(at(k).begin, at(k).end(), kEmulator + "Null{}");
        }
    }

    struct Declarator {
        std::string pointer, name, extents;
    };
    struct Declaration {
        std::string type, alignment;
        std::vector<Declarator> declarators;
        bool is_extern = false;
    };
    /// The declaration from `begin` to the `;` at `end`, without the words that say where it lives.
    bool declaration(Index begin, Index end, Declaration& result) const {
        std::vector<Index> rest;
        for (Index i = begin; i < end; ++i) {
            const bool group = is_attribute(at(i)) && !at(i).is("decltype") && at(i + 1).is("(");
            if (at(i).is("extern")) {
                result.is_extern = true;
            } else if (group) {
                result.alignment += joined(i, close_of(i + 1) + 1) + ' ';
                i = close_of(i + 1);
            } else if (at(i).is("[") && at(i + 1).is("[")) {
                i = close_of(i);
            } else if (!is_memory(at(i)) && !is_one_of(at(i), {"static", "inline", "__shared__"})) {
                rest.push_back(i);
            }
        }
        return split(rest, result);
    }
    bool split(const std::vector<Index>& rest, Declaration& result) const {
        // The type ends before the last word in front of an extent, a comma or the end.
        std::size_t k = 0, name = kNone;
        for (; k < rest.size() && !is_one_of(at(rest[k]), {"[", ","}); ++k) {
            if (is_one_of(at(rest[k]), {"(", "="})) return false;
            if (is_word(rest[k])) name = k;
            if (is_one_of(at(rest[k]), {"<", "{"})) {
                const Index close = close_of(rest[k]);
                while (k < rest.size() && rest[k] < close) ++k;
            }
        }
        if (name == kNone || name == 0) return false;
        std::size_t type_end = name;
        while (type_end > 0 && at(rest[type_end - 1]).is("*")) --type_end;
        result.type = spaced(rest, 0, type_end);
        for (k = type_end; k < rest.size(); ++k) {
            Declarator one;
            for (; k < rest.size() && at(rest[k]).is("*"); ++k) one.pointer += '*';
            if (k == rest.size() || !is_word(rest[k])) return false;
            one.name = at(rest[k++]).text;
            while (k < rest.size() && at(rest[k]).is("[")) {
                const Index close = close_of(rest[k]);
                one.extents += joined(rest[k], close + 1);
                while (k < rest.size() && rest[k] <= close) ++k;
            }
            result.declarators.push_back(one);
            if (k < rest.size() && !at(rest[k]).is(",")) return false;
        }
        return true;
    }
    std::string spaced(const std::vector<Index>& rest, std::size_t begin, std::size_t end) const {
        std::string text;
        for (std::size_t k = begin; k < end; ++k) {
            if (k > begin) text += ' ';
            text += at(rest[k]).text;
        }
        return text;
    }

    void shared(Index i) {
        const Index end = find(i, {";"});
        Declaration d;
        if (end == kNone || statement_ < done_ || !declaration(statement_, end, d)) {
            return error(i,
                         "the emulator cannot read this shared memory. It is written  __shared__ "
                         "type name[count];  or, if the launch gives the size,  extern __shared__ "
                         "type name[];  and gets its values in the kernel");
        }
        if (!d.is_extern && !in_function()) {
            return error(i, "shared memory belongs to a block: declare it inside of a kernel");
        }
        const bool has_body = d.type.find('{') != std::string::npos;
        std::string text;
        if (has_body) {
            const std::string alias = "sixdays_type_of_" + d.declarators.front().name;
            text += "using " + alias + " = " + d.type + "; ";
            d.type = alias;
        }
        for (const Declarator& one : d.declarators) {
            const std::string type = d.type + one.pointer;
            if (!d.is_extern) {
                text += d.alignment + "static thread_local " + kEmulator + "Shared<" + type +
                        one.extents + "> sixdays_" + one.name + "; auto& " + one.name +
                        " = sixdays_" + one.name + ".open(); ";
            } else if (in_function()) {
                text +=
                    type + "* " + one.name + " = " + kEmulator + "dynamic_shared<" + type + ">(); ";
            } else {
                text += "extern " + d.alignment + type + ' ' + one.name +
                        "[] __asm__(\"sixdays_dynamic_shared\"); ";
            }
        }
        text.pop_back();
        replace(at(statement_).begin, at(end).end(), text);
        done_ = end;
    }

    /// A `__device__` or `__constant__` variable: not a function, no declaration of what is
    /// elsewhere.
    void variable(Index i) {
        if (statement_ < done_ || in_function() || in_type() || at(statement_).is("template"))
            return;
        const Index mark = end_of_name(statement_);
        const Index end = mark == kNone || at(mark).is("(") ? kNone : find(i, {";"});
        if (end == kNone) return;
        Declaration d;
        std::vector<std::string> names{std::string(at(mark - 1).text)};
        for (Index k = mark; (k = find(k, {",", ";"})) < end; ++k) {
            Index name = k + 1;
            while (at(name).is("*")) ++name;
            names.emplace_back(at(name).text);
        }
        for (Index k = statement_; k < mark; ++k) {
            if (is_one_of(at(k), {"extern", "operator", "using", "typedef"})) return;
        }
        std::string text;
        for (const std::string& name : names) {
            text += " static const bool sixdays_registered_" + name + " = " + kEmulator +
                    "register_variable(" + name + ");";
        }
        replace(at(end).end(), at(end).end(), text);
        done_ = end;
    }
    bool in_type() const { return !scopes_.empty() && scopes_.back() == Scope::type; }
    /// The mark after the name that is declared from `i` on: ( [ = { ; or a comma.
    Index end_of_name(Index i) const {
        for (; !is_border(i); ++i) {
            if (is_one_of(at(i), {"(", "[", "=", "{", ";", ","})) return i;
            if (is_attribute(at(i)) && at(i + 1).is("(")) {
                i = close_of(i + 1);
            } else if (is_word(i) && at(i + 1).is("<")) {
                i = close_of(i + 1);
            }
            if (i == kNone) break;
        }
        return kNone;
    }

    void kernel(Index i) {
        if (statement_ < done_) return;
        Index begin = statement_;
        while (at(begin).is("template") && at(begin + 1).is("<")) begin = close_of(begin + 1) + 1;
        const Index open = end_of_name(begin);
        if (open == kNone || !at(open).is("(")) return;  // in a macro, say
        Index name = open - 1;
        if (at(name).is(">") && open_of(name) != kNone) name = open_of(name) - 1;
        std::string type;
        for (Index k = begin; k < name; ++k) {
            if (is_attribute(at(k)) && at(k + 1).is("(")) {
                k = close_of(k + 1);
            } else if (!is_memory(at(k)) &&
                       !is_one_of(at(k), {"__global__", "static", "inline", "extern", "template",
                                          "constexpr", "friend", "__noinline__", "\"C\""})) {
                type += (type.empty() ? "" : " ") + std::string(at(k).text);
            }
        }
        const Index body = find(close_of(open), {"{", ";"});
        if (type != "void" && type != "auto") {
            return error(i, "the kernel " + std::string(at(name).text) + " returns " +
                                (type.empty() ? "something" : type) +
                                ". A kernel has nobody to return to: it is  __global__ void, and "
                                "stores its result through a pointer");
        }
        if (body == kNone || at(body).is(";")) return;
        replace(at(body).end(), at(body).end(),
                " if (!" + kEmulator + "enter_kernel(" + in_quotes(at(name).text) +
                    ", __builtin_return_address(0))) return;");
        done_ = body;
    }

    void inline_ptx(Index i) {
        Index open = i + 1;
        while (is_one_of(at(open), {"volatile", "__volatile__", "inline"})) ++open;
        if (!in_function() || !at(open).is("(") || close_of(open) == kNone) return;
        std::string instruction;
        for (Index k = open + 1; at(k).kind == Token::Kind::string; ++k) {
            instruction += at(k).text.substr(1, at(k).text.size() - 2);
        }
        instruction.erase(0, instruction.find_first_not_of("{ \t"));
        if (instruction.empty()) return;  // says something to the compiler only
        instruction.resize(std::min({instruction.size(), instruction.find_first_of(" \t\\;%\"")}));
        const Index close = close_of(open);
        replace(at(i).begin, at(close).end(),
                "static_assert(false, " +
                    in_quotes("inline PTX (" + instruction +
                              ") does not run on the emulator; common/gpu/ptx.hpp has what does") +
                    ")");
    }

    // --- the outcome ----------------------------------------------------------------------------
    void replace(std::size_t begin, std::size_t end, std::string text) {
        edits_.push_back({begin, end, std::move(text)});
        rewritten_ = true;
    }
    void error(Index i, std::string sentence) {
        errors_.push_back({line_of(file_, at(i).begin), std::move(sentence)});
    }
    Result result() {
        std::stable_sort(edits_.begin(), edits_.end(),
                         [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
        Result r;
        std::size_t copied = 0;
        for (const Edit& edit : edits_) {
            const std::string_view old = file_.substr(edit.begin, edit.end - edit.begin);
            r.text += file_.substr(copied, edit.begin - copied);
            r.text += edit.text;
            r.text.append(static_cast<std::size_t>(std::count(old.begin(), old.end(), '\n')), '\n');
            copied = edit.end;
        }
        r.text += file_.substr(copied);
        r.rewritten = rewritten_;
        r.errors = std::move(errors_);
        return r;
    }

    inline static const std::string kEmulator = "::sixdays::emulator::";

    std::string_view file_;
    std::vector<Token> tokens_;
    std::vector<Edit> edits_;
    std::vector<Result::Error> errors_;
    bool rewritten_ = false;

    Index statement_ = 0;  // where the current one began
    Index done_ = 0;       // up to here the declarations are rewritten
    std::vector<Scope> scopes_;
    bool in_define_ = false;
    struct {
        Index statement = 0;
        std::vector<Scope> scopes;
    } before_define_;
};

}  // namespace

Result rewrite(std::string_view file,
               const std::function<std::string(std::string_view named)>& include) {
    return Rewriter(file).run(include);
}

}  // namespace sixdays::translate

#include "common/emulator/translate/rewrite.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "common/emulator/translate/declaration.hpp"
#include "common/emulator/translate/ptx.hpp"
#include "common/emulator/translate/scopes.hpp"
#include "common/emulator/translate/sides.hpp"
#include "common/emulator/translate/source.hpp"

namespace sixdays::translate {

namespace {

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

/// One pass over the tokens, which collects the edits.
class Rewriter {
public:
    Rewriter(std::string_view file, bool locals) : file_(file), in_(file), locals_(locals) {}

    Result run(const std::function<std::string(std::string_view)>& include) {
        for (Index i = 0; i < in_.size(); ++i) {
            by_address_ = by_address_ || launches_by_address(in_.at(i));
            locals_ = locals_ && !in_.at(i).is("goto");  // it must not jump over an Unset
        }
        for (Index i = 0; i < in_.size(); ++i) {
            scopes_.follow(i);
            const Token& token = in_.at(i);
            if (token.kind == Token::Kind::include) {
                const std::string other = include(token.text);
                if (!other.empty()) edits_.push_back({token.begin, token.end(), other});
            } else if (token.is("<<<")) {
                launch(i);
            } else if (token.is("__shared__")) {
                shared(i);
            } else if (is_one_of(token, {"__global__", "__tile_global__"})) {
                kernel(i);
            } else if (is_hint(i)) {
                replace(token.begin, in_.at(in_.close_of(i)).end(), "");
            } else if (is_memory(token)) {
                variable(i);
            } else if (is_one_of(token, {"asm", "__asm", "__asm__"})) {
                inline_ptx(i);
            } else if (is_shift_of_number(i)) {
                replace(in_.at(i + 1).end(), in_.at(i + 1).end(), " " + kEmulator + "shifted <<");
            } else if (is_one_of(token, {"malloc", "free", "new", "delete"})) {
                own_memory(i);
            } else if (locals_ && token.is(";")) {
                local(i);
            } else if (token.text.find("shfl") != std::string_view::npos) {
                shuffle(i);
            } else if (launches_by_address(token)) {
                without_cast(i);
            }
        }
        for (const WrongSide& one : sides_.wrong) error(one.at, one.sentence);
        return result();
    }

private:
    /// The first `>` of the `>>>` that closes a launch configuration.
    Index end_of_configuration(Index i) const {
        for (; (i = in_.find(i, {">", ";"})) != kNone && !in_.at(i).is(";"); ++i) {
            const bool three = in_.at(i + 1).is(">") && in_.at(i + 2).is(">") &&
                               in_.at(i + 2).begin == in_.at(i).begin + 2;
            if (three && in_.at(i + 3).is("(")) return i;
        }
        return kNone;
    }
    void launch(Index i) {
        const Index begin = in_.begin_of_expression(i);
        const Index end = end_of_configuration(i + 1);
        if (begin == kNone || end == kNone) {
            return error(
                i,
                "the emulator cannot parse this launch. Write  kernel<<<grid, block>>>(arguments)");
        }
        const std::string kernel = in_.joined(begin, i);
        // A function or a function pointer. A template with deduced arguments cannot be named here.
        replace(in_.at(begin).begin, in_.at(i).end(),
                kEmulator + "configure(" + in_quotes(kernel) +
                    ", [&](auto emu_f) { if constexpr (requires { emu_f(" + kernel +
                    "); }) return emu_f(" + kernel + "); else return nullptr; }" +
                    ", [&](auto... emu_a) { " + kernel + "(emu_a...); }, ");
        replace(in_.at(end).begin, in_.at(end + 2).end(), ")");
        const Index close = in_.close_of(end + 3);
        for (Index k = end + 3; (k = in_.find(k + 1, {"NULL", ")"})) < close;) {
            replace(in_.at(k).begin, in_.at(k).end(), kEmulator + "Null{}");
        }
    }

    void shared(Index i) {
        const Index end = in_.find(i, {";"});
        const Index begin = scopes_.statement();
        const bool known = end != kNone && begin >= done_;
        std::optional<Declaration> d = known ? read_declaration(in_, begin, end) : std::nullopt;
        const auto has_value = [](const Declaration::Name& one) { return one.has_value; };
        if (!d || std::any_of(d->names.begin(), d->names.end(), has_value)) {
            return error(i,
                         "the emulator cannot parse this shared memory. Write  __shared__ type "
                         "name[count];  or, if the launch gives the size,  extern __shared__ type "
                         "name[];  and assign its values in the kernel");
        }
        for (const Declaration::Name& one : d->names) {
            if (d->is_extern && one.extents.rfind("[]", 0) != 0) {
                return error(i,
                             "the size of dynamic shared memory comes from the launch:  extern "
                             "__shared__ type " +
                                 one.name + "[];");
            }
        }
        if (!d->is_extern && !scopes_.in_function()) {
            return error(i, "shared memory belongs to a block: declare it inside a kernel");
        }
        if (d->is_extern && is_own_type_of_cuda(begin, end)) {
            for (const Declaration::Name& one : d->names) {
                const std::string type = d->type + one.pointer + one.extents;
                if (dynamic_types_.emplace(one.name, type).first->second == type) continue;
                return error(i, "the name `" + one.name +
                                    "` of dynamic shared memory has another type " +
                                    "elsewhere in this file. nvcc rejects that: use another name");
            }
        }
        const bool has_body = d->type.find('{') != std::string::npos;
        std::string text;
        if (has_body) {
            const std::string alias = "sixdays_type_of_" + d->names.front().name;
            text += "using " + alias + " = " + d->type + "; ";
            d->type = alias;
        }
        for (const Declaration::Name& one : d->names) {
            const std::string type = d->type + one.pointer;
            if (!d->is_extern) {
                text += d->alignment + "static thread_local " + kEmulator + "Shared<" + type +
                        one.extents + "> sixdays_" + one.name + "; auto& " + one.name +
                        " = sixdays_" + one.name + ".open(" + in_quotes(one.name) + "); ";
            } else if (scopes_.in_function()) {  // elements of tile[][16] are rows
                const std::string rows = one.extents.substr(one.extents.find(']') + 1);
                text += "auto* " + one.name + " = " + kEmulator + "dynamic_shared<" + type + rows +
                        ">(); ";
            } else {
                text += "extern " + d->alignment + type + ' ' + one.name + one.extents +
                        " __asm__(\"sixdays_dynamic_shared\"); ";
            }
        }
        text.pop_back();
        replace(in_.at(begin).begin, in_.at(end).end(), text);
        done_ = end;
    }

    /// `extern __shared__ unsigned char a[]`: only built-in types, which need no alias.
    bool is_own_type_of_cuda(Index i, Index end) const {
        for (; i < end && in_.is_word(i); ++i) {
            if (in_.at(i + 1).is("[")) return true;
            if (!is_one_of(in_.at(i),
                           {"extern", "__shared__", "unsigned", "signed", "char", "short", "int",
                            "long", "float", "double", "float2", "float4", "int4"})) {
                return false;
            }
        }
        return false;
    }

    /// A `__device__` or `__constant__` variable; not a function, nor a declaration of a variable
    /// defined elsewhere.
    void variable(Index i) {
        const Index begin = scopes_.statement();
        if (begin < done_ || scopes_.in_function() || scopes_.in_type()) return;
        if (in_.at(begin).is("template")) return;
        const Index mark = in_.end_of_name(begin);
        const Index end = mark == kNone || in_.at(mark).is("(") ? kNone : in_.find(i, {";"});
        if (end == kNone) return;
        std::vector<std::string> names{std::string(in_.at(mark - 1).text)};
        for (Index k = mark; (k = in_.find(k, {",", ";"})) < end; ++k) {
            Index name = k + 1;
            while (in_.at(name).is("*")) ++name;
            names.emplace_back(in_.at(name).text);
        }
        for (Index k = begin; k < mark; ++k) {
            if (is_one_of(in_.at(k), {"extern", "operator", "using", "typedef"})) return;
        }
        bool is_constant = false;
        for (Index k = begin; k < mark; ++k) is_constant |= in_.at(k).is("__constant__");
        std::string text;
        for (const std::string& name : names) {
            text += " static const bool sixdays_registered_" + name + " = " + kEmulator +
                    "register_variable(" + name + ", " + in_quotes(name) +
                    (is_constant ? ", true);" : ");");
        }
        replace(in_.at(end).end(), in_.at(end).end(), text);
        done_ = end;
    }

    /// True if only words, `::`, `*` and template arguments precede this name. (`x{1} * y;` fails.)
    bool is_type(Index i, std::string_view name) const {
        if (!in_.is_word(i)) return false;
        for (; in_.at(i).text != name; ++i) {
            if (in_.at(i).is("<")) {
                i = in_.close_of(i);
            } else if (!in_.is_word(i) && !is_one_of(in_.at(i), {"::", "*"})) {
                return false;
            }
            if (i == kNone || in_.is_border(i)) return false;
        }
        return true;
    }
    /// `float sum, all[4], two = 2;` in a function: the first two are uninitialized.
    void local(Index end) {
        Index begin = scopes_.statement();
        if (begin < done_ || !scopes_.takes_statements()) return;
        for (Index i = begin; i < end; ++i) {
            if (is_one_of(in_.at(i),
                          {"return", "goto", "delete", "throw", "using", "else", "do", "case",
                           "default", "co_return", "static", "extern", "thread_local", "typedef",
                           "constexpr", "friend", "__shared__"})) {
                return;
            }
        }
        while (is_attribute(in_.at(begin)) && in_.at(begin + 1).is("(")) {
            begin = in_.close_of(begin + 1) + 1;
        }
        const std::optional<Declaration> d = read_declaration(in_, begin, end);
        if (!d || !is_type(begin, d->names.front().name)) return;
        std::string text;
        for (const Declaration::Name& one : d->names) {
            if (one.has_value) continue;
            unset_.insert(one.name);
            text += ' ' + kEmulator + "Unset sixdays_unset_" + one.name + '(' + one.name + ", " +
                    in_quotes(one.name) + ");";
        }
        if (!text.empty()) replace(in_.at(end).end(), in_.at(end).end(), text);
    }

    // `__shfl_sync(mask, x, 0)` or `group.shfl(x, 0)`, where x was declared without a value
    void shuffle(Index i) {
        if (!in_.is_word(i) || !in_.at(i + 1).is("(")) return;
        const bool of_group = is_one_of(in_.at(i - 1), {".", "->"});
        const Index comma = of_group ? i + 1 : in_.find(i + 2, {","});
        if (comma == kNone || !in_.at(comma + 2).is(",")) return;
        const Token& x = in_.at(comma + 1);
        if (unset_.count(x.text) > 0)
            replace(x.begin, x.end(), kEmulator + "shuffled(" + std::string(x.text) + ")");
    }

    void kernel(Index i) {
        if (scopes_.statement() < done_) return;
        Index begin = scopes_.statement();
        while (in_.at(begin).is("template") && in_.at(begin + 1).is("<"))
            begin = in_.close_of(begin + 1) + 1;
        if (is_hint(begin)) begin = in_.close_of(begin) + 1;
        const Index open = in_.end_of_name(begin);
        if (open == kNone || !in_.at(open).is("(")) return;  // for example in a macro
        Index name = open - 1;
        if (in_.at(name).is(">") && in_.open_of(name) != kNone) name = in_.open_of(name) - 1;
        std::string type, cluster;
        for (Index k = begin; k < name; ++k) {
            if (is_attribute(in_.at(k)) && in_.at(k + 1).is("(")) {
                const Index end = in_.close_of(k + 1) + 1;
                if (in_.at(k).is("__cluster_dims__"))
                    cluster = " " + kEmulator + "cluster_of" + in_.joined(k + 1, end) + ";";
                k = end - 1;
            } else if (!is_memory(in_.at(k)) &&
                       !is_one_of(in_.at(k),
                                  {"__global__", "__tile_global__", "static", "inline", "extern",
                                   "template", "constexpr", "friend", "__noinline__", "\"C\""})) {
                type += (type.empty() ? "" : " ") + std::string(in_.at(k).text);
            }
        }
        const Index body = in_.find(in_.close_of(open), {"{", ";"});
        if (type != "void" && type != "auto") {
            return error(i, "the kernel " + std::string(in_.at(name).text) + " returns " +
                                (type.empty() ? "something" : type) +
                                ". A kernel cannot return a value: declare it  " +
                                std::string(in_.at(i).text) +
                                " void, and store its result through a pointer");
        }
        std::string& of_prototype = clusters_[in_.at(name).text];
        if (cluster.empty()) cluster = of_prototype;
        if (body == kNone || in_.at(body).is(";")) {
            of_prototype = cluster;
            return;
        }
        std::string parameters;
        for (Index k = open + 1; k < in_.close_of(open); ++k) {
            parameters += (parameters.empty() ? "" : " ") + std::string(in_.at(k).text);
        }
        replace(in_.at(body).end(), in_.at(body).end(),
                " if (!" + kEmulator +
                    (in_.at(i).is("__global__") ? "enter_kernel(" : "enter_tile_kernel(") +
                    in_quotes(in_.at(name).text) + ", " + in_quotes(parameters) +
                    ", __builtin_return_address(0))) return;" + cluster);
        done_ = body;
        const Index end = in_.close_of(body);
        if (end != kNone && in_.at(i).is("__global__"))
            replace(in_.at(end).begin, in_.at(end).begin, kEmulator + "reach_end_of_kernel(); ");
        const bool plain = !in_.at(scopes_.statement()).is("template") && !scopes_.in_type() &&
                           !scopes_.in_function();
        if (!by_address_ || !plain || end == kNone) return;
        const std::string k(in_.at(name).text);
        replace(in_.at(end).end(), in_.at(end).end(),
                " static const bool sixdays_kernel_" + std::to_string(name) + " = " + kEmulator +
                    "register_kernel(" + in_quotes(k) + ", [](auto emu_f) { if constexpr " +
                    "(requires { emu_f(" + k + "); }) return emu_f(" + k +
                    "); else return nullptr; }(" + kEmulator + "PointerTo{}));");
    }

    /// The `<<` of `1u << n` in a function, after a token that binds less tightly than `<<`.
    bool is_shift_of_number(Index i) const {
        const bool shifted = in_.at(i).is("<") && in_.at(i + 1).is("<") &&
                             in_.at(i + 1).begin == in_.at(i).end() && !in_.at(i + 2).is("=") &&
                             !in_.at(i + 2).is("<");
        return shifted && i > 1 && in_.at(i - 1).kind == Token::Kind::number &&
               in_.at(i + 2).kind != Token::Kind::number && scopes_.in_function() &&
               !scopes_.in_define() &&
               is_one_of(in_.at(i - 2),
                         {"(", ",", "=", "return", "&", "|", "^", "?", ":", "[", "{"});
    }
    /// [[using cutile : hint(0, latency = 4)]]: a performance hint for the tile compiler.
    bool is_hint(Index i) const {
        return in_.at(i).is("[") && in_.at(i + 1).is("[") && in_.close_of(i) != kNone &&
               (in_.at(i + 2).is("cutile") || in_.at(i + 3).is("cutile"));
    }
    /// `malloc(bytes)`, `free(p)`, `delete p`, or a non-placement `new`, in functions that may run
    /// on the device. (Host functions are left alone: a class may overload operator new.)
    void own_memory(Index i) {
        const Token &token = in_.at(i), &before = in_.at(i - 1), &after = in_.at(i + 1);
        const bool declared = token.is("delete") && before.is("=");  // f() = delete;
        const bool of_host =
            std::any_of(sides_.of_host.begin(), sides_.of_host.end(),
                        [i](const auto& braces) { return braces.first < i && i < braces.second; });
        if (!scopes_.in_function() || of_host || declared ||
            is_one_of(before, {".", "->", "::", "operator"})) {
            return;
        }
        if (token.is("new")) {
            if (in_.is_word(i + 1)) replace(token.end(), token.end(), " (" + kEmulator + "Here{})");
        } else if (token.is("delete")) {
            const bool array = after.is("[");
            replace(token.begin, array ? in_.at(i + 2).end() : token.end(),
                    kEmulator + (array ? "Delete<true>{} =" : "Delete<false>{} ="));
        } else if (after.is("(") && (!in_.is_word(i - 1) || !in_.is_name(i - 1))) {
            replace(token.begin, token.end(),
                    kEmulator + (token.is("malloc") ? "allocate_here" : "free_here"));
        }
    }
    static bool launches_by_address(const Token& token) {
        return is_one_of(token, {"cudaLaunchKernel", "cudaLaunchKernelEx", "cudaLaunchKernelExC",
                                 "cudaLaunchCooperativeKernel", "cudaKernelNodeParams"});
    }
    /// cudaLaunchKernel((void*)kernel<256>, ...): removes the cast, since the pointer's type gives
    /// the types of the arguments.
    void without_cast(Index i) {
        if (!in_.at(i + 1).is("(")) return;
        Index open = i + 2;
        if (in_.at(i).is("cudaLaunchKernelExC")) open = in_.find(open, {",", ")"}) + 1;
        const Index close = in_.at(open).is("(") ? in_.close_of(open) : kNone;
        if (close == kNone || !in_.at(close - 1).is("*") || !in_.at(close - 2).is("void")) return;
        replace(in_.at(open).begin, in_.at(close).end(), "");
    }

    void inline_ptx(Index i) {
        Index open = i + 1;
        while (is_one_of(in_.at(open), {"volatile", "__volatile__", "inline"})) ++open;
        if (!scopes_.in_function() || !in_.at(open).is("(") || in_.close_of(open) == kNone) return;
        std::string text;
        Index k = open + 1;
        for (; in_.at(k).kind == Token::Kind::string; ++k) {
            text += unescaped(in_.at(k).text.substr(1, in_.at(k).text.size() - 2));
        }
        if (text.find_first_not_of(" \t\n") == std::string::npos) return;  // compiler barrier
        const Index close = in_.close_of(open);
        // "=r"(x), "r"(y): the expressions in parentheses after each string.
        std::vector<std::string> operands;
        for (; k < close; ++k) {
            if (in_.at(k).kind != Token::Kind::string || !in_.at(k + 1).is("(")) continue;
            operands.push_back(in_.joined(k + 2, in_.close_of(k + 1)));
            k = in_.close_of(k + 1);
        }
        const Ptx ptx = translate_ptx(text, operands);
        replace(in_.at(i).begin, in_.at(close).end(),
                ptx.unknown.empty()
                    ? "do { " + ptx.calls + "} while (0)"
                    : "static_assert(false, " +
                          in_quotes("inline PTX (" + ptx.unknown +
                                    ") does not run on the emulator; docs/emulator.md lists what "
                                    "does") +
                          ")");
    }
    static std::string unescaped(std::string_view text) {
        std::string plain;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const bool escape = text[i] == '\\' && i + 1 < text.size();
            plain += escape ? ' ' : text[i];  // \n, \t, or a line continuation
            i += escape ? 1 : 0;
        }
        return plain;
    }

    // --- edits and errors -----------------------------------------------------------------------
    void replace(std::size_t begin, std::size_t end, std::string text) {
        edits_.push_back({begin, end, std::move(text)});
        rewritten_ = true;
    }
    void error(Index i, std::string sentence) {
        errors_.push_back({line_of(file_, in_.at(i).begin), std::move(sentence)});
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
            // Lines of a #define continue with a backslash.
            const bool in_macro = old.find("\\\n") != std::string_view::npos;
            for (const char c : old) {
                if (c == '\n') r.text += in_macro ? "\\\n" : "\n";
            }
            copied = edit.end;
        }
        r.text += file_.substr(copied);
        r.rewritten = rewritten_;
        r.errors = std::move(errors_);
        return r;
    }

    inline static const std::string kEmulator = "::sixdays::emulator::";

    std::string_view file_;
    Source in_;
    Scopes scopes_{in_};
    const Sides sides_ = sides_of(in_);
    std::vector<Edit> edits_;
    std::vector<Result::Error> errors_;
    bool rewritten_ = false;
    std::map<std::string_view, std::string> clusters_;  // extents from the attributes of prototypes
    bool locals_;
    bool by_address_ = false;  // the file launches kernels by their addresses

    std::set<std::string, std::less<>> unset_;          // variables declared without a value
    std::map<std::string, std::string> dynamic_types_;  // of extern __shared__ arrays

    Index done_ = 0;  // declarations before this token are rewritten
};

}  // namespace

namespace {

/// `#if __CUDA_ARCH__ >= 700` compares with compute capability 8.0. `#ifdef __CUDA_ARCH__`
/// distinguishes host from device code; since functions are compiled once for both, it stays
/// undefined.
std::string with_architecture(std::string_view file) {
    static const std::string kWord = "__CUDA_ARCH__";
    std::string text(file);
    for (std::size_t at = 0; (at = text.find(kWord, at)) != std::string::npos;) {
        const std::size_t line = text.rfind('\n', at) + 1, end = at + kWord.size();
        const std::size_t hash = text.find_first_not_of(" \t", line);
        const std::size_t next = text.find_first_not_of(" \t", end);
        const bool compared = next != std::string::npos &&
                              std::string_view("<>=!").find(text[next]) != std::string_view::npos;
        const bool in_directive = text[hash] == '#';
        if (in_directive && compared) text.replace(at, kWord.size(), "800");
        at = in_directive && compared ? at + 3 : end;
    }
    return text;
}

}  // namespace

Result rewrite(std::string_view file, bool locals,
               const std::function<std::string(std::string_view named)>& include) {
    // An editor's byte order mark. A compiler skips it only at the start of a file, and the
    // translated file gets a new first line.
    constexpr std::string_view mark = "\xef\xbb\xbf";
    const bool marked = file.substr(0, mark.size()) == mark;
    const std::string text = with_architecture(file.substr(marked ? mark.size() : 0));
    Result result = Rewriter(text, locals).run(include);
    result.rewritten = result.rewritten || text != file;
    return result;
}

}  // namespace sixdays::translate

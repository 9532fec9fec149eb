#include "common/emulator/translate/ptx.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace sixdays::translate {

namespace {

const std::string kPtx = "::sixdays::emulator::ptx::";

std::string trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin));
}

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(at, begin), text.size());
        parts.push_back(trimmed(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return parts;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

// The CUDA C++ expression for a special register; empty if it is not supported.
std::string special_register(const std::string& name) {
    const std::string lane = kPtx + "lane_id()";
    static const std::map<std::string, std::string> kPlain = {{"clock", "clock64()"},
                                                              {"clock64", "clock64()"},
                                                              {"globaltimer", "clock64()"},
                                                              {"globaltimer_lo", "clock64()"},
                                                              {"smid", "0u"},
                                                              {"nsmid", "4u"},
                                                              {"tid.x", "threadIdx.x"},
                                                              {"tid.y", "threadIdx.y"},
                                                              {"tid.z", "threadIdx.z"},
                                                              {"ntid.x", "blockDim.x"},
                                                              {"ntid.y", "blockDim.y"},
                                                              {"ntid.z", "blockDim.z"},
                                                              {"ctaid.x", "blockIdx.x"},
                                                              {"ctaid.y", "blockIdx.y"},
                                                              {"ctaid.z", "blockIdx.z"},
                                                              {"nctaid.x", "gridDim.x"},
                                                              {"nctaid.y", "gridDim.y"},
                                                              {"nctaid.z", "gridDim.z"}};
    const auto plain = kPlain.find(name);
    if (plain != kPlain.end()) return plain->second;
    if (name == "laneid") return lane;
    if (name == "warpid") return kPtx + "warp_id()";
    if (name == "cluster_ctarank") return "::sixdays::emulator::cluster_rank_of(nullptr)";
    if (name == "lanemask_eq") return "(1u << " + lane + ")";
    if (name == "lanemask_lt") return "((1u << " + lane + ") - 1)";
    if (name == "lanemask_le") return "((2u << " + lane + ") - 1)";
    if (name == "lanemask_ge") return "(~0u << " + lane + ")";
    if (name == "lanemask_gt") return "(~1u << " + lane + ")";
    return {};
}

bool is_number(const std::string& text) {
    return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 ||
                             (text[0] == '-' && text.size() > 1));
}

bool has(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Maps the names in an asm statement to C++ variables.
struct Names {
    const std::vector<std::string>& operands;        // %0, %1, ...
    std::map<std::string, std::string> registers{};  // declared in it: name to C++ type

    /// The name of a register declared in the statement; empty if the operand is not one.
    std::string name(const std::string& operand) const {
        const std::size_t begin = operand.find_first_not_of('%');
        if (begin == std::string::npos || registers.count(operand.substr(begin)) == 0) return {};
        return operand.substr(begin);
    }
    std::string variable(const std::string& operand) const {
        const std::string own = name(operand);
        return own.empty() ? "" : "emu_" + own;
    }
    /// True if a float instruction would take the bits of an integer register.
    bool is_whole(const std::string& operand) const {
        const std::string own = name(operand);
        return !own.empty() && !has({"float", "double", "bool"}, registers.at(own));
    }
};

/// An operand as C++; empty if it cannot be translated.
std::string expression(const std::string& operand, const Names& names) {
    if (operand == "_") return kPtx + "Ignored{}";
    if (const std::string own = names.variable(operand); !own.empty()) return own;
    if (operand.rfind("%%", 0) == 0) return special_register(operand.substr(2));
    if (operand.size() > 1 && operand[0] == '%') {
        const auto index = static_cast<std::size_t>(std::atoi(operand.c_str() + 1));
        const bool known = std::isdigit(static_cast<unsigned char>(operand[1])) != 0;
        return known && index < names.operands.size() ? "(" + names.operands[index] + ")" : "";
    }
    if (operand.rfind("0f", 0) == 0)
        return "__builtin_bit_cast(float, 0x" + operand.substr(2) + "u)";
    if (is_number(operand)) return operand;
    if (operand.size() < 2 || operand.front() != '[' || operand.back() != ']') return {};
    const auto parts = split(operand.substr(1, operand.size() - 2), '+');
    const std::string base = expression(parts[0], names);
    if (base.empty() || parts.size() > 2 || (parts.size() == 2 && !is_number(parts[1]))) return {};
    return kPtx + "address(" + base + (parts.size() == 2 ? ", " + parts[1] : "") + ")";
}

// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
std::string mma(const std::vector<std::string>& words) {
    if (words.size() < 10 || words[4] != "row" || words[5] != "col") return {};
    const std::string &shape = words[3], &sum = words[6], &factor = words[7];
    const bool small = factor == "f16" || factor == "bf16";
    const bool fits = small ? shape == "m16n8k16" || shape == "m16n8k8"
                            : factor == "tf32" && (shape == "m16n8k8" || shape == "m16n8k4");
    if (!fits || factor != words[8] || sum != words[9]) return {};
    const std::string k = shape.substr(shape.find('k') + 1);
    if (sum == "f16" && factor == "f16") return kPtx + "mma_halves<" + k + ">";
    if (sum != "f32") return {};
    return kPtx + "mma_floats<" + kPtx + "Factor::" + factor + ", " + k + ">";
}

const std::map<std::string, std::string> kTypes = {{"pred", "bool"},
                                                   {"b8", "unsigned char"},
                                                   {"b16", "unsigned short"},
                                                   {"b32", "unsigned"},
                                                   {"b64", "unsigned long long"},
                                                   {"b128", "::sixdays::emulator::ptx::b128"},
                                                   {"u8", "unsigned char"},
                                                   {"s8", "signed char"},
                                                   {"u16", "unsigned short"},
                                                   {"s16", "short"},
                                                   {"u32", "unsigned"},
                                                   {"s32", "int"},
                                                   {"u64", "unsigned long long"},
                                                   {"s64", "long long"},
                                                   {"f32", "float"},
                                                   {"f64", "double"}};

// setp.ne.b32
std::string setp(const std::vector<std::string>& words) {
    static const std::map<std::string, std::string> kCompares = {
        {"eq", "equal_to"}, {"ne", "not_equal_to"}, {"lt", "less"},
        {"gt", "greater"},  {"le", "less_equal"},   {"ge", "greater_equal"}};
    if (words.size() != 3 || kCompares.count(words[1]) == 0 || kTypes.count(words[2]) == 0)
        return {};
    return kPtx + "setp<std::" + kCompares.at(words[1]) + "<" + kTypes.at(words[2]) + ">>";
}

const std::string kOrder = "::sixdays::emulator::MemoryOrder::";

// The memory order that an instruction states; empty if it states none.
std::string memory_order(const std::vector<std::string>& words) {
    for (const char* const order : {"relaxed", "acquire", "release", "acq_rel"}) {
        if (has(words, order)) return kOrder + order;
    }
    return has(words, "volatile") ? kOrder + "none" : "";
}

// ld.acquire.gpu.global.u32, st.volatile.v2.f32
std::string move(const std::vector<std::string>& words) {
    const std::string name = words[0] == "ldu" ? "ld" : words[0], order = memory_order(words);
    if (words.back() == "b128" && (order.empty() || has(words, "volatile"))) return {};
    const std::string& type = kTypes.at(words.back());
    return kPtx + name +
           (order.empty() ? "<" + type + ">" : "_ordered<" + type + ", " + order + ">");
}

// atom.acq_rel.gpu.global.add.u32; without an order it is relaxed
std::string atomic(const std::vector<std::string>& words) {
    static const std::map<std::string, std::vector<std::string>> kOperations = {
        {"add", {"u32", "s32", "u64", "f32", "f64"}},
        {"exch", {"b32", "b64"}},
        {"cas", {"b16", "b32", "b64"}},
        {"min", {"u32", "s32", "u64", "s64"}},
        {"max", {"u32", "s32", "u64", "s64"}},
        {"inc", {"u32"}},
        {"dec", {"u32"}},
        {"and", {"b32", "b64"}},
        {"or", {"b32", "b64"}},
        {"xor", {"b32", "b64"}}};
    const std::string order = memory_order(words);
    for (const auto& [operation, types] : kOperations) {
        if (!has(words, operation) || !has(types, words.back())) continue;
        return kPtx + "atom_" + operation + "<" + kTypes.at(words.back()) + ", " +
               (order.empty() ? kOrder + "relaxed" : order) + ">";
    }
    return {};
}

// mbarrier.arrive.expect_tx.shared::cta.b64
std::string mbarrier(const std::vector<std::string>& words) {
    const std::string& what = words[1];
    if (has(words, "shared::cluster")) return {};  // may be another block's mbarrier
    if (what == "inval") return "-";
    if (what == "arrive") {
        if (has(words, "noComplete")) return {};
        return kPtx + (has(words, "expect_tx") ? "mbarrier_arrive_expect" : "mbarrier_arrive");
    }
    return has({"init", "expect_tx", "try_wait", "test_wait"}, what) ? kPtx + "mbarrier_" + what
                                                                     : "";
}

// cvt.rn.f16x2.f32
std::string cvt(const std::vector<std::string>& words) {
    static const std::map<std::string, std::string> kExponents = {
        {"f16", "5"}, {"bf16", "8"}, {"f16x2", "5"}, {"bf16x2", "8"}};
    if (words.size() < 3) return {};
    const std::string &to = words[words.size() - 2], &from = words.back();
    std::string rounds = "-";
    for (std::size_t i = 1; i + 2 < words.size(); ++i) {
        const std::string& word = words[i];
        if (word.size() == 3 && word[0] == 'r' && word[2] == 'i') {
            rounds = word[1];
        } else if (word != "rn" && word != "ftz" && !(word == "rna" && to == "tf32")) {
            return {};
        }
    }
    if (from == "f32" && to == "tf32") return kPtx + "cvt_tf32";
    const auto out = kExponents.find(to), in = kExponents.find(from);
    if (from == "f32" && out != kExponents.end()) {
        return kPtx + (to.back() == '2' ? "cvt_pair<" : "cvt_small<") + out->second + ">";
    }
    if (to == "f32" && in != kExponents.end()) return kPtx + "cvt_wide<" + in->second + ">";
    if (kTypes.count(to) == 0 || kTypes.count(from) == 0) return {};
    return kPtx + "cvt<" + kTypes.at(to) + ", " + kTypes.at(from) + ", '" + rounds + "'>";
}

/// The function for an opcode; "-" if there is nothing to do; empty if it is not supported.
std::string function(const std::string& opcode, bool& at_site) {
    const auto words = split(opcode, '.');
    const std::string& name = words[0];
    if (name == "cp" && words.size() > 2 && words[1] == "async") {
        const std::string& what = words[2];
        if (what == "ca" || what == "cg") return kPtx + "cp_async";
        if (what == "commit_group" || what == "wait_group" || what == "wait_all") {
            return kPtx + "cp_async_" + what;
        }
        at_site = true;
        const bool known = words.size() > 5 && what == "bulk" && words[3].rfind("shared", 0) == 0 &&
                           words[4] == "global" && words[5] == "mbarrier::complete_tx::bytes" &&
                           !has(words, "multicast::cluster");
        return known ? kPtx + "cp_async_bulk" : "";
    }
    if (name == "mbarrier" && words.size() > 2) {
        at_site = true;
        return mbarrier(words);
    }
    if (name == "fence" && (has(words, "proxy") || has(words, "mbarrier_init")))
        return kPtx + "mbarriers_are_set_up";
    if (name == "ldmatrix" && has(words, "m8n8") && has(words, "b16")) {
        at_site = true;
        return kPtx + "ldmatrix<" + (has(words, "trans") ? "true>" : "false>");
    }
    if (name == "mma") return mma(words);
    if (name == "cvt") return cvt(words);
    if (name == "setp") return setp(words);
    if (name == "atom" || name == "red") return atomic(words);
    if (name == "mapa") {
        at_site = true;
        return kPtx + name;
    }
    if (name == "barrier" && words.size() > 2 && words[1] == "cluster" && !has(words, "relaxed")) {
        at_site = true;
        return "::sixdays::emulator::cluster_" + words[2];
    }
    if (name == "bar" && has(words, "sync")) return "::__syncthreads";
    if (name == "membar" || name == "fence") return "::__threadfence";
    if (has({"griddepcontrol", "prefetch", "prefetchu", "setmaxnreg"}, name)) return "-";
    static const std::vector<std::string> kPlain = {
        "mov",  "ld",    "ldu",  "st",  "add", "fma",   "selp", "ex2",  "lg2", "rcp",
        "sqrt", "rsqrt", "tanh", "sin", "cos", "bfind", "popc", "prmt", "lop3"};
    const std::string& type = words.back();
    if (!has(kPlain, name) || !(kTypes.count(type) > 0 || name == "prmt")) return {};
    if (has({"ld", "ldu", "st"}, name)) return move(words);
    return type == "b128" && name != "mov" ? "" : kPtx + name;
}

/// Translates one instruction; false if it cannot be translated.
bool add_call(const std::string& instruction, const Names& names, std::string& calls) {
    const auto end = std::min(instruction.find_first_of(" \t"), instruction.size());
    bool at_site = false;
    const std::string name = function(instruction.substr(0, end), at_site);
    if (name.empty()) return false;
    if (name == "-") {
        calls += "; ";
        return true;
    }
    std::string rest = instruction.substr(end);
    rest.erase(
        std::remove_if(rest.begin(), rest.end(), [](char c) { return c == '{' || c == '}'; }),
        rest.end());
    std::vector<std::string> arguments;
    if (at_site) arguments.push_back("::sixdays::emulator::Site::current()");
    const bool barrier = name == "::__syncthreads";
    const auto words = split(instruction.substr(0, end), '.');
    const bool floats = (words.back() == "f32" || words.back() == "f64") &&
                        !has({"mov", "ld", "ldu", "st", "mma", "atom", "red"}, words[0]);
    bool any_type = words[0] == "cvt";  // the result may have any type
    for (const std::string& operand : split(rest, ',')) {
        if (operand.empty()) continue;
        if (floats && !std::exchange(any_type, false) && names.is_whole(operand)) return false;
        if (barrier && operand != "0") return false;  // not the barrier of __syncthreads()
        const std::string one = expression(operand, names);
        if (one.empty()) return false;
        if (!barrier) arguments.push_back(one);
    }
    if (words[0] == "red") arguments.insert(arguments.begin(), kPtx + "Ignored{}");
    if (words[0] == "ld" || words[0] == "ldu")  // the address comes first, as in st
        std::rotate(arguments.begin(), arguments.end() - 1, arguments.end());
    calls += name + "(" + joined(arguments) + "); ";
    return true;
}

// `.reg .pred p, q`
bool add_registers(const std::string& text, Names& names, std::string& variables) {
    const std::size_t type = text.find('.', 1), end = text.find_first_of(" \t", type);
    if (type == std::string::npos || end == std::string::npos) return false;
    const auto found = kTypes.find(text.substr(type + 1, end - type - 1));
    if (found == kTypes.end() || text.find('<') != std::string::npos) return false;
    for (const std::string& one : split(text.substr(end), ',')) {
        const std::string name = one.substr(std::min(one.find_first_not_of('%'), one.size()));
        names.registers[name] = found->second;
        variables += "[[maybe_unused]] " + found->second + " emu_" + name + "{}; ";
    }
    return true;
}

// Removes a leading `LABEL:` and returns it; empty if there is none.
std::string take_label(std::string& instruction) {
    const std::size_t colon = instruction.find(':');
    if (colon == std::string::npos || instruction.find_first_of(" \t.[") < colon) return {};
    const std::string label = "emu_" + trimmed(instruction.substr(0, colon));
    instruction = trimmed(instruction.substr(colon + 1));
    return label;
}

// Removes a leading `@p` or `@!p` of a known p, and turns it into an `if`.
void take_guard(std::string& instruction, const Names& names, std::string& calls) {
    if (instruction.empty() || instruction[0] != '@') return;
    const bool inverted = instruction.rfind("@!", 0) == 0;
    const std::size_t begin = inverted ? 2 : 1, end = instruction.find_first_of(" \t");
    if (end == std::string::npos) return;
    const std::string predicate = names.variable(instruction.substr(begin, end - begin));
    if (predicate.empty()) return;
    calls += std::string("if (") + (inverted ? "!" : "") + predicate + ") ";
    instruction = trimmed(instruction.substr(end));
}

}  // namespace

Ptx translate_ptx(std::string_view text, const std::vector<std::string>& operands) {
    Ptx result;
    Names names{operands};
    std::string variables, labels;
    for (std::string instruction : split(text, ';')) {
        for (;;) {
            if (!instruction.empty() && (instruction[0] == '{' || instruction[0] == '}')) {
                instruction = trimmed(instruction.substr(1));
            } else if (const std::string label = take_label(instruction); !label.empty()) {
                labels += "__label__ " + label + "; ";
                result.calls += label + ":; ";
            } else {
                break;
            }
        }
        const std::string whole = instruction;
        if (instruction.empty()) continue;
        if (instruction.rfind(".reg", 0) == 0) {
            if (add_registers(instruction, names, variables)) continue;
        } else {
            take_guard(instruction, names, result.calls);
            const std::size_t target = instruction.find_first_of(" \t");
            if (instruction.rfind("bra", 0) == 0 && target != std::string::npos) {
                result.calls += "goto emu_" + trimmed(instruction.substr(target)) + "; ";
                continue;
            }
            if (add_call(instruction, names, result.calls)) continue;
        }
        result.unknown = whole.substr(0, whole.find_first_of(" \t%"));
        break;
    }
    result.calls = labels + variables + result.calls;
    return result;
}

}  // namespace sixdays::translate

#include "common/emulator/translate/ptx.hpp"

#include <algorithm>
#include <cctype>
#include <map>

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

// What a special register is in CUDA C++; empty if it has no name here.
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

/// One operand as C++; empty if that cannot be said.
std::string expression(const std::string& operand, const std::vector<std::string>& operands) {
    if (operand.rfind("%%", 0) == 0) return special_register(operand.substr(2));
    if (operand.size() > 1 && operand[0] == '%') {
        const auto index = static_cast<std::size_t>(std::atoi(operand.c_str() + 1));
        const bool known = std::isdigit(static_cast<unsigned char>(operand[1])) != 0;
        return known && index < operands.size() ? "(" + operands[index] + ")" : "";
    }
    if (operand.rfind("0f", 0) == 0)
        return "__builtin_bit_cast(float, 0x" + operand.substr(2) + "u)";
    if (is_number(operand)) return operand;
    if (operand.size() < 2 || operand.front() != '[' || operand.back() != ']') return {};
    const auto parts = split(operand.substr(1, operand.size() - 2), '+');
    const std::string base = expression(parts[0], operands);
    if (base.empty() || parts.size() > 2 || (parts.size() == 2 && !is_number(parts[1]))) return {};
    return kPtx + "address(" + base + (parts.size() == 2 ? ", " + parts[1] : "") + ")";
}

bool has(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
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

// cvt.rn.f16x2.f32
std::string cvt(const std::vector<std::string>& words) {
    static const std::map<std::string, std::string> kTypes = {
        {"u8", "unsigned char"},  {"s8", "signed char"},   {"u16", "unsigned short"},
        {"s16", "short"},         {"u32", "unsigned"},     {"s32", "int"},
        {"u64", "std::uint64_t"}, {"s64", "std::int64_t"}, {"f32", "float"},
        {"f64", "double"}};
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

/// The function for an instruction, up to its bracket; "-" if there is nothing to do; else empty.
std::string function(const std::string& opcode, bool& at_site) {
    const auto words = split(opcode, '.');
    const std::string& name = words[0];
    if (name == "cp" && words.size() > 2 && words[1] == "async") {
        const std::string& what = words[2];
        if (what == "ca" || what == "cg") return kPtx + "cp_async";
        if (what == "commit_group" || what == "wait_group" || what == "wait_all") {
            return kPtx + "cp_async_" + what;
        }
        return {};
    }
    if (name == "ldmatrix" && has(words, "m8n8") && has(words, "b16")) {
        at_site = true;
        return kPtx + (has(words, "trans") ? "ldmatrix_transposed" : "ldmatrix");
    }
    if (name == "mma") return mma(words);
    if (name == "cvt") return cvt(words);
    if (name == "bar" && has(words, "sync")) return "::__syncthreads";
    if (name == "membar" || name == "fence") return "::__threadfence";
    if (has({"griddepcontrol", "prefetch", "prefetchu", "setmaxnreg"}, name)) return "-";
    static const std::vector<std::string> kPlain = {"mov", "ld",  "ldu",   "st",   "add",   "fma",
                                                    "ex2", "lg2", "rcp",   "sqrt", "rsqrt", "tanh",
                                                    "sin", "cos", "bfind", "popc", "prmt",  "lop3"};
    static const std::vector<std::string> kTypes = {"b8",  "u8",  "s8",  "b16", "u16",
                                                    "s16", "b32", "u32", "s32", "b64",
                                                    "u64", "s64", "f32", "f64"};
    if (!has(kPlain, name) || !(has(kTypes, words.back()) || name == "prmt")) return {};
    return kPtx + (name == "ldu" ? "ld" : name);
}

/// One instruction; false if it cannot be said.
bool add_call(const std::string& instruction, const std::vector<std::string>& operands,
              std::string& calls) {
    const auto end = std::min(instruction.find_first_of(" \t"), instruction.size());
    bool at_site = false;
    const std::string name = function(instruction.substr(0, end), at_site);
    if (name.empty()) return false;
    if (name == "-") return true;
    std::string rest = instruction.substr(end);
    rest.erase(
        std::remove_if(rest.begin(), rest.end(), [](char c) { return c == '{' || c == '}'; }),
        rest.end());
    std::string arguments;
    const bool barrier = name == "::__syncthreads";
    for (const std::string& operand : split(rest, ',')) {
        if (operand.empty()) continue;
        if (barrier && operand != "0") return false;  // another barrier than __syncthreads()
        const std::string one = expression(operand, operands);
        if (one.empty()) return false;
        if (!barrier) arguments += (arguments.empty() ? "" : ", ") + one;
    }
    if (at_site) arguments = "::sixdays::emulator::Site::current(), " + arguments;
    calls += name + "(" + arguments + "); ";
    return true;
}

}  // namespace

Ptx translate_ptx(std::string_view text, const std::vector<std::string>& operands) {
    Ptx result;
    for (std::string instruction : split(text, ';')) {
        if (instruction == "{" || instruction == "}") continue;
        if (!instruction.empty() && instruction[0] == '{')
            instruction = trimmed(instruction.substr(1));
        if (instruction.empty() || add_call(instruction, operands, result.calls)) continue;
        result.unknown = instruction.substr(0, instruction.find_first_of(" \t%"));
        break;
    }
    return result;
}

}  // namespace sixdays::translate

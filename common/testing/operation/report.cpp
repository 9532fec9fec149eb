#include <algorithm>
#include <cctype>

#include "common/testing/operation/call.hpp"

namespace sixdays::testing {
namespace {

bool has_word(const std::string& text, const std::string& word) {
    const auto letter = [&](std::size_t at) {
        return at < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
    }
    return false;
}

}  // namespace

void Report::add(const Change& change, Where where, const std::string& what,
                 const std::string& found) {
    const bool known =
        change.path && *change.path >= 0 && *change.path < static_cast<int>(op_.paths.size());
    const std::string path =
        !change.path ? ", the best path"
        : known      ? ", path '" + op_.paths[static_cast<std::size_t>(*change.path)].name + "'"
                     : "";
    // A call without a path repeats the failure of the path that it chooses.
    if (where == Where::cuda && !change.path && wrong_by_a_path_ == what) return;
    if (where == Where::cuda && change.path) wrong_by_a_path_ = what;
    if (++count_ > 6) return;
    text_ += "\n" + what + (where == Where::cpu ? " (CPU)" : " (CUDA" + path + ")") + ": " + found;
}

void Report::need_rejection(const Change& change, Where where, const std::string& what,
                            const std::vector<std::string>& names) {
    const Outcome outcome = call_(where, change);
    if (!outcome.error.empty()) return add(change, where, what, outcome.error);
    if (outcome.ok()) return add(change, where, what, "not rejected");
    check_message(change, where, what, outcome, names);
}

void Report::need_mismatch(const Change& change, Where where, const std::string& what,
                           const std::string& name) {
    const Outcome outcome = call_(where, change);
    if (!outcome.error.empty()) return add(change, where, what, outcome.error);
    if (outcome.ok()) return add(change, where, what, "not rejected");
    // "in" is also an English word.
    const bool other = outcome.rejected.starts_with(op_.name + ": dim ") ||
                       std::any_of(op_.operands.begin(), op_.operands.end(), [&](const Operand& x) {
                           return has_word(outcome.rejected, x.name == "in" ? "in has" : x.name);
                       });
    check_message(change, where, what, outcome,
                  other ? std::vector<std::string>{} : std::vector<std::string>{name});
}

void Report::check_message(const Change& change, Where where, const std::string& what,
                           const Outcome& outcome, const std::vector<std::string>& names) {
    const std::string& said = outcome.rejected;
    if (where == Where::cpu) {
        said_by_cpu_ = {what, said};
    } else if (!change.path && said_by_cpu_.first == what && said_by_cpu_.second != said) {
        add(change, where, what, said + "\n  by the CPU reference: " + said_by_cpu_.second);
    }
    const bool own = said.starts_with(op_.name) && said.size() > op_.name.size() &&
                     (said[op_.name.size()] == ':' || said[op_.name.size()] == ' ');
    if (!own) add(change, where, what, "rejected under another name: " + said);
    for (const std::string& name : names) {
        if (!has_word(said.substr(std::min(op_.name.size(), said.size())), name)) {
            add(change, where, what, "rejected without naming '" + name + "': " + said);
        }
    }
    for (const std::string& name : outcome.wrote) {
        add(change, where, what, "rejected after " + name + " was written: " + said);
    }
}

Outcome Report::need_result(const Change& change, Where where, const std::string& what,
                            const Want& want, bool may_reject,
                            const std::vector<std::string>& names) {
    Outcome got = call_(where, change);
    if (!got.error.empty()) {
        add(change, where, what, got.error);
    } else if (!got.ok()) {
        if (got.accepts.value_or(!may_reject)) add(change, where, what, got.rejected);
        check_message(change, where, what, got, change.path ? std::vector<std::string>{} : names);
    } else {
        check_result(change, where, what, want(change.path ? change.path : got.best), got);
    }
    return got;
}

void Report::check_result(const Change& change, Where where, const std::string& what,
                          const std::vector<Expected>& want, const Outcome& got) {
    if (!got.accepts.value_or(true)) add(change, where, what, "accepted, but must be rejected");
    for (const std::string& fault : got.faults) add(change, where, what, fault);
    const std::string left_out =
        change.null ? op_.operands[static_cast<std::size_t>(change.operand)].name : "";
    for (std::size_t i = 0; i < got.outputs.size(); ++i) {
        if (got.names[i] == left_out) continue;
        const Comparison right = close(
            got.outputs[i], want[i].value,
            [&](const Index& at) { return want[i].error.view()(at); }, Nans::where_expected);
        if (!right) add(change, where, what, got.names[i] + ": " + right.text);
    }
    // A call that writes nothing may launch nothing: no elements, or a copy onto itself.
    if (where == Where::cpu || got.wrote.empty()) return;
    if (!got.due.empty() && got.due != got.kernel) {
        add(change, where, what, "launched " + got.kernel + " instead of " + got.due);
    }
}

void Report::need_same(const Change& change, Where where, const std::string& what,
                       const Outcome& earlier) {
    const Outcome got = call_(where, change);
    if (!got.ok()) return add(change, where, what, got.rejected + got.error);
    for (std::size_t i = 0; i < got.outputs.size(); ++i) {
        const Comparison same =
            close(got.outputs[i], earlier.outputs[i], 0.0, Nans::where_expected);
        if (!same) add(change, where, what, got.names[i] + ": " + same.text);
    }
}

Comparison Report::result() const {
    if (count_ == 0) return {true, text_of(op_)};
    return {false, text_of(op_) + ", " + std::to_string(count_) + " wrong:" + text_};
}

}  // namespace sixdays::testing

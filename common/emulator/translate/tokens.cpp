#include "common/emulator/translate/tokens.hpp"

#include <algorithm>
#include <cctype>

namespace sixdays::translate {

namespace {

bool begins_word(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Lexer {
public:
    explicit Lexer(std::string_view file) : file_(file) {}

    std::vector<Token> run() {
        while (at_ < file_.size()) step();
        return std::move(tokens_);
    }

private:
    bool next_is(std::string_view s) const { return file_.substr(at_, s.size()) == s; }

    void add(Token::Kind kind, std::size_t length) {
        tokens_.push_back({kind, file_.substr(at_, length), at_});
        at_ += length;
    }
    void border() { tokens_.push_back({Token::Kind::border, file_.substr(at_, 0), at_}); }

    void step() {
        const char c = file_[at_];
        if (next_is("\\\n")) {
            at_ += 2;
        } else if (c == '\n') {
            if (in_define_) border();
            in_define_ = false;
            line_begins_ = true;
            ++at_;
        } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            ++at_;
        } else if (next_is("//")) {
            skip_line();
        } else if (next_is("/*")) {
            at_ = std::min(file_.find("*/", at_ + 2), file_.size() - 2) + 2;
        } else if (c == '#' && line_begins_) {
            directive();
        } else {
            line_begins_ = false;
            token(c);
        }
    }

    void token(char c) {
        if (c == '"' || c == '\'') {
            add(Token::Kind::string, quoted(c));
        } else if (begins_word(c)) {
            std::size_t length = 1;
            while (at_ + length < file_.size() && in_word(file_[at_ + length])) ++length;
            const std::string_view word = file_.substr(at_, length);
            const bool raw = word.back() == 'R' && word.size() <= 3;
            if (raw && at_ + length < file_.size() && file_[at_ + length] == '"') {
                add(Token::Kind::string, raw_string(length));
            } else {
                add(Token::Kind::word, length);
            }
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            add(Token::Kind::number, number());
        } else if (next_is("<<<")) {
            add(Token::Kind::mark, 3);
        } else {
            add(Token::Kind::mark, next_is("::") || next_is("->") ? 2 : 1);
        }
    }

    // Skips to the end of the line, including continuation lines.
    void skip_line() {
        const bool comment = next_is("//");
        while (at_ < file_.size() && file_[at_] != '\n') {
            if (!comment && next_is("/*")) return;
            at_ += next_is("\\\n") ? 2 : 1;
        }
    }

    void directive() {
        line_begins_ = false;
        ++at_;
        while (at_ < file_.size() && (file_[at_] == ' ' || file_[at_] == '\t')) ++at_;
        if (next_is("define")) return define();
        const bool include = next_is("include");
        const std::size_t end = std::min(file_.find('\n', at_), file_.size());
        const std::size_t open = file_.find_first_of("\"<", at_);
        if (include && open < end) {
            const std::size_t close = file_.find_first_of("\">", open + 1);
            at_ = open;
            add(Token::Kind::include, std::min(close, end - 1) + 1 - open);
        }
        skip_line();
    }

    // Skips the macro's name and parameters, up to its body.
    void define() {
        at_ = std::min(file_.find_first_not_of(" \t", at_ + 6), file_.size());
        while (at_ < file_.size() && in_word(file_[at_])) ++at_;
        if (next_is("(")) at_ = std::min(file_.find(')', at_), file_.size() - 1) + 1;
        border();
        in_define_ = true;
    }

    std::size_t quoted(char quote) const {
        std::size_t length = 1;
        while (at_ + length < file_.size() && file_[at_ + length] != quote) {
            length += file_[at_ + length] == '\\' ? 2 : 1;
        }
        return std::min(length + 1, file_.size() - at_);
    }
    // Length of R"name( ... )name", whose R is a prefix of `prefix` characters.
    std::size_t raw_string(std::size_t prefix) const {
        const std::size_t name = at_ + prefix + 1;
        const std::size_t open = std::min(file_.find('(', name), file_.size());
        std::string close(1, ')');
        close += file_.substr(name, open - name);
        close += '"';
        const std::size_t end = file_.find(close, open);
        return end == std::string_view::npos ? file_.size() - at_ : end + close.size() - at_;
    }
    // Up to the sign of an exponent: only integers matter.
    std::size_t number() const {
        std::size_t length = 1;
        for (; at_ + length < file_.size(); ++length) {
            const char c = file_[at_ + length];
            if (!in_word(c) && c != '.' && c != '\'') break;
        }
        return length;
    }

    std::string_view file_;
    std::size_t at_ = 0;
    bool line_begins_ = true;
    bool in_define_ = false;
    std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view file) {
    return Lexer(file).run();
}

int line_of(std::string_view file, std::size_t place) {
    return 1 + static_cast<int>(
                   std::count(file.begin(), file.begin() + static_cast<long>(place), '\n'));
}

}  // namespace sixdays::translate

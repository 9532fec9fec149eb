#include "common/lesson/csv.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace sixdays::lesson {
namespace {

std::string field(const std::string& text) {
    if (text.find_first_of("\r\n") != std::string::npos) {
        throw std::invalid_argument("\"" + text +
                                    "\" has a line break, which a CSV field cannot have");
    }
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

// "(64, 1024)" becomes 64x1024; other text is unchanged.
std::string shape_field(const std::string& shape) {
    if (shape == "()") return "scalar";
    if (shape.empty() || shape.front() != '(' || shape.back() != ')') return field(shape);
    std::string text;
    for (const char c : shape.substr(1, shape.size() - 2)) {
        if (c != ' ') text += c == ',' ? 'x' : c;
    }
    return field(text);
}

std::string number(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string seconds_field(const Version& v, double seconds) {
    if (!(seconds > 0) || !std::isfinite(seconds)) {
        throw std::invalid_argument(v.op + ", " + v.version + ": a time of " +
                                    number("%g", seconds) + " seconds was measured");
    }
    return number("%.4e", seconds);
}

}  // namespace

std::string csv_columns() {
    return "op,version,path,dtype,shape,cache,bytes_read,bytes_written,flops,median_s,p10_s,p90_s,"
           "limit,share,peer,peer_s";
}

std::string csv_row(const Version& v, const bench::Seconds& seconds, double peer_median,
                    const bench::Limits& limits) {
    std::string row;
    for (const std::string& text : {v.op, v.version, v.path, v.dtype}) row += field(text) + ",";
    row += shape_field(v.shape) + "," + field(v.cache) + ",";
    for (const double amount : {v.work.bytes_read, v.work.bytes_written, v.work.flops}) {
        row += number("%.0f", amount) + ",";
    }
    for (const double s : {seconds.median, seconds.p10, seconds.p90}) {
        row += seconds_field(v, s) + ",";
    }
    const bench::Bound b = bench::bound(v.work, limits);
    row += b.name + "," + number("%.4f", b.seconds / seconds.median) + ",";
    if (peer_median == 0) return row + ",";
    return row + field(v.peer) + "," + seconds_field(v, peer_median);
}

std::string driver_version_in(const std::string& text) {
    // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build ...": the
    // first word that consists of digits and at least one point.
    std::string word;
    for (const char c : text + " ") {
        if (c != ' ' && c != '\t' && c != '\n') {
            word += c;
            continue;
        }
        const bool digits = word.find_first_not_of("0123456789.") == std::string::npos;
        if (digits && word.find('.') != std::string::npos && word.front() != '.') return word;
        word.clear();
    }
    return "";
}

std::string clock_warning(double hz_before, double hz_after) {
    const double moved = hz_after / hz_before - 1;
    if (std::abs(moved) <= 0.05) return "";
    return "the clock went " + std::string(moved < 0 ? "down" : "up") + " by " +
           number("%.0f", 100 * std::abs(moved)) +
           " % while this was measured: rows cannot be compared with each other, measure again";
}

}  // namespace sixdays::lesson

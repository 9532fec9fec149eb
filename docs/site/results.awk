# A table from what `common/learn bench` wrote:  awk -f results.awk docs/results/x.csv > x.html
# Rows of a sweep, version "stride 7" and path "model 9.2e-04 s", have a table of their own, with
# -v sweep=1, and stay out of the other.
# Lines with # (device, driver, date, limits, command) go below it. Columns are found by name, so a
# file may have more of them; common/lesson/csv.hpp says what each holds.
BEGIN { print "<div class=\"measured\"><table class=\"markdownTable\">" }
function cell(text) { return "<td>" text "</td>" }
function safe(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); return text }
function time(s) { s += 0; return s < 1e-3 ? sprintf("%.1f &micro;s", s * 1e6) : sprintf("%.3f ms", s * 1e3) }
# Takes a row apart into field[1], field[2], ...; a field in quotes may hold commas, and "" is a quote.
function split_row(row,    n, text) {
    split("", field)
    for (n = 1; ; ++n) {
        text = ""
        if (substr(row, 1, 1) == "\"") {
            row = substr(row, 2)
            while (match(row, /^[^"]*""/)) {
                text = text substr(row, 1, RLENGTH - 1)
                row = substr(row, RLENGTH + 1)
            }
            text = text substr(row, 1, index(row, "\"") - 1)
            row = substr(row, index(row, "\"") + 1)
        } else {
            match(row, /^[^,]*/)
            text = substr(row, 1, RLENGTH)
            row = substr(row, RLENGTH + 1)
        }
        field[n] = text
        if (row == "") return
        row = substr(row, 2)
    }
}
function get(name) { return name in at ? field[at[name]] : "" }
{ sub(/\r$/, "") }
/^#/ { sub(/^# */, ""); notes = notes "<br>" safe($0); next }
$0 == "" { next }
{ split_row($0) }
!head {
    for (i in field) at[field[i]] = i
    head = 1
    next
}
(get("version") ~ /^stride [0-9]+$/) != (sweep + 0) { next }
sweep {
    split(get("path"), model, " ")
    difference = 100 * (model[2] / get("median_s") - 1)
    rows = rows "<tr>" cell(safe(get("op"))) cell(substr(get("version"), 8)) \
        cell(time(get("median_s"))) cell(time(model[2])) cell(sprintf("%+.1f %%", difference)) \
        cell(sprintf("%.0f GB/s", (get("bytes_read") + get("bytes_written")) / get("median_s") / 1e9)) \
        "</tr>\n"
    next
}
{
    median = get("median_s")
    bytes = get("bytes_read") + get("bytes_written")
    if (get("limit") == "fma") rate = sprintf("%.0f GFLOP/s", get("flops") / median / 1e9)
    else rate = sprintf("%.0f GB/s", bytes / median / 1e9)
    elements = safe(get("dtype") " " get("shape")) (get("cache") == "warm" ? ", warm" : "")
    version = safe(get("version")) (get("path") == "" ? "" : "<br>takes " safe(get("path")))
    peer = ""
    if (get("peer_s") != "") {
        peers = 1
        peer = safe(get("peer")) " " time(get("peer_s"))
    }
    rows = rows "<tr>" cell(safe(get("op"))) cell(version) cell(elements) \
        cell(bytes < 1e6 ? sprintf("%.0f", bytes) : sprintf("%.1f MB", bytes / 1e6)) \
        cell("<b>" time(median) "</b><br>" time(get("p10_s")) " to " time(get("p90_s"))) cell(rate) \
        cell(sprintf("%.1f %% of %s", 100 * get("share"), get("limit"))) \
        "<td class=\"peer\">" peer "</td></tr>\n"
}
END {
    if (sweep) print "<tr><th>operation</th><th>stride</th><th>median</th><th>by the model</th>" \
        "<th>difference</th><th>asked for</th></tr>"
    else print "<tr><th>operation</th><th>version</th><th>elements</th><th>bytes that must move</th><th>median, p10 to p90" \
        "</th><th>rate</th><th>share of the limit</th>" \
        (peers ? "<th>peer</th>" : "") "</tr>"
    if (!peers) gsub(/<td class="peer"><\/td>/, "", rows)
    sub(/^<br>/, "", notes)
    printf "%s</table><p class=\"origin\">%s</p></div>\n", rows, notes
}

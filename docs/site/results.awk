# A table from what `common/learn bench` wrote:  awk -f results.awk docs/results/x.csv > x.html
# Lines with # (device, driver, date, limits, command) go below it. Columns are found by name, so a
# file may have more of them; a column `peer` holds a peer's time in seconds, `peer_name` its name.
BEGIN { FS = ","; print "<div class=\"measured\"><table class=\"markdownTable\">" }
function cell(text) { return "<td>" text "</td>" }
function safe(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); return text }
function time(s) { return s < 1e-3 ? sprintf("%.1f &micro;s", s * 1e6) : sprintf("%.3f ms", s * 1e3) }
/^#/ { sub(/^# */, ""); notes = notes "<br>" safe($0); next }
!head {
    for (i = 1; i <= NF; ++i) at[$i] = i
    head = 1
    print "<tr><th>operation</th><th>version</th><th>bytes that must move</th><th>median" \
        "</th><th>p10 to p90</th><th>rate</th><th>share of the limit</th>" \
        ("peer" in at ? "<th>peer</th>" : "") "</tr>"
    next
}
NF > 1 {
    median = $at["median_s"]
    bytes = $at["bytes"]
    if ($at["limit"] == "fma") rate = sprintf("%.0f GFLOP/s", $at["flops"] / median / 1e9)
    else rate = sprintf("%.0f GB/s", bytes / median / 1e9)
    peer = ""
    if ("peer" in at) peer = cell($at["peer"] == "" ? "" : safe($at["peer_name"]) " " time($at["peer"]))
    print "<tr>" cell(safe($at["op"])) cell(safe($at["version"])) \
        cell(bytes < 1e6 ? sprintf("%.0f", bytes) : sprintf("%.1f MB", bytes / 1e6)) \
        cell(time(median)) cell(time($at["p10_s"]) " to " time($at["p90_s"])) cell(rate) \
        cell(sprintf("%.1f %% of %s", 100 * $at["share"], $at["limit"])) peer "</tr>"
}
END { sub(/^<br>/, "", notes); print "</table><p class=\"origin\">" notes "</p></div>" }

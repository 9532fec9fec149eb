# An exercise's stub: its solution without what stands between `// your code` and `// end of your code`. A
# line there that begins with `// stub: ` is what the stub has instead. With -v wrong=1 the gap is filled
# with the lines `// wrong: ` instead: what learners write first. -v wrong=2 takes the lines with a 2, such as
# `// wrong 2: ` and `// wrong 235: `; the first attempt is 1 where it shares a line, `// wrong 12: `. Hints and what follows them are left out.
BEGIN {
    put = "// stub: "
    if (wrong) put = "// wrong [1-9]*" wrong "[1-9]*: "
    if (wrong == 1) put = "// wrong( 1[2-9]*)?: "
}
/^\/\/ hint 1/ { exit }
/\/\/ end of your code/ { inside = 0 }
!inside
inside && sub(put, "")
/\/\/ your code/ { inside = 1; ++gaps }
END {
    if (inside || !gaps) {
        print FILENAME ": error: " gaps + 0 " gaps `// your code`, of which the last " \
            (inside ? "is open" : "is missing") > "/dev/stderr"
        exit 1
    }
}

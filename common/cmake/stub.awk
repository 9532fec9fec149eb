# An exercise's stub: its solution without what stands between `// your code` and `// end of your code`. A
# line there that begins with `// stub: ` is what the stub has instead. With -v wrong=1 the gap is filled
# with the lines `// wrong: ` instead: what learners write first. Hints and what follows them are left out.
/^\/\/ hint 1/ { exit }
/\/\/ end of your code/ { inside = 0 }
!inside
inside && sub(wrong ? "// wrong: " : "// stub: ", "")
/\/\/ your code/ { inside = 1; ++gaps }
END {
    if (inside || !gaps) {
        print FILENAME ": error: " gaps + 0 " gaps `// your code`, of which the last " \
            (inside ? "is open" : "is missing") > "/dev/stderr"
        exit 1
    }
}

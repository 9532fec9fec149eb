# The launchers of a day's other exercises, empty: cases.cpp declares and calls those of all, but a learner's
# program runs the cases of one. So what a learner's file lacks is missing, and no stub stands in for it.
#
#   awk -v but=guard -f others.awk day01_flat_memory/exercises/cases.cpp
/^void [a-z_0-9]+\(.*\);$/ && index($0, "void " but "(") != 1 {
    sub(/;$/, " {}")
    print
}

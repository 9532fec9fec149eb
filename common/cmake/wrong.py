"""What a wrong kernel says of itself (wrong.cmake), for the scripts that run the test which rejects it."""
import re


def announced(source, what):
    """Its lines `case: ...`, or `rejected: ...`."""
    return re.findall(rf"^(?:// )?{what}: (.*)$", source.read_text(encoding="utf-8"), re.M)


def test_of(source):
    """The test that rejects it, as Catch2 takes it on a command line: the same as sixdays_wrong_case()."""
    return ",".join(re.sub(r'([\[,"\\])', r"\\\1", case) for case in announced(source, "case"))

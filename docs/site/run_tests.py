"""What the tests of the pages' scripts end with: run(globals()) calls each test_... of a file; in_browser() gives them
a PAGE of a real browser and a FOLDER before, as <browser> <folder> on the command line say."""
import pathlib
import sys


def run(of):
    tests = [test for name, test in sorted(of.items()) if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} tests passed")


def in_browser(of, width):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "explorers"))
    import browser
    of["FOLDER"] = pathlib.Path(sys.argv[2])
    of["FOLDER"].mkdir(parents=True, exist_ok=True)
    with browser.Browser(sys.argv[1]) as program:
        of["PAGE"] = browser.Page(program, width, 900)
        run(of)

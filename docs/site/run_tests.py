"""What the tests of the pages' scripts end with: run(globals()) calls each test_... of a file."""


def run(of):
    tests = [test for name, test in sorted(of.items()) if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} tests passed")

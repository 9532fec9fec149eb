#!/usr/bin/env python3
"""Packs cudatry for pip: wheel.py <folder that `cmake --install` has filled> <folder for the wheel>

The wheel is the installed folder as the Python package cudatry, with notebook.py as its __init__.py. It is
named for the C library that it was built with: pip rejects it on a system with an older one.
"""
import base64
import hashlib
import os
import pathlib
import platform
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
METADATA = """Metadata-Version: 2.1
Name: cudatry
Version: {version}
Summary: Runs CUDA programs without a GPU and checks every memory access
Requires-Python: >=3.10
License: MIT
"""
WHEEL = """Wheel-Version: 1.0
Generator: cudatry
Root-Is-Purelib: false
Tag: {tag}
"""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    installed, into = map(pathlib.Path, sys.argv[1:])
    now = time.gmtime()
    version = f"{now.tm_year}.{now.tm_mon}.{now.tm_mday}.{now.tm_hour * 100 + now.tm_min}"
    libc = os.confstr("CS_GNU_LIBC_VERSION").split()[1].replace(".", "_")
    tag = f"py3-none-manylinux_{libc}_{platform.machine()}"
    info = f"cudatry-{version}.dist-info"
    files = {f"cudatry/{file.relative_to(installed)}": file for file in sorted(installed.rglob("*")) if file.is_file()}
    files["cudatry/__init__.py"] = HERE / "notebook.py"
    files[f"{info}/LICENSE"] = HERE.parents[2] / "LICENSE"
    texts = {
        f"{info}/METADATA": METADATA.format(version=version),
        f"{info}/WHEEL": WHEEL.format(tag=tag),
        f"{info}/entry_points.txt": "[console_scripts]\ncudatry = cudatry:main\n",
    }
    wheel = into / f"cudatry-{version}-{tag}.whl"
    new = wheel.with_suffix(".new")
    try:
        with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
            record = ""
            for name, file in files.items():
                archive.write(file, name)
                record += line_of(name, file.read_bytes())
            for name, text in texts.items():
                archive.writestr(name, text)
                record += line_of(name, text.encode())
            archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
        new.rename(wheel)
    finally:
        new.unlink(missing_ok=True)
    for other in into.glob("cudatry-*.whl"):
        if other != wheel:
            other.unlink()
    print(wheel)


def line_of(name, content):
    """A line of RECORD: the path, the hash without padding, and the size."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


if __name__ == "__main__":
    main()

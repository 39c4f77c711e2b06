"""Writes a wheel with one module and one console script, so that the tests of environments need no network."""
import sys
import zipfile

FILES = {
    "tiny.py": "def main():\n    print('tiny speaks')\n",
    "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "tiny-1.0.dist-info/entry_points.txt": "[console_scripts]\ntiny = tiny:main\n",
}

with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name, text in FILES.items():
        wheel.writestr(name, text)
    record = "".join(f"{name},,\n" for name in FILES) + "tiny-1.0.dist-info/RECORD,,\n"
    wheel.writestr("tiny-1.0.dist-info/RECORD", record)

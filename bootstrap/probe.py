"""Say whether the Python that runs this file can carry Proofroom: its path, or the reason why not.

Every Python since 2.7 must be able to read this file, because that is how an old one says that it is old.
"""

import sys

OLDEST = (3, 12)
NEEDED = ("ctypes", "sqlite3", "ssl", "venv", "zlib")


def main():
    reason = _reason_against(pip_needed="--with-pip" in sys.argv)
    if reason:
        sys.stdout.write(reason + "\n")
        return 1
    # An environment made from another environment breaks when that one goes: name the Python behind it.
    sys.stdout.write((getattr(sys, "_base_executable", None) or sys.executable) + "\n")
    return 0


def _reason_against(pip_needed):
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info[:2] < OLDEST:
        return version + " is older than " + ".".join(str(part) for part in OLDEST)
    if sys.implementation.name != "cpython":
        return version + " is " + sys.implementation.name + ", not CPython"
    if "free-threading" in sys.version:
        return version + " is a free-threaded build, for which some packages have no wheel"
    missing = [name for name in NEEDED if not _is_there(name)]
    if missing:
        return version + " was built without " + ", ".join(missing)
    if pip_needed and not (_is_there("ensurepip") or _is_there("pip")):
        return version + " has neither ensurepip nor pip (on Debian and Ubuntu: apt-get install python3-venv)"
    return None


def _is_there(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())

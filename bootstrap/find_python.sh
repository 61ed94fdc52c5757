#!/bin/sh
# Print the path of a Python that can carry Proofroom; run from the root of the project.
set -eu

preferred=$(head -n 1 .python-version)
versions="$preferred 3.13 3.12 3.14"
home=${HOME:-}
# The HOME of a job is often empty, while the person's own Pythons are under the home of the account.
account_home=$(eval "printf '%s' ~$(id -un)" 2>/dev/null || true)
demands=
command -v uv >/dev/null 2>&1 || demands=--with-pip
refused=
answer=

try() {
    [ -x "$1" ] && [ ! -d "$1" ] || return 0
    # A shim of pyenv may be on the PATH and yet fail for a version that is not active: only running it tells.
    if answer=$("$1" -E -s bootstrap/probe.py $demands 2>/dev/null </dev/null); then
        printf '%s\n' "$answer"
        exit 0
    fi
    refused="$refused
  $1: ${answer:-does not run}"
}

try_in() {
    for version in $versions; do
        try "$1/python$version"
    done
    try "$1/python3"
    try "$1/python"
}

if [ -n "${PROOFROOM_PYTHON:-}" ]; then
    try "$PROOFROOM_PYTHON"
    echo "PROOFROOM_PYTHON=$PROOFROOM_PYTHON cannot be used: ${answer:-no Python can be started there}." >&2
    exit 1
fi

for version in $versions; do
    saved_ifs=$IFS
    IFS=:
    for folder in $PATH; do
        IFS=$saved_ifs
        try "$folder/python$version"
    done
    IFS=$saved_ifs
done
for name in python3 python; do
    saved_ifs=$IFS
    IFS=:
    for folder in $PATH; do
        IFS=$saved_ifs
        try "$folder/$name"
    done
    IFS=$saved_ifs
done
for version in $versions; do
    for pyenv in "${PYENV_ROOT:-}" "$home/.pyenv" "$account_home/.pyenv" /opt/pyenv /usr/local/pyenv; do
        for folder in "$pyenv/versions/$version"/bin "$pyenv/versions/$version".*/bin; do
            try "$folder/python3"
        done
    done
    for folder in "$account_home"/.local/share/uv/python/cpython-"$version"*/bin \
        "$account_home"/.asdf/installs/python/"$version"*/bin \
        "$account_home"/.local/share/mise/installs/python/"$version"*/bin \
        /Library/Frameworks/Python.framework/Versions/"$version"/bin; do
        try "$folder/python3"
    done
done
for folder in /usr/local/bin /opt/homebrew/bin /opt/local/bin /opt/*/bin "$account_home/.local/bin" \
    "$account_home"/miniconda3/bin "$account_home"/miniforge3/bin "$account_home"/anaconda3/bin; do
    try_in "$folder"
done
if command -v uv >/dev/null 2>&1; then
    echo "No Python 3.12 or newer is here; asking uv for $preferred." >&2
    if uv python install "$preferred" >&2 && found=$(uv python find --managed-python "$preferred"); then
        try "$found"
    fi
fi

cat >&2 <<END
Proofroom needs Python 3.12 or newer, and none was found.${refused:+
Looked at:$refused}
Get one in any of these ways, then say make again:
  Debian 13, Ubuntu 24.04 or newer:  apt-get install python3 python3-venv
  macOS:                             brew install python@$preferred
  pyenv:                             pyenv install $preferred
  uv:                                uv python install $preferred
or name one that is somewhere else:  PROOFROOM_PYTHON=/path/to/python3 make setup
END
exit 1

#!/bin/sh
# Make the environment in .venv, or do nothing where it already is as it should be.
set -eu
cd "$(dirname "$0")/.."

if [ -x .venv/bin/python ] && .venv/bin/python -E -s -m bootstrap.environment --state 2>/dev/null; then
    exit 0
fi
python=$(sh bootstrap/find_python.sh)
exec "$python" -E -s -m bootstrap.environment

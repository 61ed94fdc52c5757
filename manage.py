#!/usr/bin/env python
"""Django's usual door; the same as the `proofroom` command."""

from proofroom.cli import main

if __name__ == "__main__":
    main()

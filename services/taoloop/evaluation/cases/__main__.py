"""Starts the case runner: `python -m taoloop.evaluation.cases FILE [COMPONENT,…]`."""

import sys

from taoloop.evaluation.cases.program import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

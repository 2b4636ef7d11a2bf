"""The tests of the project. Whatever imports one of them writes bytecode.

Many images set PYTHONDONTWRITEBYTECODE. Each worker would then compile all tests, and Hypothesis, whose asserts pytest rewrites, and each
process that a test starts what it imports: two thirds of the cost of collection.
"""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

"""Doubles, the mock tool server and the in-process stack: product code for tests of taoloop and of its users."""

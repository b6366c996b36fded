"""Ends a child process when its owner dies without having done so."""

from __future__ import annotations

import subprocess


class Guard:
    """A small process that waits for the end of its input, which comes with the owner's, and then ends the child.

    Args:
        pid: The child.
    """

    def __init__(self, pid: int) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - a fixed command and a number
            ["/bin/sh", "-c", 'read -r _; kill "$0"', str(pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """Let the child be: it has ended, or somebody else ends it."""
        self._process.kill()
        self._process.communicate()

"""A module that is never imported whole."""

from __future__ import annotations

import threading

threading.Event().wait()

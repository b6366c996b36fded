"""Holds the small model's server for a person until it is interrupted: `python -m tests.vllm [PORT [CONTEXT]]`."""

import contextlib
import signal
import sys

from tests.vllm.server import CONTEXT_TOKENS, NAME, VllmServer


def main(port: int | None = None, context_tokens: int = CONTEXT_TOKENS) -> None:
    """Serve; SIGTERM ends it as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    server = VllmServer(port, context_tokens)
    with contextlib.suppress(KeyboardInterrupt):
        try:
            sys.stdout.write(f"vLLM starts on {server.url}; this takes a minute.\n")
            sys.stdout.flush()
            seconds = server.start()
            sys.stdout.write(
                f"Ready after {seconds:.0f} s. Its settings:\n\n    export TAOLOOP_MODEL__URL={server.url}"
                f" TAOLOOP_MODEL__MODEL={NAME} TAOLOOP_MODEL__PROFILE=vllm\n\nCtrl-C ends it.\n"
            )
            sys.stdout.flush()
            signal.pause()
        finally:
            server.stop()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))

"""The thought queue: its hop beside a bare round trip over streams, and a model's speed through it, both in turns.

`python -m benchmarks.queue [--rounds N] [--count N] [--in-flight N] [--vllm auto|no|URL]`; the last line is one JSON
object. `hop_ratio` is the processor time of one request → queue → worker → reply over that of one bare XADD →
XREADGROUP → XADD → XREAD, front, worker and server together. `vllm_ratio` is the tokens a second of the real vLLM
server through front, queue and worker over those of direct calls with the same prompts; null where it is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from benchmarks.queue.hop import HopPlan, compare
from benchmarks.queue.tokens import TokenPlan, compare_tokens, vllm
from taoloop.wire.event_loop import run as run_loop


def main() -> None:
    """Print the figures, and one JSON object in the last line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=HopPlan.rounds)
    parser.add_argument("--count", type=int, default=HopPlan.count, help="round trips of each way in a round; 0: none")
    parser.add_argument("--in-flight", type=int, default=HopPlan.in_flight)
    parser.add_argument("--vllm", default="auto", help="auto: where `make test-vllm` installed it; no; or its URL")
    parser.add_argument("--vllm-rounds", type=int, default=TokenPlan.rounds)
    parser.add_argument("--vllm-in-flight", type=int, default=TokenPlan.in_flight)
    options = parser.parse_args()
    figures: dict[str, object] = {"hop_ratio": None, "vllm_ratio": None}
    if options.count:
        plan = HopPlan(rounds=options.rounds, count=options.count, in_flight=options.in_flight)
        figures |= run_loop(compare(plan))
    with vllm(options.vllm) as served:
        if served is not None:
            token_plan = TokenPlan(rounds=options.vllm_rounds, in_flight=options.vllm_in_flight)
            figures |= run_loop(compare_tokens(served, token_plan))
    figures["load_average"] = round(os.getloadavg()[0], 2)
    for name in ("hop_ratio", "vllm_ratio"):
        sys.stderr.write(f"{name:<12}{figures[name]}\n")
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()

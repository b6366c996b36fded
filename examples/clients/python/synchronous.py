"""A backend without an event loop: requests handled by threads that share one client.

`python synchronous.py [ADDRESS]`, against `taoloop dev` with the catalogue of examples/customer-service.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

from taoloop.client import Client, TaoError

QUESTIONS = (
    "Is there a meeting room in Shanghai for 6 people?",
    "订单 20260308000012345 的快递到哪里了？",
    "Write me a poem about the sea",
)


def handle(client: Client, question: str) -> str:
    """Answer one request of the product: the answer, or why there is none."""
    result = client.run(question, timeout_seconds=20.0)
    if result.is_answered:
        return result.text
    return f"{result.outcome.value}: {result.fault.message if result.fault is not None else 'see the run'}"


def main(address: str) -> int:
    """Answer all questions at the same time; the exit code is 1 when the service cannot do its job."""
    try:
        with Client(address) as client, ThreadPoolExecutor(4) as threads:
            for said in threads.map(lambda question: handle(client, question), QUESTIONS):
                print(said)
            print("the latest runs:")
            for summary in client.list(page_size=3):
                print(summary.run_id, summary.outcome)
    except TaoError as error:
        print(f"{error.reason}: {error.message} {error.remedy}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7701"))

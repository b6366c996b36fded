"""The thought service: turns a request and what is known so far into a plan, an answer, a question or a refusal."""

"""What holds for every test: generated examples are reproducible and not judged by the clock of a busy machine."""

from hypothesis import settings

settings.register_profile("taoloop", deadline=None, derandomize=True, max_examples=100, print_blob=True)
settings.load_profile("taoloop")

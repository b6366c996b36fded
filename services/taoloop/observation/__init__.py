"""The observation service: says what really came back, with reasons, and never repairs or comforts."""

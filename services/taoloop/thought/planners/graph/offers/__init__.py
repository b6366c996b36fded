"""What the words of a request offer to slots whose values are not typed mentions: choices, switches and lists."""

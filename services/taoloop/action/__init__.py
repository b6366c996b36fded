"""The action service: calls tools by their contracts and returns one envelope whatever comes back."""

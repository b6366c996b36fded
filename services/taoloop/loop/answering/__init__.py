"""What a run answers: worded by templates, facts or a language model, and nothing that no observation supports."""

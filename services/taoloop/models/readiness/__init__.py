"""Whether a model's server is what the settings say: asked before traffic, and again when it fails."""

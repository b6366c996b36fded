"""How well tools are selected for a language model, on generated catalogues of hundreds of tools."""

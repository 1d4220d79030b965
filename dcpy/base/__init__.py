"""Base of all layers: errors, source spans, text, names, hashing, options, registries."""

"""What every layer stands on: errors, source spans, text, names, hashing, options, registries."""

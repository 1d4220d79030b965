"""The rules of verification, a file per kind of subject. The docstring of each is the sentence that users read."""

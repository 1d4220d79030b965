"""Changing graphs: the rewriter, copies, substitution, edits of loop nests, places that a history names."""

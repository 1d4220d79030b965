"""Graphs by hand: the builder, handles of containers, and the words of data-centric Python."""

"""The stateful dataflow multigraph: values, nodes, regions, text, meaning."""

"""From simple form to hardware: streams instead of addresses, processes, pipelines. Read `lowering` first."""

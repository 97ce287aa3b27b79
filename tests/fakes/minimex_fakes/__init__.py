"""A game and solvers that use every feature of the contract's core, and some that break it: what the pipeline is tested with."""

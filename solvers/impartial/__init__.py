"""Nimbers of impartial games, and proofs that they are periodic."""

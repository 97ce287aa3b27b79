"""Exact equilibria of finite games."""

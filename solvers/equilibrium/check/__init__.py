"""Judges of this family's tables: a module a table or two, none of which knows a method. `reading` is what they share."""

"""Learning by regret: self-play whose average strategies approach an equilibrium."""

"""Communication: nodes by which the ranks of a program in local form exchange what they have."""

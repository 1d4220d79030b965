"""Distribution over ranks: where maps run, what is sent, and the program of one rank."""

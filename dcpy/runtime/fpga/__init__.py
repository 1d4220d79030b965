"""FPGAs at run time: boards, emulators, and simulation reports."""

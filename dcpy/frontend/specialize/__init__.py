"""Types of arguments: from annotations, or from the values of a call."""

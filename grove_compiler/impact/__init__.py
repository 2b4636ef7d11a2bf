"""What an edit of the input does to what exists. Pure: works on two compilations."""

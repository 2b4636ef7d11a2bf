"""What the README, the pages and the help texts print as commands: all of it runs."""

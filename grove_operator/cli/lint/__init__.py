"""`grove lint`: findings for people, for code-scanning services and for GitHub Actions."""

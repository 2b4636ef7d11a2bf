"""The page that `grove serve` shows."""

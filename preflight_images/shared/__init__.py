"""What every check does alike: its settings, its verdict, its health events, its metrics, its end."""

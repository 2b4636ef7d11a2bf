"""What the operator shows of itself: metrics, health, spans. Nothing here is imported unless it is asked for."""

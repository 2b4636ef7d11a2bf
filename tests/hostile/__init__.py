"""Nobody can make the operator stand still: what people edit by hand into nonsense, and what breaks while it works, heals or is told."""

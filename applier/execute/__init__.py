"""Executes plans on a cluster: wave by wave (`executor`), step by step (`write`), request by request (`requests`)."""

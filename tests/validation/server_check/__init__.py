"""What lint passes, the API server takes: mutants of valid pod templates before both (`python -m tests.validation.server_check`)."""

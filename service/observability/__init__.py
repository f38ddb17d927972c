"""What the service tells its operators: metrics for Prometheus, log lines in JSON. Never a seed or a body."""

"""What monitoring reads at /metrics. metric: what one is; declared: all of them; figures: what they are read from."""

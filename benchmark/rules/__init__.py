"""Rules of measurement: pure functions over plain values, without database or network."""

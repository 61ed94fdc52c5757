"""The judge without a model: it performs each outcome's script in a real Chromium."""

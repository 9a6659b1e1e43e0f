"""What nanwatch.torch is made of; only it imports this."""

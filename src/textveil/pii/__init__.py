"""Personal data in text: found from records and by recognisers, scored, reviewed, masked."""

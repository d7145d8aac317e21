"""From file to release, and back to an attack: the journeys of the counts room."""

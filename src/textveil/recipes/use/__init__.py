"""What a release is still good for: the tasks, the learners they use, and the forecast made before anything is charged."""

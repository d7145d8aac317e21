"""From documents and the records kept beside them to marked spans: matchers that vote, and a model that weighs the
votes."""

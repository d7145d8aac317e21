"""From files of users or sites to a model that was trained together."""

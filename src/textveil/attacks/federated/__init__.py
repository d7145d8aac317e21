"""Attacks on models that users trained together: secrets shared by users, and whole users planted by coins."""

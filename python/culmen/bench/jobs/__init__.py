"""Measurements as batch jobs: submits, follows and collects them."""

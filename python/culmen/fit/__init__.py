"""Errors of a fit."""

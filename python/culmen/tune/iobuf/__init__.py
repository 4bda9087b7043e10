"""Buffers for the files of an unchanged program."""

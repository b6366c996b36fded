"""Runs files of public cases through the product's own functions and services."""

"""Delivery of webhook messages, which are committed together with the events that cause them."""

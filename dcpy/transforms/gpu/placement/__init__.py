"""Placement: what runs on the host and on the device, where data lives, and copies between both."""

"""LIR as text. No decisions are taken here."""

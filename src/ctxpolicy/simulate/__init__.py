"""A policy at work: sessions, made up or recorded, played through a live window, priced and judged."""

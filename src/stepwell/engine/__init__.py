"""What a run does next: generators of effects, and nothing else. Drivers carry the effects out."""

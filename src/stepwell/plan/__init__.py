"""What a user declared, checked and frozen: schemas, keys, routes, and the plan that the engine reads."""

"""What Hydra composes from: YAML files, checked before they are loaded, and choices composed before."""

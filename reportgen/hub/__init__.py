"""A hub: many reports published together, each as it was built, with an index over all of them."""

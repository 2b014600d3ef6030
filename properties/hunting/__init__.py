"""The search for counterexamples: a hunt, its two methods, its result, its replay."""

def nonsense_cases(collect): pass

"""How well spans were found: four scores in two schemes, intervals over documents, errors by kind, cost of correction."""

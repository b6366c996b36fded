"""Numbers with a unit: measures, shares of a hundred, confidences, amounts of money and lengths of time, all exact."""

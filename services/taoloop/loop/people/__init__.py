"""What a run needs of people: values, leave, and persons who take over."""

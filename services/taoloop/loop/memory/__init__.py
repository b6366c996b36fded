"""What is remembered from turn to turn and from run to run: hot by session, warm by user and line of business."""

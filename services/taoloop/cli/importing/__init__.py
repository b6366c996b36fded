"""What the commands that import tools share: asking servers, and showing what came of it."""

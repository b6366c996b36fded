"""Parts of the JSON form of plans: fields of objects, arguments, spans of the conversation."""

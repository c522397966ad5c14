"""Operations on imports: start, list and follow them; their plans, details and rejected rows; saved filters."""

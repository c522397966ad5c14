"""Operations on people, groups, grants and tokens, and on the account that a token belongs to."""

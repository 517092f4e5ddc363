"""The one reader of shell lines, which rules, policy and metrics ask."""

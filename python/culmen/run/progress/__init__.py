"""What a user sees while a study runs. Watches only: nothing here can slow or break a study."""

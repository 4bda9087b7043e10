"""The display of a running study. It only watches: nothing here can slow or break a study."""

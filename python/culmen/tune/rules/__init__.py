"""Files with rules for the algorithms of Open MPI's collectives (``coll_tuned_dynamic_rules_filename``)."""

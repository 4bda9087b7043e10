"""``culmen schema``."""

import json

from ...study_file import StudyFile


def print_schema() -> None:
    print(json.dumps(StudyFile.model_json_schema(), indent=2))

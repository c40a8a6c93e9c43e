import os
from pathlib import PurePosixPath


class EnvironmentPaths:
    agent_dir = PurePosixPath(os.environ["STAND_IN_LOGS"])

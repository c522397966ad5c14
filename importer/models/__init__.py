"""The database models.

Only `importer.jobs` changes the state of jobs and chunks, `importer.lab` of labs, `importer.schedules` of runs.
"""

from importer.models.channel import Channel, Notification, Subscription
from importer.models.chunk import Chunk, JobSeal, RowFix
from importer.models.job import Attempt, ImportJob
from importer.models.lab import Lab, Trial
from importer.models.person import (
    AccessToken,
    AnsweredRequest,
    AuditEvent,
    Grant,
    Level,
    LimitCount,
    Person,
    Role,
    SavedFilter,
    Scope,
)
from importer.models.preset import MappingPreset
from importer.models.record import JobFact, JobRecord, RetentionPolicy, Total
from importer.models.schedule import DiscoveredFile, Schedule, ScheduleRun
from importer.models.source_connection import SourceConnection
from importer.models.source_file import Examination, SourceFile, SourceMember
from importer.models.target import Target

__all__ = [
    "AccessToken",
    "AnsweredRequest",
    "Attempt",
    "AuditEvent",
    "Channel",
    "Chunk",
    "DiscoveredFile",
    "Examination",
    "Grant",
    "ImportJob",
    "JobFact",
    "JobRecord",
    "JobSeal",
    "Lab",
    "Level",
    "LimitCount",
    "MappingPreset",
    "Notification",
    "Person",
    "RetentionPolicy",
    "Role",
    "RowFix",
    "SavedFilter",
    "Schedule",
    "ScheduleRun",
    "Scope",
    "SourceConnection",
    "SourceFile",
    "SourceMember",
    "Subscription",
    "Target",
    "Total",
    "Trial",
]

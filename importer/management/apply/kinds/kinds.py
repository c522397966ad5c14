"""Lists the kinds of things that a file can have, in the order in which they are made: each needs only earlier ones."""

from importer.management.apply.kinds.channel import ChannelsInFile
from importer.management.apply.kinds.connection import ConnectionsInFile
from importer.management.apply.kinds.kind import Kind
from importer.management.apply.kinds.preset import PresetsInFile
from importer.management.apply.kinds.schedule import SchedulesInFile
from importer.management.apply.kinds.target import TargetsInFile

KINDS: tuple[Kind, ...] = (TargetsInFile(), ConnectionsInFile(), ChannelsInFile(), PresetsInFile(), SchedulesInFile())

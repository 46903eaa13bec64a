"""All events and the values in them, for the modules above the topics: `from firmware.table import events as ev`."""

from firmware.table.event import *
from firmware.table.readings import *
from firmware.table.settings import *
from firmware.table.topics.camera import *
from firmware.table.topics.chips import *
from firmware.table.topics.devices import *
from firmware.table.topics.ending import *
from firmware.table.topics.evidence import *
from firmware.table.topics.floor import *
from firmware.table.topics.house import *
from firmware.table.topics.inbox import *
from firmware.table.topics.opening import *
from firmware.table.topics.people import *
from firmware.table.topics.pit import *
from firmware.table.topics.placing import *
from firmware.table.topics.players import *
from firmware.table.topics.playing import *
from firmware.table.topics.profiles import *
from firmware.table.topics.puck import *
from firmware.table.topics.reading import *
from firmware.table.topics.screen import *
from firmware.table.topics.settlement import *
from firmware.table.topics.setup import *
from firmware.table.topics.white import *
from firmware.table.values import *

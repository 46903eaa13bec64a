"""The application factory. Importing this module has no side effects, and nothing is written to disk."""

from __future__ import annotations

import gzip
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flask import Flask, Response, abort, current_app, jsonify, request
from werkzeug.exceptions import HTTPException, InternalServerError, NotFound

from dealer_ui.glance import routes as glance
from dealer_ui.glance import stream
from dealer_ui.profiles import routes as profiles
from dealer_ui.reports import report_page, slip_page
from dealer_ui.review import dispute, stick
from dealer_ui.review import routes as review
from dealer_ui.server import health, menu
from dealer_ui.server import openapi as interface
from dealer_ui.setup import camera
from dealer_ui.setup import currency as set_up_currency
from dealer_ui.setup import pit as pit_setup
from dealer_ui.setup import routes as set_up
from dealer_ui.text import i18n
from dealer_ui.text.messages import say
from dealer_ui.text.words import capital, card_name, parts_of_sum, rank_text, row_name
from dealer_ui.training import routes as training
from dealer_ui.view.live import OWN_ERROR, Live
from dealer_ui.view.render import Messages
from dealer_ui.view.sibling_page import Beside
from dealer_ui.web import commands as orders
from dealer_ui.web import guard, pin
from dealer_ui.web.metrics import Tallies
from dealer_ui.web.pages import page, role_name, root, script, style
from dealer_ui.web.services import KioskStream, Services, StreamLimiter, services
from dealer_ui.web.sessions import Sessions
from firmware.adaptive_limit import AdaptiveLimit
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import JournalReader
from firmware.record.stick_request import PROGRESS
from firmware.table_client import ANSWER_CEILING_S, ANSWER_FLOOR_S, TableLink
from firmware.uplink.join_request import PROGRESS as JOIN

"""Training on the real page: a band on every screen, questions about each hand, and the score since it began.

Behind it runs a training table (`feltwatch training`), whose record no other table continues. Only this module knows
about training: it filters the view before it is shown.
"""

import threading
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Blueprint, Flask, Response, abort, current_app, jsonify, request

from dealer_ui.text.i18n import gettext as _
from dealer_ui.training.quiz import Question, hide_settlement, questions
from dealer_ui.view.quiz_screen import Quiz, QuizVerdict
from dealer_ui.view.screen import Action, Screen
from dealer_ui.web import guard
from dealer_ui.web.services import services
from firmware.rules import Profile
from firmware.table.phase import Phase
from firmware.table.state import Ask, State

blueprint = Blueprint("training", __name__)

LONGEST_ANSWER: Final = 40
PARTS: Final = frozenset(
    {"glance", "stream", "orders", "health", "interface", "pin", "profiles", blueprint.name}
)
"""The parts of the page that are there in training, too."""
BEFORE: Final = (Phase.SHOWDOWN, Phase.READING, Phase.REVIEW)
"""Phases in which the simulated players still bring a hand to its settlement."""


@dataclass
class _Hand:
    """A trainee's progress in a hand: the open question, and the answer given."""

    hand: int = 0
    index: int = 0
    given: str | None = None
    is_over: bool = False


class Lesson:
    """The trainee's progress through the hands, in memory: it begins again when the page's process starts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at = _Hand()
        self._right = 0
        self._answered = 0

    def shown(self, screen: Screen, state: State, rules: Profile | None) -> Screen:
        """Return what the trainee sees: no settlement until the questions are answered or skipped."""
        screen = replace(screen, past_hands=())
        with self._lock:
            if state.phase in BEFORE and not _asks_more(state):
                return hide_settlement(screen, state)
            asked = questions(state, rules) if rules and state.phase is Phase.SETTLED else ()
            self._come_to(state.hand)
            if not asked or self._at.is_over:
                return _with_next_hand(screen, state) if asked else screen
            return replace(hide_settlement(screen, state), quiz=self._quiz(asked))

    def answer(self, state: State, rules: Profile | None, key: str, given: str) -> bool:
        """Judge an answer; return whether it is right. Raises LookupError if that question is not open."""
        with self._lock:
            question = self._open(state, rules, key)
            if self._at.given is not None:
                raise LookupError("that question is answered")
            self._at.given = given
            is_right = question.is_right(given)
            self._answered += 1
            self._right += is_right
            return is_right

    def go_on(self, state: State, rules: Profile | None, key: str) -> None:
        """Go on from an answered question to the next one. Raises LookupError."""
        with self._lock:
            self._open(state, rules, key)
            if self._at.given is None:
                raise LookupError("that question is not answered")
            self._at.index, self._at.given = self._at.index + 1, None
            self._at.is_over = self._at.index >= len(questions(state, rules)) if rules else True

    def skip(self, state: State, rules: Profile | None, key: str) -> None:
        """Show the settlement and drop the remaining questions. Raises LookupError."""
        with self._lock:
            self._open(state, rules, key)
            self._at.is_over = True

    def _open(self, state: State, rules: Profile | None, key: str) -> Question:
        self._come_to(state.hand)
        asked = questions(state, rules) if rules and state.phase is Phase.SETTLED else ()
        if self._at.is_over or not asked or asked[self._at.index].key != key:
            raise LookupError("that question is not open")
        return asked[self._at.index]

    def _come_to(self, hand: int) -> None:
        if self._at.hand != hand:
            self._at = _Hand(hand)

    def _quiz(self, asked: tuple[Question, ...]) -> Quiz:
        question, given = asked[self._at.index], self._at.given
        return Quiz(
            key=question.key,
            number=self._at.index + 1,
            count=len(asked),
            text=question.text,
            choices=question.choices,
            several=question.several,
            right=self._right,
            answered=self._answered,
            verdict=None
            if given is None
            else QuizVerdict(
                question.is_right(given),
                question.feedback(given),
                question.right,
                question.lines,
                question.clauses,
            ),
        )


def _asks_more(state: State) -> bool:
    """Return whether other questions than naturals are open, such as a card that the trainee corrected wrongly."""
    return any(question.what is not Ask.NATURAL for question in state.questions)


def _with_next_hand(screen: Screen, state: State) -> Screen:
    """Offer the next hand even before every payment is marked: practising payments is optional.

    After a closed hand, the next one is offered anyway.
    """
    if screen.current is None or not screen.answering:
        return screen
    press = {"do": "archive", "hand": state.hand}
    return replace(screen, actions=(Action(_("Next hand"), press, tone="quiet"), *screen.actions))


def add_to(app: Flask, lesson: Lesson) -> None:
    """Turn an application's page into a training page."""
    app.extensions["feltwatch-lesson"] = lesson
    app.config["TRAINING"] = True
    app.register_blueprint(blueprint)
    app.before_request(_only_training)


def _only_training() -> None:
    """Answer 404 for what training tables lack: past hands, setup. A past hand's page would reveal the answers."""
    if request.blueprint is not None and request.blueprint not in PARTS:
        abort(404, _("There is no such page in training."))


@blueprint.post("/quiz")
@guard.open_to(guard.EVERYBODY)
def quiz() -> Response:
    """Receive an answer, go on to the next question, or skip the rest of this hand's questions."""
    order: Any = request.get_json(silent=True)
    if not isinstance(order, dict):
        abort(400, _("The page sent something that is no answer. Reload the page."))
    key, given = str(order.get("key", "")), str(order.get("answer", ""))[:LONGEST_ANSWER]
    lesson: Lesson = current_app.extensions["feltwatch-lesson"]
    live = services().live
    state, rules = live.state(), live.rules
    try:
        match order.get("do"):
            case "answer":
                answer = {"right": lesson.answer(state, rules, key, given)}
            case "go_on":
                answer = {}
                lesson.go_on(state, rules, key)
            case "skip":
                answer = {}
                lesson.skip(state, rules, key)
            case _:
                abort(400, _("The page sent something that is no answer. Reload the page."))
    except LookupError:
        response = jsonify(ok=False, error=_("That question is over; look at the page."))
        response.status_code = 409
        return response
    live.show_again()
    return jsonify(ok=True, **answer)

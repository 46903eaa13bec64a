"""Who is dealt in next, at which place, and where the puck is. Pure."""

from collections.abc import Mapping, Sequence

from firmware.messages import Message, all_of, join_words
from firmware.rules import SEATS, Profile, RulesError, offers_fantasyland
from firmware.rules.order import clockwise_from
from firmware.rules.seating import Absence, Sitter, can_play_two_hands, next_button, opening_button, seating
from firmware.table.checks import PLACES
from firmware.table.errors import CommandRefused
from firmware.table.house import House
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.state import State
from firmware.table.values import SeatOpened


def _absent(player: str, why: Absence) -> Message:
    match why:
        case Absence.SITS_OUT:
            return Message("%(player)s sits out", player=player)
        case Absence.PASSES:
            return Message("%(player)s passes", player=player)
        case Absence.TOO_FEW_CHIPS:
            return Message("%(player)s has too few chips", player=player)
        case Absence.FIFTH:
            return Message("%(player)s waits, the others playing", player=player)


def sitters(state: State, house: House) -> list[Sitter]:
    """Return the table's players in the form that the rules core needs between hands."""
    return [
        Sitter(
            seat=seat.seat,
            stack=state.stacks.get(seat.player, seat.stack),
            sits_out=seat.player in state.sits_out,
            passes=seat.player in state.passes,
        )
        for seat in _first_seats(house)
    ]


def _first_seats(house: House) -> list[SeatOpened]:
    """Return each player's first seat; a player with two configured seats counts once."""
    first: dict[str, SeatOpened] = {}
    for seat in house.seats:
        first.setdefault(seat.player, seat)
    return list(first.values())


def seats_to_deal(state: State, house: House, stacks: Mapping[str, int | None]) -> tuple[SeatOpened, ...]:
    """Return the seats of the next hand. Raises CommandRefused if no hand can be dealt."""
    players = {seat.seat: seat for seat in _first_seats(house)}
    if not players:
        raise CommandRefused("Nobody sits at this table; seat two players first.")
    found = seating(sitters(state, house), _next_button(state, house), house.unit, house.rules)
    if not found.is_enough:
        if not found.absent:
            raise CommandRefused("A hand needs two players: seat somebody.")
        why = [_absent(players[seat].player, why) for seat, why in sorted(found.absent.items())]
        raise CommandRefused("A hand needs two players: %(why)s.", why=join_words(why))
    names = {players[seat].player for seat in found.playing}
    if len(house.seats) > len(players):
        playing = [seat for seat in house.seats if seat.player in names]
    else:
        playing = [players[seat] for seat in sorted(found.playing)]
    if state.two_hands and len(playing) == 2 and can_play_two_hands(sitters(state, house), house.rules):
        playing = _two_each(playing)
    if len(playing) > house.rules.limits.players:
        raise CommandRefused(
            "These rules are played by %(players)s players at most, and %(hands)s hands are set up.",
            players=house.rules.limits.players,
            hands=len(playing),
        )
    face_up = house.rules.deal.is_face_up
    lucky = _fantasyland_seats(state, house.rules, playing)
    return tuple(
        SeatOpened(
            seat=seat.seat,
            player=seat.player,
            place=place,
            stack=stacks[seat.player],
            open=face_up and seat.seat not in lucky,
            fantasyland=seat.seat in lucky,
            fantasyland_cards=state.fantasyland[seat.player] if seat.seat in lucky else 0,
        )
        for seat, place in zip(playing, _places(playing), strict=True)
    )


def _fantasyland_seats(state: State, rules: Profile, playing: Sequence[SeatOpened]) -> frozenset[int]:
    """Return the seats whose next hand is a Fantasy Land hand: both seats of a player with two, or the earning seat."""
    if not offers_fantasyland(rules):
        return frozenset()
    seats = frozenset(seat.seat for seat in playing if seat.player in state.fantasyland)
    if rules.fantasyland.two_hands == "player":
        return seats
    if state.settlement:
        earned = {hand["seat"] for hand in state.settlement["hands"] if hand.get("fantasyland_next")}
    else:
        earned = {seat.seat for seat in state.seats if seat.fantasyland}
    players = {seat.player for seat in playing if seat.seat in earned}
    return (
        frozenset(seat.seat for seat in playing if seat.seat in seats & earned or seat.player not in players)
        & seats
    )


def _next_button(state: State, house: House) -> int:
    """Return the button by which the next hand is dealt: by the dealer's word, where the puck was moved to, or due."""
    puck, last = state.puck.seat, state.button
    if state.button_kept is not None:
        return state.button_kept
    if puck is not None and (puck != last or state.phase is Phase.VOID):
        return puck
    try:
        if last is None:
            return opening_button(sitters(state, house), house.rules, min(s.seat for s in house.seats))
        return due_button(state, house) or last
    except RulesError as error:
        raise CommandRefused("No hand can be dealt: %(why)s.", why=error) from error


def due_button(state: State, house: House) -> int | None:
    """Return the seat at which the puck must lie when the next hand opens: after a void hand the one it had there.

    None while no hand has shown where the puck was. Raises RulesError if nobody is in the game.
    """
    if state.button is None or state.phase is Phase.VOID:
        return state.button
    return next_button(state.button, sitters(state, house))


def button_due(state: State, house: House) -> int | None:
    """Return the seat at which the puck is missing for the next hand.

    None if it lies there, if the dealer has given their word where it counts, if no seat is due, or if no reader is
    installed: then it counts there by itself (`told_button`).
    """
    if (
        "puck" in state.without
        or state.button_kept is not None
        or not (state.phase in BETWEEN_HANDS or state.is_paid)
    ):
        return None
    try:
        due = due_button(state, house)
    except RulesError:
        return None
    return due if due != state.puck.seat else None


def told_button(state: State, house: House) -> int | None:
    """Return the seat of the puck that counts for the next hand although no reader sees it there; None for none.

    It is the dealer's word; on a table without a reader, where nobody has said otherwise, the seat that is due.
    """
    if state.button_kept is not None:
        return state.button_kept
    try:
        return due_button(state, house) if "puck" in state.without else None
    except RulesError:
        return None


def need_puck(state: State, house: House) -> None:
    """Raise CommandRefused if the puck is missing for the next hand."""
    if (due := button_due(state, house)) is not None:
        raise CommandRefused(
            "The puck must be at seat %(seat)s. Move it there, or say where it is.", seat=due
        )


def right_buttons(state: State, house: House) -> tuple[int, ...]:
    """Return the seats of the puck that lead to exactly the players who were dealt in."""
    playing = {seat.player for seat in state.seats}
    sitting, of = sitters(state, house), {seat.seat: seat.player for seat in _first_seats(house)}
    found = {n: seating(sitting, n, house.unit, house.rules).playing for n in of}
    return tuple(n for n, seats in sorted(found.items()) if {of[seat] for seat in seats} == playing)


def _two_each(playing: Sequence[SeatOpened]) -> list[SeatOpened]:
    """Give each of two players the next free seat clockwise as a second one."""
    taken = {seat.seat for seat in playing}
    both = list(playing)
    for seat in playing:
        free = next(n for n in clockwise_from([n for n in SEATS if n not in taken], seat.seat))
        taken.add(free)
        both.append(SeatOpened(free, seat.player, ""))
    return sorted(both, key=lambda seat: seat.seat)


def _places(playing: Sequence[SeatOpened]) -> list[str]:
    """Return a place for each seat: its own if no earlier seat has it, otherwise a free one."""
    own = [seat.place for seat in playing]
    firsts = {place: index for index, place in reversed(list(enumerate(own))) if place}
    left = iter(place for place in PLACES if place not in firsts)
    return [place if place and firsts[place] == index else next(left) for index, place in enumerate(own)]


def need_right_seats(state: State, house: House) -> None:
    """Raise CommandRefused if, with this button, another of five players would sit out.

    The players are fixed when the hand opens; the puck may be moved to another seat afterwards.
    """
    if state.button is None or len(_first_seats(house)) <= house.rules.limits.players:
        return
    found = seating(sitters(state, house), state.button, house.unit, house.rules)
    playing = {seat.player for seat in state.seats}
    wanted = {seat.player for seat in _first_seats(house) if seat.seat in found.playing}
    if wanted != playing:
        raise CommandRefused(
            "With the puck at seat %(seat)s, %(players)s must be dealt in and %(others)s not. "
            "Call a misdeal and open the hand again.",
            seat=state.button,
            players=all_of(sorted(wanted - playing)),
            others=all_of(sorted(playing - wanted)),
        )

"""Between hands: limits on buying in, adding chips and taking them off the table."""

from firmware.rules.currency import money_text
from firmware.rules.errors import StakesError
from firmware.rules.profiles.profile import Profile


def verify_unit(unit: int, profile: Profile) -> None:
    """Raise StakesError unless a point may be worth this many cents."""
    most = profile.limits.max_unit
    if unit < 1:
        raise StakesError("a point is worth %(unit)s cents; it must be worth 1 or more", unit=unit)
    if most and unit > most:
        raise StakesError(
            "a point is worth %(amount)s; %(name)s allows at most %(most)s",
            amount=money_text(unit),
            name=profile.name,
            most=money_text(most),
        )


def buy_in(amount: int, unit: int, profile: Profile) -> int:
    """Return the stack of a player who joins the game with this many cents. Raises StakesError."""
    least = profile.limits.buy_in * unit
    if amount < least:
        raise StakesError(
            "%(amount)s is too little to buy in; bring at least %(least)s",
            amount=money_text(amount),
            least=money_text(least),
        )
    return add_on(0, amount, unit, profile)


def add_on(stack: int, amount: int, unit: int, profile: Profile) -> int:
    """Return the stack after a re-buy or an add-on between hands. Raises StakesError."""
    if amount < 1:
        raise StakesError("%(amount)s adds nothing; put down 1 cent or more", amount=money_text(amount))
    most = profile.limits.max_stack * unit
    if most and stack + amount > most:
        raise StakesError(
            "%(stack)s and %(amount)s are more than the table's %(most)s; add at most %(rest)s",
            stack=money_text(stack),
            amount=money_text(amount),
            most=money_text(most),
            rest=money_text(max(0, most - stack)),
        )
    return stack + amount


def take_off(stack: int, amount: int, profile: Profile, *, leaves: bool = False) -> int:
    """Return the stack after chips are taken off the table between hands. Raises StakesError.

    With table stakes only a player who leaves the game takes chips, and takes all of them.
    """
    if not 0 < amount <= stack:
        raise StakesError(
            "%(amount)s cannot be taken off a stack of %(stack)s",
            amount=money_text(amount),
            stack=money_text(stack),
        )
    if profile.stakes.cap != "none" and not (leaves and amount == stack):
        raise StakesError(
            "chips stay on the table between hands; only who leaves the game takes the whole stack"
        )
    return stack - amount

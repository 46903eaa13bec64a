"""The rules' English sentences about invalid profiles, marked for translation as in `known_sentences`.

An option's invalid value is shown within "... will not do". A contradiction is shown as a sentence of its own, with a
capital letter and a full stop.
"""

from __future__ import annotations

from typing import Final

from dealer_ui.text.i18n import N_

PROFILES: Final = (
    N_("%(option)s = %(value)s will not do: %(why)s"),
    N_("no number may be higher than %(most)s"),
    N_("allowed: %(allowed)s"),
    N_("allowed: true or false"),
    N_("allowed: a whole number, 0 or more"),
    N_("allowed: a whole number of cents, 0 or more"),
    N_("allowed: a text"),
    N_('allowed: [] or the four suits from high to low, as in ["s", "h", "c", "d"]'),
    N_('a table of hands and whole points, as in { full_house = 2, "QQ" = 7 }'),
    N_("%(hand)s must have whole points, 0 or more; allowed: %(allowed)s"),
    N_("%(hand)s is no hand here; allowed: %(allowed)s"),
    N_('one_pair, three_of_a_kind, or a pair or trips of one rank such as "QQ" or "QQQ"'),
    N_("allowed: {} or points for both, as in { two = 2, three = 4 }"),
    N_("the points must be whole, 0 or more, as in { two = 2, three = 4 }"),
    N_('allowed: an array such as [{ kind = "dragon", value = 13 }], highest first'),
    N_("%(kind)s is no natural; allowed: %(allowed)s"),
    N_("%(kind)s must be worth whole points, 1 or more"),
    N_("a kind is listed twice; allowed: each kind once"),
    N_('allowed: {} or the lowest hand by row, as in { front = "QQ", back = "four_of_a_kind" }'),
    N_("allowed: an array such as [{ option = 1, limit = 500, fee = 1000 }], whole cents, even fees"),
    N_("an option is listed twice; allowed: each option once"),
    N_("allowed: at most %(most)s rates for a limit"),
    N_(
        "scoring.outcome gives the points for two and for three rows, so scoring.majority and scoring.scoop "
        "must be 0; or set scoring.outcome = {}"
    ),
    N_(
        "A player must buy in for at least %(least)s times the table limit, and no stack may exceed %(most)s times: "
        "nobody could sit down."
    ),
    N_(
        "A player needs %(least)s points' worth of chips to be dealt in, and no stack may exceed %(most)s: "
        "nobody could be dealt in."
    ),
    N_(
        "Who buys in for %(least)s times the table limit has fewer than the %(points)s points that it takes "
        "to be dealt in."
    ),
    N_(
        "A point is worth at most %(most)s, and option %(option)s of the collection is for a table limit of "
        "%(limit)s."
    ),
    N_("%(option)s names bonuses, and bonus.pays says that there are none."),
    N_("%(option)s has bonuses paid, and bonus.pays says that there are none."),
    N_("Bonus.pays has bonuses paid, and no hand of any row has one."),
    N_("Only a bonus that takes the row's place can count twice, and bonus.pays is not replaces."),
    N_("A bonus cannot take a row's point where scoring.outcome counts two and three rows as a whole."),
    N_("%(option)s speaks of naturals, and naturals.kinds names none."),
    N_("Every hand of %(kind)s is also %(higher)s, which is listed higher: %(name)s could never count."),
    N_("A surrender has nothing to excuse where a false declaration plays as it is set."),
    N_("A surrender cannot excuse anything where none is offered (surrender.points = 0)."),
    N_("Which natural collects first is said, and order.naturals_first has none collect before the others."),
    N_("Fantasy Land can be kept, and no hand earns it."),
    N_("Fantasy Land is 13 cards at once, which everybody is dealt where deal.kind is closed."),
    N_("A collection is taken by the down, and a down has no minutes."),
    N_("Half the fee is due from minute %(minute)s of a down of %(minutes)s minutes."),
)

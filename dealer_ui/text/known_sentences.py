"""Error sentences that the record holds in English: from devices, the journal and the rules.

They are written by modules without translation. Here they are marked for the catalogues, each with named places. A test
collects them from those modules and requires every one of them here.
"""

from __future__ import annotations

from typing import Final

from dealer_ui.text.i18n import N_
from dealer_ui.text.known_camera import CAMERA
from dealer_ui.text.known_profiles import PROFILES

KNOWN: Final = (
    N_("The table did not answer in time. Look at the page before you try again."),
    N_("The table process is not running. Start it, then try again."),
    N_("The table broke off. Look at the page before you try again."),
    N_("The table gave an answer that this page does not understand."),
    N_(
        "It is not certain whether that was recorded (%(why)s). Nothing more is until it is certain; "
        "look at the page before you do it again, and at the disk."
    ),
    N_("Rows of the journal %(path)s are missing or too many; restore a backup."),
    N_("The journal %(path)s is damaged: row %(row)s is not found by its number. Restore a backup."),
    N_("%(said)s Nothing is played until a floor person has read this; nothing is deleted."),
    N_("The record ends at row %(seq)s, but row %(seen)s had been written: %(lost)s rows are missing."),
    N_("Row %(seen)s of the record is not the one that was written."),
    N_(
        "The file that says how far the record went is missing or damaged: rows after %(seq)s may be missing."
    ),
    N_("There are images of later hands than the record tells of: rows after %(seq)s are missing."),
    N_("The record is damaged. %(detail)s"),
    N_("There is no picture and no folder %(path)s."),
    N_("All pictures of %(path)s were shown."),
    N_("There is no picture in %(path)s: put some there, or name another folder."),
    N_("No hand was recorded in %(path)s: name a hand's folder of captures."),
    N_("The camera does not take %(wrong)s: set another, or choose the camera again."),
    N_("The camera gave a picture of another size."),
    N_(
        "A picture of %(width)s x %(height)s cannot be had from this camera: its width is a "
        "multiple of 64 (4608, 2304), its height is even."
    ),
    N_("The camera gives no pictures%(said)s: check its ribbon cable, and that rpicam-vid is installed."),
    N_("The camera took a picture without %(wrong)s: it is being started again."),
    N_("The camera gave something that is no picture of height x width x 3 bytes."),
    N_("This camera is open."),
    N_("This camera is not open."),
    N_("The camera does not open: unplug it and plug it in."),
    N_("The camera gave no picture within %(late_after)s s."),
    N_("The camera has given no picture for %(silent)s s: restart it."),
    N_("The camera %(device)s is not connected: plug it in."),
    N_("The camera is not connected: plug it in."),
    N_("The camera gives no pictures: check its cable."),
    N_("The camera %(device)s cannot be opened: another program may hold it."),
    N_("The camera %(device)s does not stamp its pictures with the system's clock."),
    N_("The camera %(device)s does not take mains of %(mains_hz)s Hz."),
    N_("The camera %(device)s does not take %(what)s (it says %(got)s)."),
    N_("The camera %(device)s gives only old pictures: unplug it and plug it in."),
    N_("The camera %(device)s gave a damaged picture."),
    N_("The camera %(device)s gives no pictures: check its cable."),
    N_("The camera %(device)s cannot be set (%(strerror)s)."),
    N_("The panel needs a pin factory, not %(factory)s."),
    N_("These buttons were started before."),
    N_("The buttons' pins cannot be used: %(error)s."),
    N_("The lamps' pins cannot be used: %(error)s."),
    N_("The buzzer's pin cannot be used: %(error)s."),
    N_("The buzzer cannot be driven (%(error)s): check the panel's cable."),
    N_("The power-fail line's pin cannot be used: %(error)s."),
    N_("The lamp %(name)s cannot be driven (%(error)s): check the panel's cable."),
    N_("An exposure of %(exposure_ms)s ms lets lamps on %(mains_hz)s Hz mains make bands: use %(good)s ms."),
    N_("The pin map %(source)s gives [%(section)s] %(name)s the BCM number %(bcm)s: 0 to 27 are."),
    N_("No GPIO header was found: this is no Raspberry Pi, or its kernel does not show it."),
    N_("Several GPIO headers were found (gpiochips %(found)s): name one in the configuration."),
    N_("The pin map %(source)s has no [%(section)s] %(name)s with a `bcm` number."),
    N_("The pin map %(source)s cannot be read: %(error)s."),
    N_("The pin map %(source)s gives BCM %(bcm)s to both %(other)s and %(name)s."),
    N_(
        "The puck reader is connected but does not tell where the button lies: unplug it and "
        "plug it in, or key the seat."
    ),
    N_("Seat %(seat)s: a tag that is not ours (%(tag)s)."),
    N_("No tag is named for the dealer disk. A technician names it in the set-up, at the puck reader."),
    N_("The tag %(min)s is named for both disks: give each its own."),
    N_("No antenna of the puck reader answers: check its wiring, then unplug it and plug it in."),
    N_("A puck reader needs at least one seat, and seats count from 1."),
    N_("The puck reader speaks version %(version)s, we speak %(VERSION)s: load its firmware again."),
    N_("The puck reader is not connected (%(port)s): plug it in, or key the seat."),
    N_("The puck reader may not be opened (%(port)s): this user needs the group of the port."),
    N_("Another program holds the puck reader (%(port)s): stop it."),
    N_("The connection to the puck reader broke off: check its cable, or key the seat."),
    N_("This puck reader was started before."),
    N_("The last hand's cards still lie there; collect them, deal, then look again."),
    N_("Placed cards are not seen: %(why)s Let the table lie still for a moment."),
    N_("The table did not answer in time; look at the page, then try again."),
    N_("This table signs nothing."),
    N_("The puck reader does not answer."),
    N_(
        "The dealer disk is seen now here, now there: lay it flat in the middle of its spot. "
        "Until it keeps still the button is asked."
    ),
    N_(
        "The mains is gone and the box runs on its battery: finish the hand. It shuts itself "
        "down soon; nothing is lost, and the hand goes on when the mains is back."
    ),
    N_("The table did not lie still: %(value)s. Look again."),
    N_("The reading process stopped unexpectedly; it is being replaced."),
    N_("The reading process says nothing any more; it is being replaced."),
    N_("The reading process cannot be started (%(value)s); it is tried again."),
    N_("The table is being closed."),
    N_("No reading within %(within)s s; the reading process is being replaced."),
    N_(
        "The journal %(path)s is a training record, none of whose hands was ever played; name "
        "another data folder."
    ),
    N_(
        "The journal %(path)s is a table's own record, and training never touches one; name "
        "another data folder."
    ),
    N_("A restore of the record in %(folder)s was interrupted; do the same 'feltwatch restore' once more."),
    N_(
        "Row %(seq)s of the journal was changed after it was written. Keep the data folder for "
        "the dispute and go on with a new one."
    ),
    N_(
        "Another table process (process %(holder)s) already writes the journal in %(parent)s; "
        "stop it, or choose another data folder."
    ),
    N_("The journal %(path)s could not be read: %(strerror)s."),
    N_("The journal %(path)s holds a view: Feltwatch makes none, and it is not read."),
    N_("The capture %(name)s is %(state)s: it is not what was stored."),
    N_("The capture %(name)s exists already; evidence is never overwritten."),
    N_("The capture %(name)s could not be stored (%(error)s); check the disk."),
    N_("A deck is laid out on four places of 3, 5 and 5 cards; this felt has others."),
    N_("Take at least %(MIN_FRAMES)s pictures of the spread; there is %(len)s."),
    N_("What was learnt misreads %(join)s in the last picture; take more pictures."),
    N_("This is no deck profile; enrol the deck again."),
    N_("The deck %(name)s was learnt with another card reader's model; enrol the deck again."),
    N_("Picture %(number)s does not show %(join)s in the place the spread gives."),
    N_("Picture %(number)s does not show the spread: most cards lie elsewhere."),
    N_("In picture %(number)s cards seem to be swapped: %(some)s."),
    N_("two players are at the same seat; give every player a seat of their own"),
    N_("nobody is in the game; the button needs a player"),
    N_("a point is worth %(unit)s cents; it must be worth 1 or more"),
    N_("a point is worth %(amount)s; %(name)s allows at most %(most)s"),
    N_("%(amount)s is too little to buy in; bring at least %(least)s"),
    N_("%(amount)s adds nothing; put down 1 cent or more"),
    N_("%(stack)s and %(amount)s are more than the table's %(most)s; add at most %(rest)s"),
    N_("%(amount)s cannot be taken off a stack of %(stack)s"),
    N_("chips stay on the table between hands; only who leaves the game takes the whole stack"),
    N_("The reading makes no sense: %(why)s"),
    N_("The capture %(name)s is a link to elsewhere; no capture is one."),
    N_("The capture %(name)s is no plain file; every capture is one."),
    N_("The capture %(name)s cannot be read; look at the disk, and at who may read it."),
    N_("Stuck down: %(stuck)s. Free the button; meanwhile use the page."),
    N_("Pressed faster than anybody can: %(loose)s. Look at its wires; meanwhile use the page."),
    N_(
        "The disk has less than %(value)s MB left: no new hand is opened. Make room; nothing is deleted by itself."
    ),
    N_(
        "The disk has room for fewer than %(RESERVE_FILES)s more files: no new hand is opened. "
        "Remove small files; nothing is deleted by itself."
    ),
    N_(
        "The clock stepped back: it shows a time that the record has passed already. "
        "Set it; hands go on in their order."
    ),
    N_("The data folder cannot be looked at (%(strerror)s); check the disk."),
    *CAMERA,
    *PROFILES,
)

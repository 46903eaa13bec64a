// Closes an antenna's recess flush with the table's top; lies on the tray's walls, held by thin tape. UNTESTED on hardware.
include <parameters.scad>
module antenna_lid() {
    size = [antenna_pocket_recess_mm.x - antenna_lid_play_mm, antenna_pocket_recess_mm.y - antenna_lid_play_mm];
    translate([-size.x / 2, -size.y / 2, 0]) cube([size.x, size.y, antenna_lid_thick_mm]);
}
antenna_lid();

// What each step of the assembly brings, where it stays: the model in the browser. `piece` is a step's id, `paint` one of
// its colours, so that each is built by itself (openscad -D). UNTESTED on hardware.
include <assembly.scad>
scene = "";
piece = "";
paint = "";
module color(c, alpha = 1) {
    echo(paint = str(c));
    if (paint == str(c)) children();
}

module middle_below() at(middle.x, middle.y, -frame_table_thick_mm) rotate([180, 0, 0]) children();
if (piece == "prints") at(middle.x, middle.y, 0) prints(); // shown at its own step only
if (piece == "feet") posts();
if (piece == "beam") beam();
if (piece == "ties") ties();
if (piece == "lamps") lamps();
if (piece == "mains") strip();
if (piece == "camera") head_on();
if (piece == "top") { bare(); legs(); }
if (piece == "hub") middle_below() hub();
if (piece == "antennas") for (i = [0 : len(frame_antennas_mm) - 1]) {
    in = frame_inward[i];
    at(frame_antennas_mm[i][0], frame_antennas_mm[i][1], -antenna_pocket_recess_mm[2])
        rotate(in[0] < 0 ? 180 : in[1] > 0 ? -90 : 90) {
        antenna();
        translate([0, 0, antenna_pocket_recess_mm[2] - antenna_lid_thick_mm]) color(lid) antenna_lid();
    }
}
if (piece == "cloth") top_cloth();
if (piece == "pucks") at(frame_coils_mm[0][0], frame_coils_mm[0][1], 2) puck("DEALER");
if (piece == "buttons") panel_on();
if (piece == "screen") screen_on();
if (piece == "box") box_on();

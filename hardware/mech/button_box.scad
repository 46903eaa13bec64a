// The dealer's panel: three buttons in a row, fault and ready above them; open below, screwed on from under the
// table into four inserts. UNTESTED on hardware.
include <parameters.scad>
module button_box() {
    inner = [button_box_long_mm - 2 * button_box_wall_mm, button_box_wide_mm - 2 * button_box_wall_mm];
    foot = button_box_foot_mm;
    difference() {
        translate([-button_box_long_mm / 2, -button_box_wide_mm / 2, 0])
            cube([button_box_long_mm, button_box_wide_mm, button_box_high_mm]);
        difference() {
            translate([-inner.x / 2, -inner.y / 2, -1])
                cube([inner.x, inner.y, button_box_high_mm - button_box_wall_mm + 1]);
            for (x = [-1, 1], y = [-1, 1])
                translate([x * inner.x / 2 - foot, y * inner.y / 2 - foot, -2])
                    cube([2 * foot, 2 * foot, button_box_high_mm]);
        }
        for (x = [-1, 1], y = [-1, 1])
            translate([x * (inner.x - foot) / 2, y * (inner.y - foot) / 2, -1])
                cylinder(d = button_box_insert_mm, h = 11, $fn = 24);
        for (i = [-1, 0, 1]) translate([i * button_box_apart_mm, -6, 0])
            cylinder(d = button_box_hole_mm, h = button_box_high_mm + 1, $fn = 72);
        for (i = [-1, 1]) translate([i * button_box_apart_mm / 2, 20, 0])
            cylinder(d = button_box_lamp_mm, h = button_box_high_mm + 1, $fn = 24);
        translate([0, button_box_wide_mm / 2 + 1, 12]) rotate([90, 0, 0])
            cylinder(d = button_box_cable_mm, h = button_box_wall_mm + 2, $fn = 36);
    }
}
button_box();

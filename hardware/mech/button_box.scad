// The dealer's panel: three buttons in a row, fault and ready above them, open below. UNTESTED on hardware.
include <parameters.scad>
$fn = 72;
inner = [button_box_long_mm - 2 * button_box_wall_mm, button_box_wide_mm - 2 * button_box_wall_mm];
difference() {
    translate([-button_box_long_mm / 2, -button_box_wide_mm / 2, 0])
        cube([button_box_long_mm, button_box_wide_mm, button_box_high_mm]);
    translate([-inner.x / 2, -inner.y / 2, -1])
        cube([inner.x, inner.y, button_box_high_mm - button_box_wall_mm + 1]);
    for (i = [-1, 0, 1])
        translate([i * button_box_apart_mm, -6, 0]) cylinder(d = button_box_hole_mm, h = button_box_high_mm + 1);
    for (i = [-1, 1])
        translate([i * button_box_apart_mm / 2, 20, 0]) cylinder(d = button_box_lamp_mm, h = button_box_high_mm + 1);
    translate([0, button_box_wide_mm / 2 + 1, 12]) rotate([90, 0, 0])
        cylinder(d = button_box_cable_mm, h = button_box_wall_mm + 2);
}

// A tray that holds one reader board flat under the felt: parts and pins down, bare face up; a lid closes it. UNTESTED on hardware.
include <parameters.scad>
module antenna_pocket() {
    long = antenna_pocket_board_long_mm + 1;
    wide = antenna_pocket_board_wide_mm + 1;
    outer = [long + 2 * antenna_pocket_wall_mm, wide + 2 * antenna_pocket_wall_mm];
    height = antenna_pocket_floor_mm + antenna_pocket_board_deep_mm;
    difference() {
        union() {
            translate([-outer.x / 2, -outer.y / 2, 0]) cube([outer.x, outer.y, height]);
            for (side = [-1, 1]) translate([0, side * outer.y / 2, 0])
                cylinder(r = antenna_pocket_ear_mm, h = antenna_pocket_floor_mm, $fn = 48);
        }
        translate([-long / 2, -wide / 2, antenna_pocket_floor_mm]) cube([long, wide, height]);
        for (side = [-1, 1])
            translate([0, side * (outer.y / 2 + antenna_pocket_ear_mm / 2 - 0.6), -1])
                cylinder(d = antenna_pocket_screw_mm, h = height, $fn = 48);
        translate([0, -antenna_pocket_cable_mm / 2, antenna_pocket_floor_mm])
            cube([outer.x, antenna_pocket_cable_mm, height]);
    }
}
antenna_pocket();

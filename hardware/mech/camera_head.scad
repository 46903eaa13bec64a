// The end of the camera's arm: a socket for the profile, a plate with a slot that the camera, screwed on it, looks down
// through; the picture's long side lies across the arm. Four screws against the profile level it to 2 degrees. UNTESTED on hardware.
include <parameters.scad>
module camera_head() {
    hollow = camera_head_profile_mm + camera_head_play_mm;
    side = hollow + 2 * camera_head_wall_mm;
    reach = camera_head_reach_mm;
    holes = camera_head_camera_holes_mm;
    difference() {
        union() {
            translate([-side / 2, 0, 0]) cube([side, camera_head_deep_mm, side]);
            translate([-side / 2, -reach, 0]) cube([side, reach + 1, camera_head_plate_mm]);
            for (x = [-1, 1]) translate([x * (side / 2 - camera_head_wall_mm / 2), 0, 0])
                rotate([90, 0, -90]) translate([0, 0, -camera_head_wall_mm / 2])
                    linear_extrude(camera_head_wall_mm) polygon([[-1, 0], [reach - 4, 0], [-1, side]]);
        }
        translate([-hollow / 2, camera_head_wall_mm, camera_head_wall_mm])
            cube([hollow, camera_head_deep_mm, hollow]);
        // a slot: the lens does not lie in the middle of its board's holes
        hull() for (y = [-1, 1]) translate([0, -reach / 2 + y * holes.y / 2, -1])
            cylinder(d = camera_head_lens_mm, h = camera_head_plate_mm + 2, $fn = 48);
        for (x = [-1, 1], y = [-1, 1])
            translate([x * holes.x / 2, -reach / 2 + y * holes.y / 2, -1])
                cylinder(d = camera_head_camera_hole_mm, h = camera_head_plate_mm + 2, $fn = 24);
        for (y = [14, 32]) {
            translate([0, y, -1]) cylinder(d = camera_head_screw_mm, h = side + 2, $fn = 36);
            translate([-side, y, side / 2]) rotate([0, 90, 0])
                cylinder(d = camera_head_screw_mm, h = 2 * side, $fn = 36);
        }
    }
}
camera_head();

// Hangs below the beam: two cheeks beside the profile, a plate below it. The camera's board hangs on four spacers under the
// plate, its back to the plate, the lens down; washers on the spacers level it to 2 degrees. UNTESTED on hardware.
include <parameters.scad>
module camera_head() {
    hollow = camera_head_profile_mm + camera_head_play_mm;
    side = hollow + 2 * camera_head_wall_mm;
    high = camera_head_drop_mm + camera_head_up_mm;
    long = camera_head_long_mm;
    half = camera_head_camera_holes_mm / 2;
    difference() {
        translate([-side / 2, -long / 2, 0]) cube([side, long, high]);
        translate([-hollow / 2, -long / 2 - 1, camera_head_plate_mm]) cube([hollow, long + 2, high]);
        for (x = [-1, 1], y = [-1, 1]) translate([x * half, y * half, -1])
            cylinder(d = camera_head_camera_hole_mm, h = camera_head_plate_mm + 2, $fn = 24);
        for (y = [-18, 18]) translate([-side, y, camera_head_drop_mm + camera_head_profile_mm / 2])
            rotate([0, 90, 0]) cylinder(d = camera_head_screw_mm, h = 2 * side, $fn = 36);
    }
}
camera_head();

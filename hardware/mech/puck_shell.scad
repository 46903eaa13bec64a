// The puck's shell: a tag in a pocket below, the disk with its word above. UNTESTED on hardware.
include <parameters.scad>
module puck_shell() {
    above = puck_shell_bottom_mm + puck_shell_tag_deep_mm;
    height = above + puck_shell_disk_deep_mm + puck_shell_rim_mm;
    difference() {
        cylinder(d = puck_shell_outer_mm, h = height, $fn = 96);
        translate([0, 0, puck_shell_bottom_mm])
            cylinder(d = puck_shell_tag_mm + puck_shell_play_mm, h = height, $fn = 96);
        translate([0, 0, above])
            cylinder(d = puck_shell_disk_mm + puck_shell_play_mm, h = height, $fn = 96);
    }
}
puck_shell();

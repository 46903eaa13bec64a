// The pictures of the assembly pages: what goes where. `scene` names one (openscad -D). UNTESTED on hardware.
include <parameters.scad>
use <puck_shell.scad>
use <antenna_pocket.scad>
use <button_box.scad>
use <camera_head.scad>

scene = "table";
turned = [55, 0, 25]; // as the camera, so that labels face it
white = [0.93, 0.93, 0.9]; print = [0.16, 0.47, 0.71]; green = [0.1, 0.55, 0.25]; metal = [0.72, 0.74, 0.77];
wood = [0.72, 0.56, 0.38]; cloth = [0.1, 0.36, 0.24]; board = [0.05, 0.35, 0.15]; dark = [0.15, 0.15, 0.17];

module slab(size, colour) color(colour) translate([-size.x / 2, -size.y / 2, 0]) cube(size);
module rod(d, h, colour) color(colour) cylinder(d = d, h = h, $fn = 48);
module frame_2d(size, thick, colour) color(colour) linear_extrude(0.6) difference() {
    square(size, center = true);
    square([size.x - 2 * thick, size.y - 2 * thick], center = true);
}
module label(number, size) rotate(turned) translate([0, 0, 3 * size]) { // faces whoever looks
    color([1, 0.85, 0.2]) cylinder(d = 1.6 * size, h = 1, $fn = 48);
    translate([0, 0, 1.2]) word(str(number), size, dark);
}
module word(text, size, colour, thick = 0.6) color(colour) linear_extrude(thick)
    text(text, size = size, halign = "center", valign = "center", font = "DejaVu Sans:style=Bold");

// ---- the puck: shell, tag, disk

module tag() {
    rod(puck_shell_tag_mm, 0.4, [0.85, 0.6, 0.2]);
    translate([0, 0, 0.4]) rod(6, 0.3, dark);
}
module disk(name) {
    rod(puck_shell_disk_mm, puck_shell_disk_deep_mm - 0.2, white);
    translate([0, 0, puck_shell_disk_deep_mm - 0.2]) word(name, 8, dark);
}
module puck(name, apart = 0) {
    color(print) puck_shell();
    translate([0, 0, puck_shell_bottom_mm + apart]) tag();
    translate([0, 0, puck_shell_bottom_mm + puck_shell_tag_deep_mm + 2 * apart]) disk(name);
}

// ---- the antenna under the felt

module reader() {
    size = [antenna_pocket_board_long_mm, antenna_pocket_board_wide_mm];
    slab([size.x, size.y, 1.6], [0.1, 0.25, 0.6]);
    translate([-8, 0, 1.6]) frame_2d([size.x - 22, size.y - 6], 4, [0.9, 0.7, 0.3]);
    translate([size.x / 2 - 6, 0, -6]) slab([4, 20, 6], dark);
}
module antenna(apart = 0) {
    color(print) antenna_pocket();
    translate([0, 0, antenna_pocket_floor_mm + antenna_pocket_board_deep_mm - 2 + apart]) reader();
}
module recessed(lift) { // table top, tray, cloth, puck; seen from the side that is cut
    recess = antenna_pocket_recess_mm;
    deep = recess[2];
    thick = frame_table_thick_mm;
    color(wood) difference() {
        translate([-75, -55, -thick]) cube([150, 110, thick]);
        translate([-recess.x / 2, -recess.y / 2, -deep]) cube([recess.x, recess.y, thick]);
        translate([antenna_pocket_hole_out_mm, 0, -thick - 1])
            cylinder(d = antenna_pocket_hole_mm, h = thick + 2, $fn = 36);
    }
    translate([0, 0, -deep + lift]) antenna(lift);
    translate([-75, -55, 3.6 * lift]) color(cloth) cube([150, 110, 2]);
    translate([0, 0, 2 + 4.2 * lift]) puck("DEALER");
    for (side = [-1, 1]) translate([0, side * 26, -deep + 1.9 * lift]) screw(3, 8);
}

// ---- the dealer's buttons

module button(colour) {
    rod(28, 3, metal);
    translate([0, 0, 3]) rod(20, 2.5, colour);
    translate([0, 0, -32]) rod(21.5, 32, metal);
    translate([0, 0, -36]) rod(26, 4, dark);
}
module lamp(colour) { translate([0, 0, -12]) rod(5, 14, colour); translate([0, 0, 1]) sphere(d = 5, $fn = 24); }
module buttons(apart = 0) {
    top = button_box_high_mm;
    color(print) button_box();
    colours = [[0.2, 0.75, 0.3], [0.85, 0.15, 0.15], [0.97, 0.97, 0.97]];
    for (i = [-1, 0, 1]) translate([i * button_box_apart_mm, -6, top + apart]) button(colours[i + 1]);
    translate([-button_box_apart_mm / 2, 20, top + apart]) color([0.9, 0.2, 0.2]) lamp([0.9, 0.2, 0.2]);
    translate([button_box_apart_mm / 2, 20, top + apart]) color([0.2, 0.8, 0.3]) lamp([0.2, 0.8, 0.3]);
}

// ---- the camera at the arm's end

module profile(long) color(metal) difference() { // along y, from the origin
    s = frame_profile_mm;
    translate([-s / 2, 0, -s / 2]) cube([s, long, s]);
    for (a = [0, 90, 180, 270]) rotate([0, a, 0]) translate([-4, -1, s / 2 - 6]) cube([8, long + 2, 7]);
}
module camera() { // looks down, its board's upper side at z = 0
    slab([25, 24, 1], board);
    translate([0, 2, -7]) slab([12, 12, 7], dark);
    translate([0, 2, -8.5]) rod(7, 2, [0.3, 0.3, 0.35]);
    translate([0, 10, 1]) slab([21, 5, 3], white);
    color([0.95, 0.95, 0.98]) translate([-8, 10, 2.5]) cube([16, 45, 0.6]);
}
module screw(d, long) { rod(d, long, metal); translate([0, 0, long]) rod(2 * d, d * 0.8, metal); }
module eye(apart = 0) {
    plate = camera_head_plate_mm;
    middle = -camera_head_reach_mm / 2;
    hollow = camera_head_profile_mm + camera_head_play_mm;
    color(print) camera_head();
    translate([0, middle, plate + 0.5 + apart]) {
        camera();
        for (x = [-1, 1], y = [-1, 1])
            translate([x * camera_head_camera_holes_mm.x / 2, y * camera_head_camera_holes_mm.y / 2, -6 + 0.7 * apart])
                screw(2, 8);
    }
    translate([0, camera_head_wall_mm + 1.4 * apart, camera_head_wall_mm + hollow / 2]) profile(140);
    for (y = [14, 32]) {
        translate([0, y, 2 * camera_head_wall_mm + hollow - 6 + apart]) screw(5, 8);
        translate([hollow / 2 + apart, y, camera_head_wall_mm + hollow / 2]) rotate([0, 90, 0]) screw(5, 8);
    }
}

// ---- the whole table; felt's x, y; z above the felt

module at(x, y, z) translate([x, -y, z]) children();
module felt() {
    at(felt_width_mm / 2, felt_height_mm / 2, 0) slab([felt_width_mm, felt_height_mm, 2], cloth);
    for (z = felt_zones_mm) at(z[0], z[1], 2) frame_2d([z[2], z[3]], 3, white);
    for (m = felt_markers_mm) at(m.x, m.y, 2) {
        slab([felt_marker_mm + 12, felt_marker_mm + 12, 0.6], white);
        translate([0, 0, 0.6]) slab([felt_marker_mm, felt_marker_mm, 0.6], dark);
    }
}
module top() {
    at(felt_width_mm / 2, felt_height_mm / 2, -frame_table_thick_mm)
        slab([frame_table_mm.x, frame_table_mm.y, frame_table_thick_mm], wood);
    felt();
    for (i = [0 : len(frame_antennas_mm) - 1])
        at(frame_antennas_mm[i].x, frame_antennas_mm[i].y, 0)
            slab([antenna_pocket_recess_mm.x, antenna_pocket_recess_mm.y, 1], [0.55, 0.42, 0.28]);
    at(frame_antennas_mm[0].x, frame_antennas_mm[0].y, 1) puck("DEALER");
}
module legs() for (x = [-1, 1], y = [-1, 1])
    at(felt_width_mm / 2 + x * (frame_table_mm.x / 2 - 60), felt_height_mm / 2 + y * (frame_table_mm.y / 2 - 60), frame_floor_z_mm)
        slab([60, 60, -frame_floor_z_mm - frame_table_thick_mm], wood);
module bars() { // post, arm with box and camera, crossbar with lamps
    s = frame_profile_mm;
    post = frame_post_mm;
    middle = felt_height_mm / 2;
    arm = frame_floor_z_mm + frame_post_long_mm + s / 2;
    head = arm - camera_head_wall_mm - (camera_head_profile_mm + camera_head_play_mm) / 2;
    at(post.x, post.y, frame_floor_z_mm) {
        slab([s, s, frame_post_long_mm], metal);
        slab([400, 300, 8], dark);
    }
    at(post.x, post.y - s / 2, arm) rotate([0, 0, 180]) profile(frame_arm_long_mm);
    at(post.x - frame_crossbar_long_mm / 2, post.y - s, frame_crossbar_z_mm) rotate([0, 0, -90])
        profile(frame_crossbar_long_mm);
    for (side = [-1, 1]) at(post.x + side * (frame_crossbar_long_mm - s) / 2, 0, frame_crossbar_z_mm) {
        translate([0, s / 2 - post.y, 0]) rotate([0, 0, 180]) profile(frame_lamp_arm_long_mm);
        translate([0, -middle, -s / 2 - 22]) rotate([0, side * 45, 0]) {
            slab([40, frame_lamp_long_mm, 15], metal);
            translate([0, 0, -4]) slab([36, frame_lamp_long_mm - 10, 4], [1, 1, 0.75]);
        }
    }
    at(post.x, middle - camera_head_reach_mm / 2, head) color(print) camera_head();
    at(post.x, middle, head + camera_head_plate_mm + 0.5) camera();
    at(post.x, middle - frame_box_from_camera_mm - frame_box_mm.x / 2, arm + s / 2)
        slab([frame_box_mm.y, frame_box_mm.x, frame_box_mm.z], [0.85, 0.85, 0.83]);
    at(post.x, post.y - s, frame_socket_z_mm) slab([60, 40, 250], white);
}
module dealer() {
    at(frame_panel_mm.x, frame_panel_mm.y, 0) rotate([0, 0, -90]) buttons();
    at(frame_display_mm.x, frame_display_mm.y, 45) rotate([0, -40, 0]) {
        slab([112, 195, 10], dark);
        translate([0, 0, 10]) slab([96, 172, 0.6], [0.3, 0.5, 0.65]);
    }
    at(frame_display_mm.x + 25, frame_display_mm.y, 0) slab([50, 150, 40], dark);
}
module labels() {
    s = frame_profile_mm;
    post = frame_post_mm;
    arm = frame_floor_z_mm + frame_post_long_mm;
    at(post.x, post.y, 120) label(1, 70);
    at(post.x - 110, -60, arm - 60) label(2, 70);
    at(post.x + 450, post.y, frame_crossbar_z_mm) label(3, 70);
    at(post.x, felt_height_mm / 2 + 40, arm) label(4, 70);
    at(post.x + 130, felt_height_mm / 2 - frame_box_from_camera_mm - 100, arm + 110) label(5, 70);
    at(post.x + frame_crossbar_long_mm / 2 - 60, felt_height_mm / 2 + 100, frame_crossbar_z_mm - 50) label(6, 70);
    at(post.x + 60, post.y, frame_socket_z_mm + 150) label(7, 70);
    at(frame_antennas_mm[2].x, frame_antennas_mm[2].y, 10) label(8, 70);
    at(frame_panel_mm.x - 110, frame_panel_mm.y, 30) label(9, 70);
    at(frame_display_mm.x - 90, frame_display_mm.y + 130, 30) label(10, 70);
}

if (scene == "puck") rotate([0, 0, 30]) puck("DEALER", 14);
if (scene == "antenna") recessed(20);
if (scene == "buttons") buttons(45);
if (scene == "camera") eye(26);
if (scene == "table") { top(); legs(); bars(); dealer(); labels(); }
if (scene == "felt") {
    top();
    dealer();
    for (i = [0 : len(frame_antennas_mm) - 1]) at(frame_antennas_mm[i].x + 75, frame_antennas_mm[i].y, 10)
        label(i + 1, 30);
}

// The pictures of the assembly pages: what goes where. `scene` names one (openscad -D). UNTESTED on hardware.
include <parameters.scad>
use <puck_shell.scad>
use <antenna_pocket.scad>
use <antenna_lid.scad>
use <button_box.scad>
use <camera_head.scad>

scene = "table";
turned = [55, 0, 25]; // as the camera, so that labels face it
white = [0.93, 0.93, 0.9]; print = [0.16, 0.47, 0.71]; green = [0.1, 0.55, 0.25]; metal = [0.72, 0.74, 0.77];
lid = [0.6, 0.75, 0.85]; wood = [0.72, 0.56, 0.38]; cloth = [0.1, 0.36, 0.24]; board = [0.05, 0.35, 0.15]; dark = [0.15, 0.15, 0.17];

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
    translate([0, 0, puck_shell_disk_deep_mm - 0.2]) word(name, 6.4, dark);
}
module puck(name, apart = 0) {
    color(print) puck_shell();
    translate([0, 0, puck_shell_bottom_mm + apart]) tag();
    translate([0, 0, puck_shell_bottom_mm + puck_shell_tag_deep_mm + 2 * apart]) disk(name);
}

// ---- the antenna under the felt

module reader() { // parts and pins down, bare face up; the coil's middle is off the board's
    size = [antenna_pocket_board_long_mm, antenna_pocket_board_wide_mm];
    slab([size.x, size.y, 1.6], [0.1, 0.25, 0.6]);
    translate([-antenna_pocket_coil_off_mm, 0, 1.6]) frame_2d([antenna_pocket_coil_mm, size.y - 6], 3, [0.3, 0.45, 0.8]);
    translate([size.x / 2 - 6, 0, -4]) slab([4, 20, 4], dark);
}
module antenna(apart = 0) {
    color(print) antenna_pocket();
    translate([0, 0, antenna_pocket_floor_mm + antenna_pocket_board_deep_mm - 1.6 + apart]) reader();
}
module recessed(lift) { // table top, tray, reader, lid, cloth, puck; seen from the side that is cut
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
    translate([0, 0, 2.9 * lift]) color(lid) antenna_lid();
    translate([-75, -55, 3.7 * lift]) color(cloth) cube([150, 110, 2]);
    translate([-antenna_pocket_coil_off_mm, 0, 3.7 * lift + 2]) frame_round(55, white);
    translate([-antenna_pocket_coil_off_mm, 0, 2 + 4.5 * lift]) puck("DEALER");
    for (side = [-1, 1]) translate([0, side * 26, -deep + 1.9 * lift]) screw(3, 8);
}
module frame_round(d, colour) color(colour) linear_extrude(0.6) difference() { circle(d = d, $fn = 72); circle(d = d - 4, $fn = 72); }

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

// ---- the camera below the beam

module profile(long) color(metal) difference() { // along y, from the origin
    s = frame_profile_mm;
    translate([-s / 2, 0, -s / 2]) cube([s, long, s]);
    for (a = [0, 90, 180, 270]) rotate([0, a, 0]) translate([-4, -1, s / 2 - 6]) cube([8, long + 2, 7]);
}
module camera() { // looks down, its board's upper side at z = 0
    translate([0, 0, -1.4]) slab([38, 38, 1.4], board);
    translate([0, 0, -14]) rod(34, 12.6, dark);
    translate([0, 0, -42]) rod(30, 28, [0.25, 0.25, 0.28]);
    translate([0, 0, -44]) rod(20, 2, [0.45, 0.55, 0.7]);
    color([0.95, 0.95, 0.98]) translate([-8, 10, 0.4]) cube([16, 60, 0.6]);
}
module screw(d, long) { rod(d, long, metal); translate([0, 0, long]) rod(2 * d, d * 0.8, metal); }
module eye(apart = 0) { // its origin: the middle of the plate's lower side
    drop = camera_head_drop_mm;
    half = camera_head_camera_holes_mm / 2;
    color(print) camera_head();
    translate([0, -140, drop + frame_profile_mm / 2 + apart]) profile(280);
    translate([0, 0, -camera_head_spacer_mm - 2 * apart]) camera();
    for (x = [-1, 1], y = [-1, 1]) {
        translate([x * half, y * half, -camera_head_spacer_mm - apart]) rod(5, camera_head_spacer_mm, [0.85, 0.75, 0.4]);
        translate([x * half, y * half, camera_head_plate_mm - 6 + 0.6 * apart]) screw(2.5, 8);
    }
    for (x = [-1, 1], y = [-18, 18]) translate([x * (26 + 0.8 * apart), y, drop + frame_profile_mm / 2])
        rotate([0, x * 90, 0]) translate([0, 0, -8]) screw(5, 12);
}

// ---- the whole table; felt's x, y; z above the felt

module at(x, y, z) translate([x, -y, z]) children();
middle = [felt_width_mm / 2, felt_height_mm / 2];
module felt() {
    at(middle.x, middle.y, 0) slab([felt_width_mm, felt_height_mm, 2], cloth);
    for (z = felt_zones_mm) at(z[0], z[1], 2) frame_2d([z[2], z[3]], 3, white);
    for (m = felt_markers_mm) at(m.x, m.y, 2) {
        slab([felt_marker_mm + 12, felt_marker_mm + 12, 0.6], white);
        translate([0, 0, 0.6]) slab([felt_marker_mm, felt_marker_mm, 0.6], dark);
    }
}
module bare() { // the top with its recesses and holes
    color(wood) difference() {
        at(middle.x, middle.y, -frame_table_thick_mm)
            translate([-frame_table_mm.x / 2, -frame_table_mm.y / 2, 0])
            cube([frame_table_mm.x, frame_table_mm.y, frame_table_thick_mm]);
        for (i = [0 : len(frame_antennas_mm) - 1]) {
            b = frame_antennas_mm[i];
            in = frame_inward[i];
            r = antenna_pocket_recess_mm;
            at(b.x, b.y, -r[2]) rotate(abs(in[0]) > 0 ? 0 : 90) translate([-r.x / 2, -r.y / 2, 0]) cube([r.x, r.y, 20]);
            at(b.x + in[0] * antenna_pocket_hole_out_mm, b.y + in[1] * antenna_pocket_hole_out_mm, -30)
                cylinder(d = antenna_pocket_hole_mm, h = 60, $fn = 24);
        }
        at(frame_panel_mm.x + 46, frame_panel_mm.y, -30) cylinder(d = frame_panel_hole_mm, h = 60, $fn = 24);
        at(frame_display_mm.x + 55, frame_display_mm.y, -30) cylinder(d = frame_display_hole_mm, h = 60, $fn = 24);
    }
}
module top(pucks = true) {
    at(middle.x, middle.y, -frame_table_thick_mm)
        slab([frame_table_mm.x, frame_table_mm.y, frame_table_thick_mm], wood);
    top_cloth();
    if (pucks) at(frame_coils_mm[0][0], frame_coils_mm[0][1], 2) puck("DEALER");
}
module top_cloth() {
    at(middle.x, middle.y, 0) slab([frame_table_mm.x - 4, frame_table_mm.y - 4, 1], [0.1, 0.33, 0.22]);
    felt();
    for (c = frame_coils_mm) at(c[0], c[1], 1.5) frame_round(55, white);
}
module legs() for (x = [-1, 1], y = [-1, 1])
    at(middle.x + x * (frame_table_mm.x / 2 - 60), middle.y + y * (frame_table_mm.y / 2 - 60), frame_floor_z_mm)
        slab([60, 60, -frame_floor_z_mm - frame_table_thick_mm], wood);
foot_z = frame_floor_z_mm + frame_plate_mm[2];
axis_z = frame_beam_z_mm + frame_profile_mm / 2;
module bracket() color([0.55, 0.57, 0.6]) rotate([90, 0, 0]) translate([0, 0, -15]) linear_extrude(30) polygon([[0, 0], [80, 0], [80, 8], [8, 80], [0, 80]]);
module foot(post) { // plate, two brackets, four anchors
    at(post.x, post.y, frame_floor_z_mm) slab([frame_plate_mm.x, frame_plate_mm.y, frame_plate_mm[2]], dark);
    for (x = [-1, 1]) at(post.x + x * frame_profile_mm / 2, post.y, foot_z) scale([x, 1, 1]) bracket();
    for (x = [-1, 1], y = [-1, 1]) at(post.x + x * frame_anchors_mm.x, post.y + y * frame_anchors_mm.y, foot_z) { rod(10, 18, metal); rod(18, 8, metal); }
}
module post(post, long) at(post.x, post.y, foot_z) rotate([90, 0, 0]) profile(long);
module posts() for (p = [frame_post_mm, frame_near_post_mm]) { foot(p); post(p, frame_post_long_mm); }
module beam(lift = 0) {
    at(middle.x, middle.y + frame_beam_long_mm / 2, axis_z + lift) profile(frame_beam_long_mm);
    for (p = [frame_post_mm, frame_near_post_mm], y = [-1, 1])
        at(p.x, p.y + y * frame_profile_mm / 2, frame_beam_z_mm) rotate([180, 0, -y * 90]) bracket();
}
module ties() for (t = frame_ties_mm) {
    long = 420;
    if (t[2] == "x") at(t[0] + 20, t[1], frame_tie_z_mm) rotate([0, 0, -90]) color([0.85, 0.5, 0.2]) translate([-15, 0, -15]) cube([30, long, 30]);
    else at(t[0], middle.y - frame_beam_long_mm / 2, frame_tie_z_mm) color([0.85, 0.5, 0.2]) translate([-15, 0, -15]) cube([30, long * 0.6, 30]);
}
module lamp_on(side, drop = 0) {
    y = middle.y + side * frame_lamp_y_mm;
    at(middle.x - frame_carrier_long_mm / 2, y, frame_beam_z_mm + 1.5 * frame_profile_mm) rotate([0, 0, -90]) profile(frame_carrier_long_mm);
    for (x = [-1, 1]) at(middle.x + x * (frame_carrier_long_mm / 2 - frame_hanger_in_mm), y, frame_lamp_z_mm - drop)
        slab([40, 4, frame_beam_z_mm + frame_profile_mm - frame_lamp_z_mm + drop + 30], metal);
    at(middle.x, y, frame_lamp_z_mm - drop) { // turned to the table's middle; the hood at its inner edge
        rotate([side * frame_lamp_deg, 0, 0]) {
            translate([0, 0, -4]) slab([frame_lamp_long_mm, 42, 18], metal);
            translate([0, 0, -7]) slab([frame_lamp_long_mm - 10, 38, 4], [1, 1, 0.75]);
            translate([0, side * 21, 0]) rotate([side * (frame_hood_deg - frame_lamp_deg), 0, 0])
                translate([0, 0, -frame_hood_mm]) slab([frame_lamp_long_mm, 2, frame_hood_mm], dark);
        }
    }
}
module lamps() for (side = [-1, 1]) lamp_on(side);
module box_on() at(middle.x, middle.y + frame_box_from_camera_mm + frame_box_mm.x / 2, frame_beam_z_mm + frame_profile_mm)
    slab([frame_box_mm.y, frame_box_mm.x, frame_box_mm.z], [0.85, 0.85, 0.83]);
module head_on() at(middle.x, middle.y, frame_beam_z_mm - camera_head_drop_mm) { color(print) camera_head(); translate([0, 0, -camera_head_spacer_mm]) rotate([0, 0, 180]) camera(); } // ribbon to the near post
module strip() { // sockets, fuse holders, the lamps' supply
    y = frame_near_post_mm.y + frame_profile_mm; // on the post's outer side
    at(frame_near_post_mm.x, y, frame_socket_z_mm) {
        slab([60, 40, 250], white);
        for (i = [0 : 2]) translate([0, -22, 60 + 65 * i]) rotate([-90, 0, 0]) rod(40, 2, [0.6, 0.6, 0.62]);
        for (z = [25, 225]) translate([0, 20, z]) slab([66, 88, 12], dark);
    }
    at(frame_near_post_mm.x, y, frame_socket_z_mm - 300) {
        slab([68, 40, 220], [0.3, 0.3, 0.33]);
        for (x = [-1, 1]) translate([x * 16, 0, 220]) { rod(12, 40, [0.85, 0.2, 0.2]); translate([0, 0, 40]) rod(5, 30, dark); }
        for (z = [20, 190]) translate([0, 20, z]) slab([74, 88, 12], dark);
    }
}
module bars() { posts(); beam(); ties(); lamps(); head_on(); box_on(); strip(); }
module dealer() { panel_on(); screen_on(); }
module panel_on() at(frame_panel_mm.x, frame_panel_mm.y, 0) rotate([0, 0, -90]) buttons();
module screen_on() {
    at(frame_display_mm.x, frame_display_mm.y, 45) rotate([0, -40, 0]) {
        slab([112, 195, 10], dark);
        translate([0, 0, 10]) slab([96, 172, 0.6], [0.3, 0.5, 0.65]);
    }
    at(frame_display_mm.x + 25, frame_display_mm.y, 0) slab([50, 150, 40], dark);
}
module labels() {
    at(frame_post_mm.x, frame_post_mm.y, 300) label(1, 70);
    at(frame_near_post_mm.x, frame_near_post_mm.y, -300) label(1, 70);
    at(middle.x, middle.y + 420, frame_beam_z_mm + 40) label(2, 70);
    at(frame_post_mm.x + 380, frame_post_mm.y, frame_tie_z_mm) label(3, 70);
    at(middle.x - 30, middle.y - 110, frame_beam_z_mm - 200) label(4, 70);
    at(middle.x, middle.y + frame_box_from_camera_mm + 100, frame_beam_z_mm + 130) label(5, 70);
    at(middle.x + 430, middle.y + frame_lamp_y_mm, frame_lamp_z_mm) label(6, 70);
    at(frame_near_post_mm.x + 60, frame_near_post_mm.y, frame_socket_z_mm + 100) label(7, 70);
    at(frame_antennas_mm[4][0], frame_antennas_mm[4][1], -100) label(8, 70); // seat 5's
    at(frame_panel_mm.x - 110, frame_panel_mm.y, 30) label(9, 70);
    at(frame_display_mm.x - 90, frame_display_mm.y + 130, 30) label(10, 70);
}
module hub() { // under the table's middle, upside down
    slab([frame_hub_mm.x, frame_hub_mm.y, 1.6], [0.75, 0.62, 0.35]);
    translate([-18, 0, 1.6]) { slab([21, 51, 1], [0.1, 0.45, 0.2]); translate([0, 25, 1]) slab([8, 6, 3], metal); }
    for (y = [-14, 8]) translate([10, y, 1.6]) slab([7, 19, 4], dark);
    translate([24, 20, 1.6]) slab([12, 12, 4], [0.1, 0.2, 0.5]);
    for (i = [0 : 4]) translate([33, -24 + 10 * i, 1.6]) slab([6, 8, 7], white);
    for (x = [-1, 1], y = [-1, 1]) translate([x * (frame_hub_mm.x / 2 - 4), y * (frame_hub_mm.y / 2 - 4), 1.6]) rod(6, 2, metal);
}
module box_open() { // lid off: computer, panel board, fan, grilles, slots
    l = frame_box_mm.x; w = frame_box_mm.y; h = frame_box_mm.z;
    color([0.85, 0.85, 0.83, 1]) difference() {
        translate([-l / 2, -w / 2, 0]) cube([l, w, h]);
        translate([-l / 2 + 3, -w / 2 + 3, 3]) cube([l - 6, w - 6, h]);
        translate([l / 2 - 5, -30, 8]) cube([10, 60, 18]);
        translate([-l / 2 - 5, -10, 15]) cube([10, 20, 2]); // the ribbon's, at the height of the computer's board
        for (i = [0 : 9]) translate([-85 + i * 9, -w / 2 - 1, 10]) cube([5, 6, 40]);
        translate([-40, w / 2 - 5, h / 2]) rotate([-90, 0, 0]) cylinder(d = 38, h = 10, $fn = 48);
    }
    translate([-40, w / 2 - 9, h / 2]) rotate([90, 0, 0]) difference() { translate([0, 0, 5]) cube([40, 40, 10], center = true); cylinder(d = 36, h = 30, center = true, $fn = 48); }
    translate([-40, -10, 15]) { slab([85, 56, 1.5], board); translate([-10, 0, 1.5]) slab([30, 40, 14], metal); translate([36, 12, 1.5]) slab([17, 30, 16], metal); }
    translate([52, 0, 15]) { slab([70, 90, 1.6], [0.75, 0.62, 0.35]); translate([0, 0, 1.6]) slab([22, 8, 5], dark); translate([0, 36, 1.6]) slab([60, 8, 9], [0.2, 0.5, 0.3]); }
}
module prints() {
    translate([-90, 0, 0]) color(print) camera_head();
    for (i = [0, 1]) translate([-10, -35 + 70 * i, 0]) color(print) puck_shell();
    translate([80, 40, 0]) color(print) antenna_pocket();
    translate([80, -40, 0]) color(print) antenna_lid();
    translate([0, 140, button_box_high_mm]) rotate([180, 0, 0]) color(print) button_box();
}

if (scene == "prints") prints();
if (scene == "foot") { foot(frame_post_mm); post(frame_post_mm, 420); at(frame_post_mm.x, frame_post_mm.y, frame_floor_z_mm - 60) rod(8, 60, metal); }
if (scene == "portal") { posts(); beam(); legs(); bare(); }
if (scene == "ties") { posts(); beam(); ties(); }
if (scene == "lamps") { beam(); lamp_on(1, 0); at(frame_near_post_mm.x, frame_near_post_mm.y, frame_beam_z_mm - 500) rotate([90, 0, 0]) profile(500); }
if (scene == "supply") { at(frame_near_post_mm.x, frame_near_post_mm.y, -150) rotate([90, 0, 0]) profile(980); strip(); bare(); }
if (scene == "camera") eye(26);
if (scene == "top") { bare(); for (i = [0 : len(frame_antennas_mm) - 1]) at(frame_antennas_mm[i][0] + 80, frame_antennas_mm[i][1], 10) label(i + 1, 30); }
if (scene == "hub") hub();
if (scene == "antenna") recessed(20);
if (scene == "felt") { top(false); for (i = [0 : len(frame_coils_mm) - 1]) at(frame_coils_mm[i][0] + 80, frame_coils_mm[i][1], 10) label(i + 1, 30); }
if (scene == "puck") rotate([0, 0, 30]) puck("DEALER", 14);
if (scene == "buttons") buttons(45);
if (scene == "screen") { top(); dealer(); }
if (scene == "box") box_open();
if (scene == "table") { top(); legs(); bars(); dealer(); labels(); }

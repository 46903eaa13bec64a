// The table in three dimensions, on the page on building: what each step brings is lit, what earlier ones brought is pale.
// The words are the page's own. Without WebGL the page stays as it is: pictures.
"use strict";
(() => {
  const place = document.querySelector(".table-model");
  if (!place) return;
  const steps = JSON.parse(place.querySelector(".steps").textContent);
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl", { antialias: true, preserveDrawingBuffer: true });
  if (!gl) {
    place.querySelector(".none").hidden = false;
    return;
  }

  // ---- the file: binary glTF, one node a step
  const raw = Uint8Array.from(atob(place.querySelector(".glb").textContent.trim()), (c) => c.charCodeAt(0));
  const length = new DataView(raw.buffer).getUint32(12, true);
  const said = JSON.parse(new TextDecoder().decode(raw.subarray(20, 20 + length)));
  const body = raw.subarray(28 + length);
  const buffers = said.bufferViews.map((view) => {
    const buffer = gl.createBuffer();
    gl.bindBuffer(view.target, buffer);
    gl.bufferData(view.target, body.subarray(view.byteOffset, view.byteOffset + view.byteLength), gl.STATIC_DRAW);
    return buffer;
  });
  const pieces = said.nodes.filter((node) => "mesh" in node).map((node) => {
    const parts = said.meshes[node.mesh].primitives.map((part) => ({
      at: buffers[said.accessors[part.attributes.POSITION].bufferView],
      order: buffers[said.accessors[part.indices].bufferView],
      count: said.accessors[part.indices].count,
      paint: said.materials[part.material].pbrMetallicRoughness.baseColorFactor,
      box: said.accessors[part.attributes.POSITION],
    }));
    const low = [0, 1, 2].map((i) => Math.min(...parts.map((part) => part.box.min[i])));
    const high = [0, 1, 2].map((i) => Math.max(...parts.map((part) => part.box.max[i])));
    return { parts, low, high, step: steps.findIndex((step) => step.id === node.name) };
  });

  // ---- how it is drawn: flat faces, lit from the eye; each face's normal comes from its own slope
  gl.getExtension("OES_standard_derivatives");
  const program = gl.createProgram();
  for (const [kind, text] of [
    [gl.VERTEX_SHADER, "attribute vec3 at; uniform mat4 view; uniform mat4 lens; varying vec3 seen; void main() { vec4 v = view * vec4(at, 1.0); seen = v.xyz; gl_Position = lens * v; }"],
    [gl.FRAGMENT_SHADER, "#extension GL_OES_standard_derivatives : enable\nprecision highp float; varying vec3 seen; uniform vec4 paint; void main() { vec3 n = normalize(cross(dFdx(seen), dFdy(seen))); float light = 0.45 + 0.55 * abs(dot(n, normalize(vec3(0.3, 0.5, 1.0)))); gl_FragColor = vec4(paint.rgb * light, paint.a); }"],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  const [view, lens, paint] = ["view", "lens", "paint"].map((name) => gl.getUniformLocation(program, name));
  const where = gl.getAttribLocation(program, "at");
  gl.enableVertexAttribArray(where);
  gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);

  const eye = { middle: [0, 0, 0], far: 1, down: 60, round: 30 };
  let now = 0;

  function matrices() {
    const [a, b] = [eye.down * Math.PI / 180, eye.round * Math.PI / 180];
    const [sa, ca, sb, cb] = [Math.sin(a), Math.cos(a), Math.sin(b), Math.cos(b)];
    const rows = [[cb, sb, 0], [-sb * ca, cb * ca, sa], [sb * sa, -cb * sa, ca]];
    const shift = rows.map((row) => -row.reduce((sum, value, i) => sum + value * eye.middle[i], 0));
    shift[2] -= eye.far;
    const column = (i) => rows.map((row) => row[i]);
    gl.uniformMatrix4fv(view, false, [...column(0), 0, ...column(1), 0, ...column(2), 0, ...shift, 1]);
    const wide = canvas.width / canvas.height;
    const half = Math.min(1, wide) / Math.tan(12 * Math.PI / 180); // a phone's picture is narrow: its width holds all
    const [near, end] = [eye.far / 50, eye.far + 9000];
    gl.uniformMatrix4fv(lens, false, [half / wide, 0, 0, 0, 0, half, 0, 0, 0, 0, (end + near) / (near - end), -1, 0, 0, 2 * end * near / (near - end), 0]);
  }

  function draw() {
    canvas.width = Math.round(canvas.clientWidth * Math.min(2, devicePixelRatio));
    canvas.height = Math.round(canvas.clientHeight * Math.min(2, devicePixelRatio));
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0.96, 0.96, 0.94, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    matrices();
    const all = steps[now].whole;
    const part = (one, colour) => {
      gl.uniform4fv(paint, colour);
      gl.bindBuffer(gl.ARRAY_BUFFER, one.at);
      gl.vertexAttribPointer(where, 3, gl.FLOAT, false, 0, 0);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, one.order);
      gl.drawElements(gl.TRIANGLES, one.count, gl.UNSIGNED_SHORT, 0);
    };
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    for (const piece of pieces.filter((one) => one.step >= 0 && !steps[one.step].once && (all || one.step < now))) {
      for (const one of piece.parts) part(one, all ? one.paint : one.paint.map((value, i) => (i < 3 ? 0.72 + 0.16 * value : 1)));
    }
    const lit = all ? [] : pieces.filter((one) => one.step === now);
    for (const piece of lit) for (const one of piece.parts) part(one, one.paint);
    gl.enable(gl.BLEND); // what is behind something else shines through
    gl.disable(gl.DEPTH_TEST);
    for (const piece of lit) for (const one of piece.parts) part(one, [0.95, 0.5, 0.1, 0.4]);
    place.dataset.lit = lit.length ? steps[now].id : "";
  }

  // ---- a step: its words, and the eye before what it brings
  const words = document.createElement("div");
  words.className = "words";
  words.setAttribute("aria-live", "polite");

  function show(number) {
    now = Math.max(0, Math.min(steps.length - 1, number));
    const step = steps[now];
    const section = document.getElementById(step.at);
    const title = document.createElement("strong");
    title.textContent = `${now + 1} of ${steps.length}: ${step.title}`;
    words.replaceChildren(title);
    const link = document.createElement("a");
    link.href = `#${step.at}`;
    link.textContent = "to its picture";
    for (const child of section ? section.children : []) {
      if (child.matches("ol") || (child.matches("p") && !child.querySelector("img"))) words.append(child.cloneNode(true));
    }
    words.append(link);
    const mine = pieces.filter((one) => one.step >= 0 && (one.step === now || (step.whole && !steps[one.step].once)));
    const before = mine.length ? mine : pieces;
    const low = [0, 1, 2].map((i) => Math.min(...before.map((one) => one.low[i])));
    const high = [0, 1, 2].map((i) => Math.max(...before.map((one) => one.high[i])));
    eye.middle = low.map((value, i) => (value + high[i]) / 2);
    eye.far = Math.max(1200, Math.hypot(...low.map((value, i) => high[i] - value)) / 2 / Math.sin(11 * Math.PI / 180));
    [eye.down, eye.round] = [Math.max(20, step.down), step.round];
    back.disabled = now === 0;
    next.disabled = now === steps.length - 1;
    draw();
  }

  // ---- hands: mouse, fingers, keys
  const fingers = new Map();
  const apart = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  const nearer = (factor) => {
    eye.far = Math.max(200, Math.min(20000, eye.far * factor));
    draw();
  };
  const turn = (round, down) => {
    eye.round += round;
    eye.down = Math.max(0, Math.min(180, eye.down + down));
    draw();
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener("pointermove", (event) => {
    const was = fingers.get(event.pointerId);
    if (!was) return;
    const old = fingers.size === 2 ? apart() : 0;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (fingers.size === 2) nearer(old / Math.max(1, apart()));
    else turn((was.x - event.clientX) / 3, (was.y - event.clientY) / 3);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas) return; // else the page moves
    event.preventDefault();
    nearer(event.deltaY > 0 ? 1.1 : 1 / 1.1);
  }, { passive: false });
  const keys = {
    ArrowLeft: () => turn(-10, 0), ArrowRight: () => turn(10, 0), ArrowUp: () => turn(0, -10), ArrowDown: () => turn(0, 10),
    "+": () => nearer(1 / 1.2), "-": () => nearer(1.2), PageDown: () => show(now + 1), PageUp: () => show(now - 1),
    Home: () => show(0), End: () => show(steps.length - 1),
  };
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  const button = (text, act) => {
    const one = document.createElement("button");
    one.type = "button";
    one.textContent = text;
    one.addEventListener("click", act);
    return one;
  };
  const [back, next] = [button("Step before", () => show(now - 1)), button("Next step", () => show(now + 1))];
  const row = document.createElement("div");
  row.className = "row";
  row.append(back, next);
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "The table in three dimensions. Arrow keys turn it, plus and minus bring it nearer, Page Down and Page Up change the step.");
  place.append(canvas, row, words);
  place.classList.add("drawn");
  new ResizeObserver(draw).observe(canvas);
  show(0);
})();

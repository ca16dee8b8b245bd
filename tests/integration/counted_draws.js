// Counts the calls by which the page draws, by frame: the time of a document's timeline is the same all through a frame.
window.drawn = { frames: new Map(), first: 0 };
for (const name of ["fill", "stroke", "fillRect", "strokeRect", "clearRect", "fillText", "strokeText",
                    "drawImage", "putImageData"]) {
  const really = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...given) {
    const frame = document.timeline.currentTime;
    drawn.frames.set(frame, (drawn.frames.get(frame) ?? 0) + 1);
    if (name === "drawImage" && !drawn.first) drawn.first = performance.now();
    return really.apply(this, given);
  };
}

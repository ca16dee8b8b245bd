// The part of the map that is in view while it is moved: drawn once a frame, without React, which hears of it at rest.
import type { View } from "./map_layout";

const REST_MS = 300; // without a move

export class MovingView {
  private readonly painters = new Set<() => void>();
  private frame = 0;
  private timer = 0;

  /** `rested`: called where the view has come to rest. */
  constructor(public now: View, private readonly rested: () => void) {}

  set(next: View): void {
    const { now } = this;
    if (next.from === now.from && next.to === now.to && next.top === now.top && next.rows === now.rows) return;
    this.now = next;
    this.redraw();
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(this.rested, REST_MS);
  }

  /** All that draw, in the next frame. */
  redraw(): void {
    this.frame ||= window.requestAnimationFrame(() => {
      this.frame = 0;
      this.painters.forEach((paint) => paint());
    });
  }

  /** `paint` draws with the view of now; the answer takes it away again. */
  drawnBy(paint: () => void): () => void {
    this.painters.add(paint);
    return () => { this.painters.delete(paint); };
  }

  stop(): void {
    window.cancelAnimationFrame(this.frame);
    window.clearTimeout(this.timer);
    this.frame = 0;
  }
}

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** What draws on the canvas, made as large as it is shown. */
export function prepared(element: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  if (element.width !== Math.round(width * ratio) || element.height !== Math.round(height * ratio)) {
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    element.style.height = `${height}px`;
  }
  const scheme = dark.matches ? "dark" : "light"; // for print, which is light
  if (element.dataset["scheme"] !== scheme) element.dataset["scheme"] = scheme;
  const to = element.getContext("2d")!;
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  return to;
}

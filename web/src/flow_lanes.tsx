// Under the map, on its axis: a lane for each group of cards that exchange over the training network.
import { useContext, useEffect, useMemo, useRef, useState } from "react";
import type { PointerEvent } from "react";
import type { FlowFinding, FlowGroup, FlowJob, FlowStep } from "./api_types";
import { counted, grouped, harmless, millis, some, span, spoken, timeText } from "./format";
import { serverNow } from "./live";
import { prepared } from "./map_view";
import type { MovingView } from "./map_view";
import { Time, Wild, ZoneContext } from "./parts";

const LANE = 14;
const NARROW_LANE = 26; // with its name above
const LANES_MAX = 48;
const BAR = 8;
const BAR_MIN = 1.5; // px
const FINDINGS = 6;

/** The exchange of a group in a step, ms. */
interface Bar {
  from: number;
  to: number;
  step: FlowStep;
}

interface Lane {
  group: FlowGroup;
  name: string;
  bars: Bar[];
}

const WORDS: Record<string, string> = { DP: "data", PP: "pipeline", CP: "context", EP: "expert" };

function lanesOf(flows: readonly FlowJob[]): Lane[] {
  return flows.flatMap((job) => {
    const begins = job.steps.map((step) => millis(step.begin) ?? NaN);
    return job.groups.map((group, at) => ({
      group, name: `${group.label} · ${counted(group.cards.length, "card")} · ${group.cards[0] ?? ""}`,
      bars: job.steps.flatMap((step, i) => {
        const lane = step.lanes[at]; // null: not known
        return lane && lane.length > 1 ? [{ from: begins[i]! + lane[0]! / 1_000, to: begins[i]! + lane[1]! / 1_000, step }] : [];
      }),
    }));
  });
}

interface LanesShape {
  left: number;
  right: number;
  width: number;
  height: number;
  lane: number; // height of one
  narrow: boolean;
  x: (ms: number) => number;
}

function drawLanes(element: HTMLCanvasElement, lanes: readonly Lane[], shape: LanesShape): void {
  const { left, right, width, height, lane, narrow, x } = shape;
  const to = prepared(element, width, height);
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  to.clearRect(0, 0, width, height);
  const usual = new Path2D();
  const slow = new Path2D();
  const ground = new Path2D();
  lanes.forEach((one, i) => {
    const top = i * lane + lane - BAR - 3;
    ground.rect(left, top, right - left, BAR);
    for (const bar of one.bars) {
      const from = Math.max(x(bar.from), left);
      const until = Math.min(Math.max(x(bar.to), from + BAR_MIN), right);
      if (until > left && from < right) (bar.step.slow ? slow : usual).rect(from, top, until - from, BAR);
    }
  });
  to.fillStyle = colour("quiet-ground");
  to.fill(ground);
  to.fillStyle = colour("link");
  to.fill(usual);
  to.fillStyle = colour("bad");
  to.fill(slow);
  to.font = "400 11px system-ui, sans-serif";
  to.fillStyle = colour("soft");
  to.textBaseline = "middle";
  to.textAlign = narrow ? "left" : "right";
  lanes.forEach((one, i) => to.fillText(harmless(narrow ? one.name : one.name.replace(/ · [^·]*$/, "")),
    narrow ? left : left - 10, i * lane + (narrow ? 7 : lane - BAR / 2 - 3), narrow ? right - left : left - 14));
}

interface LanesProps {
  flows: readonly FlowJob[];
  left: number;
  right: number;
  width: number;
  moving: MovingView;
  /** From the axis to pixels, as the view is now. */
  x: () => (ms: number) => number;
}

export function FlowLanes(props: LanesProps) {
  const { left, right, width, moving } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const zone = useContext(ZoneContext);
  const [said, setSaid] = useState("");
  const all = useMemo(() => lanesOf(props.flows), [props.flows]);
  const lanes = all.slice(0, LANES_MAX);
  const narrow = left <= 60;
  const lane = narrow ? NARROW_LANE : LANE;
  const height = lanes.length * lane;
  const paint = useRef(() => {});
  useEffect(() => {
    paint.current = () => drawLanes(canvas.current!, lanes, { left, right, width, height, lane, narrow, x: props.x() });
    moving.redraw();
  });
  useEffect(() => moving.drawnBy(() => paint.current()), [moving]);
  const move = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const at = event.clientX - box.left;
    const one = lanes[Math.floor((event.clientY - box.top) / lane)];
    const x = props.x();
    if (!one) return setSaid("");
    const hit = one.bars.find((bar) => at >= x(bar.from) - 2 && at <= Math.max(x(bar.to), x(bar.from) + BAR_MIN) + 2);
    return setSaid(`${harmless(one.name)}${hit ? ` · step at ${timeText(millis(hit.step.begin)!, zone, serverNow())} · exchange of ${
      span(hit.to - hit.from)}${hit.step.slow ? " · slow" : ""}` : ""}`);
  };
  const slow = props.flows.reduce((count, job) => count + job.steps.filter((step) => step.slow).length, 0);
  const findings = props.flows.flatMap((job) => job.findings).slice(-FINDINGS).reverse();
  return (
    <div className="flows" role="group" aria-label="Groups on the training network">
      <h3>Groups on the training network <span className="note">a bar is the exchange of a group in a step; {slow > 0
        ? `${counted(slow, "step")} slow` : "no step is slow"}</span></h3>
      <canvas ref={canvas} className="lanes" style={{ width: `${width}px`, height: `${height}px` }} role="img"
        aria-label={`${counted(all.length, "group")} of cards: ${[...new Set(all.map((one) => WORDS[one.group.label] ?? one.group.label))]
          .join(", ")} parallel`} onPointerMove={move} onPointerLeave={() => setSaid("")} />
      <p className="readout">{said || (all.length > LANES_MAX ? `${grouped(all.length - LANES_MAX)} more groups are not drawn` : "\u00a0")}</p>
      {findings.length > 0 && <ul className="why">{findings.map((one, i) => <li key={i}>{findingText(one)} <Time at={one.since} /></li>)}</ul>}
    </div>
  );
}

function findingText(one: FlowFinding) {
  return <>{spoken(one.kind)}{one.place.length > 0 && <>: <Wild text={some(one.place, 4)} />{one.ambiguous
    && <span className="note"> (one of them)</span>}</>} since</>;
}

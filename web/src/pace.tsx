// The pace of jobs, from the iterations that this page has seen go by.
import { line } from "d3-shape";
import type { Job } from "./api_types";
import { span } from "./format";

interface Sample {
  at: number; // ms
  iteration: number;
}

const KEPT = 60;
const samples = new Map<string, Sample[]>();

/** Remembers where each job stands; `at`: when the rows were made. */
export function notePace(jobs: readonly Job[], at: number): void {
  for (const job of jobs) {
    if (job.iteration === null) continue;
    const key = `${job.id}\n${job.attempt}`;
    const kept = samples.get(key) ?? [];
    const last = kept[kept.length - 1];
    if (last && (at - last.at < 1_000 || job.iteration < last.iteration)) continue;
    kept.push({ at, iteration: job.iteration });
    samples.set(key, kept.slice(-KEPT));
  }
}

/** Iterations a second between samples, the oldest first. */
function ratesOf(job: Job): number[] {
  const kept = samples.get(`${job.id}\n${job.attempt}`) ?? [];
  const rates: number[] = [];
  for (let i = 1; i < kept.length; i += 1) {
    const before = kept[i - 1]!;
    const here = kept[i]!;
    rates.push((here.iteration - before.iteration) / ((here.at - before.at) / 1_000));
  }
  return rates;
}

const WIDTH = 72;
const HEIGHT = 20;

/** Of a job that goes on: the row of a failing one has the iteration in which it failed. */
export function Pace(props: { job: Job }) {
  if (props.job.incident !== null || props.job.suspect || props.job.ended) return null;
  const rates = ratesOf(props.job);
  if (rates.length < 3) return null;
  const most = Math.max(...rates, 1e-9);
  const recent = rates.slice(-6);
  const mean = recent.reduce((sum, rate) => sum + rate, 0) / recent.length;
  const text = mean > 0 ? `${span(1_000 / mean)} each` : "stands still";
  const path = line<number>().x((_, i) => 1 + (WIDTH - 2) * i / (rates.length - 1))
    .y((rate) => HEIGHT - 2 - (rate / most) * (HEIGHT - 4))(rates);
  return (
    <span className="pace" title={`iterations a second since this page is open; now ${text}`}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
        <path d={path ?? ""} />
      </svg>
      <span>{text}</span>
    </span>
  );
}

// The pace of jobs: what their iterations took lately, as the aggregator knows it from the lines, or, of lines without times
// and timers, from the iterations that this page has seen go by.
import { line } from "d3-shape";
import type { Job } from "./api_types";
import { took } from "./format";

interface Sample {
  at: number; // ms
  iteration: number;
}

const KEPT = 60;
const LEAST = 3; // of a curve
const RECENT = 5; // that tell the pace of now
const samples = new Map<string, Sample[]>();

/** Remembers where each job stands whose lines do not tell its pace; `at`: when the rows were made. */
export function notePace(jobs: readonly Job[], at: number): void {
  for (const job of jobs) {
    if (job.iteration === null || job.course_ms?.length) continue;
    const key = `${job.id}\n${job.attempt}`;
    const kept = samples.get(key) ?? [];
    const last = kept[kept.length - 1];
    if (last && (at - last.at < 1_000 || job.iteration <= last.iteration)) continue;
    kept.push({ at, iteration: job.iteration });
    samples.set(key, kept.slice(-KEPT));
  }
}

/** What an iteration took, oldest first, in ms. */
function courseOf(job: Job): readonly number[] {
  if (job.course_ms?.length) return job.course_ms;
  const kept = samples.get(`${job.id}\n${job.attempt}`) ?? [];
  return kept.slice(1).map((here, i) => (here.at - kept[i]!.at) / (here.iteration - kept[i]!.iteration));
}

const WIDTH = 72;
const HEIGHT = 20;

/** The curve of a failing job shows how it went until then; only of one that goes on a pace is told. */
export function Pace(props: { job: Job }) {
  const goesOn = props.job.incident === null && !props.job.suspect && !props.job.ended;
  const course = courseOf(props.job);
  if (course.length < LEAST) return null;
  const most = Math.max(...course, 1e-9);
  const recent = course.slice(-RECENT);
  const text = `${took(recent.reduce((sum, one) => sum + one, 0) / recent.length)} each`;
  const path = line<number>().x((_, i) => 1 + (WIDTH - 2) * i / (course.length - 1))
    .y((ms) => HEIGHT - 2 - (ms / most) * (HEIGHT - 4))(course);
  return (
    <span className="pace" title={`what the last iterations took, at most ${took(most)}; in the end ${text}`}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
        <path d={path ?? ""} />
      </svg>
      {goesOn && <span>{text}</span>}
    </span>
  );
}

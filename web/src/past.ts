// A job as it stood, made of what is known of it now, where the aggregator has no report of that time.
import type { Report } from "./api_types";
import { millis } from "./format";

/** What events, iterations and stages up to `at` tell. A verdict on what began later is left out. */
export function reportAt(report: Report, at: number): Report {
  const been = (time: string | null) => (millis(time) ?? Infinity) <= at;
  const cut = (time: string | null) => time === null || been(time) ? time : new Date(at).toISOString();
  const begun = been(report.verdict.since) && report.verdict.state !== "healthy" && report.verdict.state !== "finished";
  const stages = report.stages.filter((one) => been(one.begin)).map((one) => ({ ...one, end: cut(one.end) }));
  return {
    ...report, stages,
    job: { ...report.job, end: cut(report.job.end) },
    events: report.events.filter((one) => been(one.first.time)),
    iterations: report.iterations.filter((one) => been(one.begin)),
    advice: "There is no report of this time. The map and the events below stand as they did then; the verdict is what is known now.",
    ...begun ? {} : {
      nodes: [], ranks: [], faults: [], clues: [], notable: [],
      verdict: { ...report.verdict, state: "unknown", confidence: 0, since: null, iteration: null,
                 stage: stages[stages.length - 1]?.stage ?? null, summary: "How the job stood then is not kept" },
    },
  };
}

// The sentence of each open incident, and how sure it is, asked for once per change of it.
import { useEffect, useState } from "react";
import { get } from "./api";
import type { Job } from "./api_types";
import { incidentPath } from "./brief";

const AT_ONCE = 3;
const MOST = 40; // jobs that are shown with a sentence

export interface Said { text: string; confidence: number }

/** job -> what its open incident says */
export function useSentences(jobs: readonly Job[] | undefined): ReadonlyMap<string, Said> {
  const [known, setKnown] = useState<ReadonlyMap<string, Said & { key: string }>>(new Map());
  useEffect(() => {
    const stopper = new AbortController();
    const wanted = (jobs ?? []).filter((job) => job.incident !== null).slice(0, MOST)
      .map((job) => ({ job: job.id, id: job.incident!, key: `${job.incident} ${job.state} ${job.since}` }))
      .filter(({ job, key }) => known.get(job)?.key !== key);
    const next = async () => {
      for (let one = wanted.shift(); one; one = wanted.shift()) {
        const { job, key, id } = one;
        try {
          const { brief } = await get("incident_brief", incidentPath(id), stopper.signal);
          if (brief) setKnown((before) => new Map(before).set(job, { key, text: brief.report.verdict.summary,
            confidence: brief.report.verdict.confidence }));
        } catch {
          // Asked for again with the next list.
        }
      }
    };
    for (let i = 0; i < AT_ONCE; i += 1) void next();
    return () => stopper.abort();
  }, [jobs]);
  const sentences = new Map<string, Said>();
  for (const job of jobs ?? []) {
    const said = known.get(job.id);
    if (said && job.incident !== null) sentences.set(job.id, said);
  }
  return sentences;
}

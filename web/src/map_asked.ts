// What the map asks the aggregator for.
import { useContext, useEffect, useMemo, useState } from "react";
import { askAhead, idIn } from "./api";
import type { FlowJob, Incident, Scores } from "./api_types";
import { handed } from "./handed";
import { useAsked } from "./live";
import { textOf } from "./map_link";
import type { Range } from "./map_link";
import { LimitContext } from "./parts";

const SCORES_MS = 10_000;
const PAST_MS = 3_600_000; // the past does not change
const AGENTS_MS = 15_000;
const INCIDENTS_MS = 15_000;
const FLOWS_MS = 10_000;
const FLOW_STEPS = 400; // the latest
const NO_FLOWS_MS = 600_000; // where no records of flows are received
export const ROWS_MAX = 4_096;
const CELLS_MAX = 2_000_000; // of an answer, which has at most 4 MiB

export type What = Scores["what"];

/** How many columns are worth their room: of the window, since the map's own width is known only when it is there. */
export function columnsOf(rows: number): number {
  return Math.floor(Math.max(40, Math.min(1_000, window.innerWidth / 4, CELLS_MAX / Math.max(rows, 1))));
}

function scoresPath(job: string, asked: Record<string, string>): string {
  return `${idIn("jobs/{id}/scores", job)}?${new URLSearchParams(asked)}`;
}

/** Asks for what the map most likely shows first, while the report is on its way. */
export function askScoresAhead(job: string, query: URLSearchParams): void {
  if ((query.get("map") ?? "nodes") === "nodes")
    askAhead(scoresPath(job, { what: "nodes", rows: String(ROWS_MAX), width: String(columnsOf(0)) }));
}

/** `upTo`: where the past that is shown ends, on the axis; null: now. */
export function useScores(job: string, what: What, range: Range | null, upTo: number | null, by: string, width: number) {
  const asked: Record<string, string> = { what, rows: String(ROWS_MAX), width: String(width) };
  if (range) asked["from"] = textOf(range.from, by);
  const to = Math.min(range?.to ?? Infinity, upTo ?? Infinity);
  if (to < Infinity) asked["to"] = textOf(to, by);
  return useAsked("scores", width > 0 ? scoresPath(job, asked) : null, upTo === null ? SCORES_MS : PAST_MS,
    upTo === null ? job : "");
}

/** Flows of the job on the training network; empty where none are received. */
export function useFlows(job: string): readonly FlowJob[] {
  const [none, setNone] = useState(false);
  const asked = useAsked("job_flows", handed ? null : `${idIn("jobs/{id}/flows", job)}?count=${FLOW_STEPS}`,
    none ? NO_FLOWS_MS : FLOWS_MS, "");
  useEffect(() => setNone(asked.data?.on === false), [asked.data]);
  return useMemo(() => asked.data?.flows.filter((one) => one.groups.length > 0 && one.steps.length > 0) ?? [], [asked.data]);
}

/** Names of agents that are lost; nobody's in one file, and none for a token that is limited to jobs. */
export function useLost(): ReadonlySet<string> {
  const limit = useContext(LimitContext);
  const status = useAsked("status", handed || limit !== null ? null : "status", AGENTS_MS);
  const asked = useAsked("agents", status.data?.agents_lost ? "agents" : null, AGENTS_MS); // a long list
  const names = (asked.data?.agents ?? []).filter((agent) => agent.lost).map((agent) => agent.agent).join("\n");
  return useMemo(() => new Set(names ? names.split("\n") : []), [names]);
}

const NO_INCIDENTS: readonly Incident[] = [];

export function useIncidents(job: string): readonly Incident[] {
  const asked = useAsked("incidents", handed ? null : `incidents?job=${encodeURIComponent(job)}&count=50`, INCIDENTS_MS, job);
  return asked.data?.incidents ?? NO_INCIDENTS;
}

// The head of a report, which is all that a page shows of it, and how much it leaves out.
import { askAhead, idIn } from "./api";
import type { Answers, Report, ReportEvent } from "./api_types";
import { askScoresAhead } from "./map_asked";
import type { Route } from "./route";

const ROWS = 16; // more than can be pinned in a map or stand in a list of suspects

/** A report whose long lists may be cut. */
export interface Told extends Report {
  /** How many there are in all; without it the lists are complete. */
  whole?: Answers["brief"]["whole"];
  events: ToldEvent[];
}

export interface ToldEvent extends ReportEvent {
  /** On how many nodes it is; without it its list is complete. */
  on?: number;
}

export function toldBy({ report, whole }: Answers["brief"]): Told {
  return { ...report, whole, events: report.events.map((event, i) => ({ ...event, on: whole.event_nodes[i] })) };
}

export function briefPath(job: string): string {
  return `${idIn("jobs/{id}/brief", job)}?rows=${ROWS}`;
}

export function incidentPath(incident: string): string {
  return idIn("incidents/{id}/brief", incident);
}

/** Asks for what the view shows first. Of a job that is the report that was made last, since a new one may take seconds, and
    the scores that the map most likely shows. */
export function askViewAhead({ view, id, query }: Route): void {
  if (view === "incidents" && id) askAhead(incidentPath(id));
  if (view !== "jobs" || query.get("at")) return;
  askAhead(briefPath(id), `${briefPath(id)}&last=true`);
  askScoresAhead(id, query);
}

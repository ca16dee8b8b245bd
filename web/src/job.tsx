// One job: the verdict, who and what to do, the map, what shows it.
import { useEffect, useMemo, useState } from "react";
import { idIn } from "./api";
import { askViewAhead, briefPath, toldBy } from "./brief";
import type { Job as JobRow, Node } from "./api_types";
import { millis } from "./format";
import { Ago, Failure, Loading, Time, Wild } from "./parts";
import { useAsked, useNow } from "./live";
import { Later } from "./later";
import { LinesPanel, useLines } from "./lines";
import { NodeMap } from "./map";
import { reportAt } from "./past";
import { Had, MaintenanceButton, SilentJob } from "./quiet";
import { Events, Fact, KnownFault, Notable, Read, Suspects, Verdict } from "./report";
import { setQuery, to } from "./route";
import type { Route } from "./route";

const ROW_MS = 5_000;
const REPORT_MS = 10_000;
const NODES_MS = 15_000;
const PAST_MS = 3_600_000; // the past does not change
const PAST_MAX_MS = 86_400_000;
const NOW_MS = 2_000; // what is younger counts as now
const NO_JOB = ""; // nothing that happens now changes the past

function Crumbs(props: { id: string; row: JobRow | null }) {
  const incident = props.row?.incident;
  return (
    <nav className="crumbs" aria-label="Where you are">
      <a href={to("fleet")}>Fleet</a> <span aria-hidden="true">/</span> <b><Wild text={props.id} /></b>
      {incident && <a className="right" href={to("incidents", incident)}>The incident →</a>}
    </nav>
  );
}

const PAST_DEFAULT_MS = 3_600_000; // how far back one can go where the job does not say when it began

/** Chooses a time of the past; what the aggregator still has of it, it says itself. */
function Past(props: { job: string; at: string; begin: string | null }) {
  const now = useNow();
  const begin = Math.max(millis(props.begin) ?? 0, now - PAST_MAX_MS);
  const from = begin < now ? begin : now - PAST_DEFAULT_MS;
  const chosen = millis(props.at);
  const [held, setHeld] = useState(chosen); // null: now
  useEffect(() => setHeld(chosen), [props.at]);
  const value = held ?? now;
  const settle = () => setQuery({ at: held === null ? "" : new Date(held).toISOString() });
  const move = (to_: number) => setHeld(now - to_ < NOW_MS ? null : to_);
  return (
    <div className="past">
      <label htmlFor="past">{chosen === null ? "The past" : "As it stood"}</label>
      <input id="past" type="range" min={from} max={now} step={1_000} value={value} onPointerUp={settle} onKeyUp={settle}
        aria-valuetext={new Date(value).toISOString()} onChange={(event) => move(Number(event.target.value))} />
      {held !== null ? <Time at={new Date(held).toISOString()} /> : <span className="note">now</span>}
      {chosen !== null && <button type="button" className="quiet" onClick={() => setQuery({ at: "" })}>Back to now</button>}
      {chosen !== null && <Later of={({ KeptReports }) => <KeptReports job={props.job} at={chosen} />} />}
    </div>
  );
}

export function Job(props: { route: Route }) {
  const { id } = props.route;
  const at = props.route.query.get("at") ?? "";
  useState(() => askViewAhead(props.route)); // before anything else is asked for
  const present = useAsked("brief", at ? null : briefPath(id), REPORT_MS, id);
  const snapshot = idIn("jobs/{id}/snapshot", id);
  const then = useAsked("snapshot", at ? `${snapshot}?at=${encodeURIComponent(at)}` : null, PAST_MS, NO_JOB);
  const report = at ? then : present;
  const told = useMemo(() => present.data && toldBy(present.data), [present.data]);
  const row = useAsked("job", idIn("jobs/{id}", id), ROW_MS, id);
  const upTo = millis(at);
  // Where no report of then can be made, what is known now tells of it.
  const known = useAsked("snapshot", upTo !== null && then.error && !then.data ? snapshot : null, PAST_MS, NO_JOB);
  const past = useMemo(() => known.data && upTo !== null ? reportAt(known.data, upTo) : null, [known.data, upTo]);
  const nodes = useAsked("nodes", `${idIn("jobs/{id}/nodes", id)}?last=true`, NODES_MS, id);
  const [lines, setLines] = useLines(props.route);
  const [silencing, setSilencing] = useState<string | null>(null); // a node, or empty: the job
  const shown = at ? then.data ?? past : told;
  useEffect(() => {
    const state = shown?.verdict.state;
    document.title = state ? `${state.split("_").join(" ")} · ${id}` : id;
  }, [shown, id]);
  const byName = useMemo(() => new Map<string, Node>((nodes.data?.nodes ?? []).map((node) => [node.node, node])),
    [nodes.data]);
  if (!shown) {
    return <main id="main"><Crumbs id={id} row={row.data} />
      {at && <Past job={id} at={at} begin={row.data?.begin ?? null} />}
      {report.error ? <Failure error={report.error} what="The job" again={report.again} /> : <Loading what="the report" />}
    </main>;
  }
  const again = () => { row.again(); nodes.again(); };
  return (
    <main id="main" className={lines ? "beside" : ""}>
      <Crumbs id={id} row={row.data} />
      <Verdict report={shown} suspect={at === "" && row.data?.suspect}>
        {row.data && <Fact name="Last line"><Ago at={row.data.last_seen} /></Fact>}
      </Verdict>
      <div className="duties">
        <Had by={row.data?.acknowledged_by} />
        <SilentJob job={row.data} nodes={nodes.data?.nodes ?? []} again={again} />
        <MaintenanceButton open={() => setSilencing("")} />
        {at === "" && <Later of={({ Keep }) => <Keep job={id} />} />}
      </div>
      <Past job={id} at={at} begin={row.data?.begin ?? null} />
      {report.error && <Failure error={report.error} what={at ? "The report of then" : "What is new"} again={at ? report.again : undefined} />}
      <div className="pair">
        <KnownFault report={shown} />
        <Suspects report={shown} ask={setLines} silence={setSilencing} silent={byName} />
      </div>
      <NodeMap job={row.data} id={id} report={shown} nodes={byName} route={props.route} upTo={upTo} ask={setLines} />
      <Events report={shown} ask={setLines} />
      <Notable report={shown} />
      <Read report={shown} />
      {silencing !== null && <Later of={({ MaintenanceDialog }) => <MaintenanceDialog job={id} node={silencing}
        close={() => setSilencing(null)} done={again} />} />}
      {lines && <LinesPanel key={JSON.stringify(lines)} job={id} query={lines} close={() => setLines(null)} />}
    </main>
  );
}

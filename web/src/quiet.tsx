// What nobody is alerted about: an incident that somebody has, jobs and nodes in maintenance.
import { useContext, useState } from "react";
import type { FormEvent, ReactNode } from "react";
import { ApiError, erase, idIn, post } from "./api";
import type { Incident, Job, Maintenance, Node } from "./api_types";
import { counted } from "./format";
import { useAsked } from "./live";
import { RoleContext, Time, Wild } from "./parts";

const LIST_MS = 30_000;
const TEXT_MAX = 500;

/** One request at a time, and what was said of it. */
export function useRequest(done: () => void) {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const run = (work: Promise<unknown>) => {
    setBusy(true);
    setSaid("");
    work.then(done, (error: unknown) => setSaid(error instanceof ApiError ? `${error.message}.` : String(error)))
      .finally(() => setBusy(false));
  };
  return { busy, said, run };
}

/** Who has an incident, in a list. */
export function Had(props: { by: string | null | undefined }) {
  return props.by ? <span className="badge had"><Wild text={props.by} /> has it</span> : null;
}

export function SilentBadge(props: { until: string | null | undefined }) {
  return props.until ? <span className="badge silent">silent until <Time at={props.until} /></span> : null;
}

/** Who has the incident; a button for who may take it. */
export function Acknowledge(props: { incident: Incident; again: () => void }) {
  const { incident } = props;
  const may = useContext(RoleContext) === "operate";
  const [note, setNote] = useState("");
  const { busy, said, run } = useRequest(props.again);
  const path = idIn("incidents/{id}/acknowledgement", incident.id);
  const open = incident.status === "open";
  if (!incident.acknowledged_by && (!open || !may)) return null;
  return (
    <div className={`duty ${incident.acknowledged_by ? "had" : ""}`} role="group" aria-label="Who has it">
      {incident.acknowledged_by
        ? <><p><b><Wild text={incident.acknowledged_by} /></b> has it since <Time at={incident.acknowledged_at} />
            {incident.acknowledged_note && <>: <Wild text={incident.acknowledged_note} /></>}
            {open && <span className="note"> Nobody is alerted of its changes.</span>}</p>
          {may && open && <button type="button" disabled={busy} onClick={() => run(erase(path))}>Take it back</button>}</>
        : <form onSubmit={(event: FormEvent) => { event.preventDefault(); run(post(path, note.trim() ? { note: note.trim() } : {})); }}>
            <input id="note" value={note} maxLength={TEXT_MAX} placeholder="What you do about it (optional)"
              aria-label="Note" onChange={(event) => setNote(event.target.value)} />
            <button type="submit" className="main" disabled={busy}>Acknowledge</button>
          </form>}
      {said && <p className="warn" role="alert"><Wild text={said} /></p>}
    </div>
  );
}

/** One maintenance, with a button that ends it. */
export function Silence(props: { row: Maintenance; what: ReactNode; again: () => void }) {
  const { row } = props;
  const may = useContext(RoleContext) === "operate";
  const { busy, said, run } = useRequest(props.again);
  return (
    <div className="duty silent" role="group" aria-label="Maintenance">
      <p><b>{props.what}</b> {row.active ? <>until <Time at={row.until} /></> : <>until it was over at <Time
        at={row.ended ?? row.until} /></>}, by <Wild text={row.who} />: <Wild text={row.why} /></p>
      {may && row.active && <button type="button" disabled={busy}
        onClick={() => run(erase(idIn("maintenance/{id}", row.id)))}>End it now</button>}
      {said && <p className="warn" role="alert"><Wild text={said} /></p>}
    </div>
  );
}

/** What is silent of a job: itself, or some of its nodes. */
export function SilentJob(props: { job: Job | null; nodes: readonly Node[]; again: () => void }) {
  const silent = props.nodes.filter((node) => node.silent_until);
  const asked = useAsked("maintenance", props.job?.silent_until || silent.length > 0 ? "maintenance" : null, LIST_MS);
  const rows = asked.data?.maintenance ?? [];
  const of = (kind: string, until: string | null | undefined) =>
    rows.find((row) => row.kind === kind && row.until === until);
  const job = of("job", props.job?.silent_until);
  const ends = [...new Set(silent.map((node) => node.silent_until))];
  return <>
    {job && <Silence row={job} what="In maintenance: nobody is alerted about this job" again={props.again} />}
    {ends.map((end) => {
      const row = of("node", end);
      const names = silent.filter((node) => node.silent_until === end);
      return row && <Silence key={row.id} row={row} again={props.again} what={<>{names.length === 1
        ? <Wild text={names[0]!.node} /> : counted(names.length, "node")} in maintenance:
        nobody is alerted about {names.length === 1 ? "it" : "them"}</>} />;
    })}
  </>;
}

/** The maintenance that held back the alert of an incident. */
export function SilentIncident(props: { incident: Incident; again: () => void }) {
  const id = props.incident.maintenance ?? null;
  const asked = useAsked("maintenance", id && "maintenance?over=true", LIST_MS);
  const row = asked.data?.maintenance.find((one) => one.id === id);
  return row ? <Silence row={row} again={props.again} what={<>In maintenance: nobody is alerted about {row.kind}s
    called <Wild text={row.pattern} /></>} /> : null;
}

/** Opens the dialogue, for who may. */
export function MaintenanceButton(props: { open: () => void }) {
  return useContext(RoleContext) === "operate"
    ? <button type="button" className="maintenance" onClick={props.open}>Maintenance …</button> : null;
}


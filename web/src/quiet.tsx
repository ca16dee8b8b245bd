// What nobody is alerted about: an incident that somebody has, jobs and nodes in maintenance.
import { useContext, useEffect, useRef, useState } from "react";
import type { FormEvent, ReactNode } from "react";
import { ApiError, erase, idIn, post } from "./api";
import type { Incident, Job, Maintenance, Node } from "./api_types";
import { counted } from "./format";
import { serverNow, useAsked } from "./live";
import { RoleContext, Time, Wild } from "./parts";

const LIST_MS = 30_000;
const HOUR_MS = 3_600_000;
const LENGTHS: [number, string][] = [[1, "1 hour"], [4, "4 hours"], [12, "12 hours"], [24, "1 day"], [72, "3 days"], [168, "a week"]];
const TEXT_MAX = 500;
const PATTERN_MAX = 200;

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

/** Silences a job, or nodes by a pattern, for a time. */
export function MaintenanceDialog(props: { job: string; node: string; close: () => void; done: () => void }) {
  const [kind, setKind] = useState<"job" | "node">(props.node ? "node" : "job");
  const [names, setNames] = useState({ job: props.job, node: props.node });
  const [hours, setHours] = useState(LENGTHS[1]![0]);
  const [why, setWhy] = useState("");
  const box = useRef<HTMLFormElement>(null);
  const { busy, said, run } = useRequest(() => { props.done(); props.close(); });
  useEffect(() => {
    const before = document.activeElement;
    box.current?.querySelector<HTMLElement>("#why")?.focus();
    return () => { if (before instanceof HTMLElement) before.focus(); };
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(post("maintenance", { [kind]: names[kind].trim(), why: why.trim(),
                              until: new Date(serverNow() + hours * HOUR_MS).toISOString() }));
  };
  const choice = (one: "job" | "node", text: string) => <label><input type="radio" name="kind" checked={kind === one}
    onChange={() => setKind(one)} /> {text}</label>;
  return (
    <div className="veil" onClick={props.close}>
      <form className="dialog maintain" role="dialog" aria-modal="true" aria-label="Maintenance" ref={box} onSubmit={submit}
        onClick={(event) => event.stopPropagation()}
        onKeyDown={(event) => { if (event.key === "Escape") { event.stopPropagation(); props.close(); } }}>
        <header><h2>Maintenance</h2><button type="button" className="quiet" onClick={props.close} aria-label="Close">✕</button></header>
        <p className="note">Nobody is alerted for a time. Incidents are still recorded; what is open at the end is sent then.</p>
        <fieldset><legend>What</legend>{choice("job", "the job")}{choice("node", "nodes")}</fieldset>
        <label htmlFor="pattern">Name, or a pattern such as rack-7-*</label>
        <input id="pattern" required value={names[kind]} maxLength={PATTERN_MAX}
          onChange={(event) => setNames({ ...names, [kind]: event.target.value })} />
        <label htmlFor="hours">For</label>
        <select id="hours" value={hours} onChange={(event) => setHours(Number(event.target.value))}>
          {LENGTHS.map(([count, word]) => <option key={count} value={count}>{word}</option>)}</select>
        <label htmlFor="why">Why</label>
        <input id="why" required value={why} maxLength={TEXT_MAX} placeholder="everybody sees it"
          onChange={(event) => setWhy(event.target.value)} />
        {said && <p className="warn" role="alert"><Wild text={said} /></p>}
        <div className="buttons"><button type="submit" className="main" disabled={busy || !why.trim() || !names[kind].trim()}>
          Silence it</button><button type="button" onClick={props.close}>Cancel</button></div>
      </form>
    </div>
  );
}

/** Opens the dialogue, for who may. */
export function MaintenanceButton(props: { open: () => void }) {
  return useContext(RoleContext) === "operate"
    ? <button type="button" className="maintenance" onClick={props.open}>Maintenance …</button> : null;
}


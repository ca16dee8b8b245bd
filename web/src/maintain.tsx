// The dialogue that silences a job, or nodes by a pattern, for a time.
import { useEffect, useRef, useState } from "react";
import type { FormEvent } from "react";
import { post } from "./api";
import { serverNow } from "./live";
import { Wild } from "./parts";
import { useRequest } from "./quiet";

const HOUR_MS = 3_600_000;
const LENGTHS: [number, string][] = [[1, "1 hour"], [4, "4 hours"], [12, "12 hours"], [24, "1 day"], [72, "3 days"], [168, "a week"]];
const TEXT_MAX = 500;
const PATTERN_MAX = 200;

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

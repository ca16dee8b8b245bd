// The list of incidents: the open ones, then the newest, with a search.
import { useCallback, useRef, useState } from "react";
import { get } from "./api";
import type { Incident } from "./api_types";
import { grouped, millis, spoken } from "./format";
import { Search } from "./lists";
import { useAsked } from "./live";
import { Empty, NotYet, StateMark, Time, Wild, useRows } from "./parts";
import { Had } from "./quiet";
import { setQuery, to } from "./route";
import type { Route } from "./route";

const LIST_MS = 5_000;
const INCIDENTS = 200; // of a page of the list

/** The open and the newest incidents, kept up to date, and the older ones that were asked for. */
function useIncidents() {
  const newest = useAsked("incidents", `incidents?count=${INCIDENTS}`, LIST_MS);
  const open = useAsked("incidents", "incidents?open=true&count=1000", LIST_MS);
  const held = useRef({ rows: new Map<string, Incident>(), next: null as string | null, of: newest.data });
  const [, setRound] = useState(0);
  const busy = useRef(false);
  const { rows } = held.current;
  if (newest.data && held.current.of !== newest.data) {
    // Without a row in common there may be others between those that are held and these.
    if (!newest.data.incidents.some((row) => rows.has(row.id))) {
      rows.clear();
      held.current.next = newest.data.next;
    }
    newest.data.incidents.forEach((row) => rows.set(row.id, row));
    held.current.of = newest.data;
  }
  const { next } = held.current;
  const more = useCallback(() => {
    if (busy.current || next === null) return;
    busy.current = true;
    get("incidents", `incidents?count=${INCIDENTS}&after=${encodeURIComponent(next)}`).then((page) => {
      page.incidents.forEach((row) => rows.set(row.id, row));
      held.current.next = page.next;
      setRound((one) => one + 1);
    }, () => undefined).finally(() => { busy.current = false; });
  }, [next, rows]);
  const opened = new Map((open.data?.incidents ?? []).map((row) => [row.id, row]));
  const others = [...rows.values()].filter((row) => !opened.has(row.id) && !(open.data && row.status === "open"));
  others.sort((a, b) => (millis(b.opened) ?? 0) - (millis(a.opened) ?? 0));
  return { asked: newest, rows: newest.data && [...opened.values(), ...others], more: next === null ? null : more };
}

/** What the search looks in. */
function textOf(row: Incident): string {
  return `${row.id} ${row.job} ${spoken(row.state)} ${row.status} ${row.acknowledged_by ?? ""} ${
    row.maintenance ? "maintenance" : ""} ${row.opened} ${row.resolved ?? ""}`.toLowerCase();
}

function Row(props: { row: Incident }) {
  const { row } = props;
  return (
    <tr className={row.status}>
      <td><StateMark state={row.state} /></td>
      <td className="name"><a href={to("incidents", row.id)}><Wild text={row.job} /></a>
        {row.attempt > 0 && <span className="note"> attempt {row.attempt}</span>}
        <Had by={row.acknowledged_by} />
        {row.maintenance && <span className="badge silent">maintenance</span>}</td>
      <td data-label="opened"><Time at={row.opened} /></td>
      <td data-label={row.status === "open" ? undefined : "resolved"}>{row.status === "open" ? <b>open</b>
        : <Time at={row.resolved} />}</td>
    </tr>
  );
}

export function Incidents(props: { route: Route }) {
  const { asked, rows, more } = useIncidents();
  const text = (props.route.query.get("q") ?? "").toLowerCase();
  const found = (rows ?? []).filter((row) => textOf(row).includes(text));
  const [shown, rest] = useRows(found, more);
  if (!rows) return <NotYet error={asked.error} what="the list of incidents" again={asked.again} />;
  const open = rows.filter((row) => row.status === "open").length;
  return (
    <main id="main">
      <div className="title"><h1>{open === 0 ? "No incident is open" : `${open} ${open === 1 ? "incident is" : "incidents are"} open`}</h1></div>
      {rows.length === 0 && <Empty><p>No job has failed yet. An attempt of a job that fails has one
        incident, which opens seconds after the failure.</p></Empty>}
      {rows.length > 0 && <Search route={props.route} what="incidents" />}
      {rows.length > 0 && found.length === 0 && !more && <Empty><p>No incident matches. <button type="button" className="quiet"
        onClick={() => setQuery({ q: "" })}>Show all {grouped(rows.length)}</button></p></Empty>}
      {found.length > 0 && <div className="scroll"><table>
        <thead><tr><th>State</th><th>Job</th><th>Opened</th><th>Resolved</th></tr></thead>
        <tbody>{shown.map((row) => <Row key={row.id} row={row} />)}</tbody>
      </table></div>}
      {rest}
    </main>
  );
}

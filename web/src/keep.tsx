// Stores the report of a job as it stands, so that a link shows to others what one sees now.
import { useContext, useState } from "react";
import { ROOT, idIn, post } from "./api";
import type { Snapshot } from "./api_types";
import { Copy, RoleContext, Time, Wild } from "./parts";
import { useRequest } from "./quiet";
import { to } from "./route";

export function Keep(props: { job: string }) {
  const may = useContext(RoleContext) === "operate";
  const [kept, setKept] = useState<Snapshot | null>(null);
  const { busy, said, run } = useRequest(() => undefined);
  if (!may) return null;
  const path = kept ? to("jobs", props.job, { at: kept.at }) : "";
  return <>
    <button type="button" className="keep" disabled={busy} onClick={() => run(post<Snapshot>(idIn("jobs/{id}/snapshots", props.job), {})
      .then(setKept))}>Keep this report</button>
    {kept && <span className="note" role="status">kept as of <a href={path}><Time at={kept.at} /></a> <Copy what="link"
      text={new URL(path, ROOT).href} /></span>}
    {said && <span className="warn" role="alert"><Wild text={said} /></span>}
  </>;
}

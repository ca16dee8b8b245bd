// The page: which view an address shows.
import { StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { askViewAhead } from "./brief";
import { Fleet } from "./fleet";
import { ReportFile } from "./file";
import { handed } from "./handed";
import { Incident } from "./incident";
import { Job } from "./job";
import { Later } from "./later";
import { stream } from "./live";
import { Empty } from "./parts";
import { followLinks, routeNow, to, useRoute } from "./route";
import { FileShell, Shell } from "./shell";

const TITLES: Record<string, string> = { fleet: "L4", incidents: "Incidents · L4", agents: "Agents · L4", faults: "Faults · L4",
  pool: "Pool · L4", alerts: "Alerts · L4" };

function View() {
  const route = useRoute();
  useEffect(() => {
    if (!route.id) document.title = TITLES[route.view] ?? "L4";
  }, [route.view, route.id]);
  switch (route.view) {
    case "fleet": return <Fleet route={route} />;
    case "jobs": return <Job key={route.id} route={route} />;
    case "incidents": return route.id ? <Incident key={route.id} route={route} />
      : <Later what="the list of incidents" of={({ Incidents }) => <Incidents route={route} />} />;
    case "agents": return <Later what="the list of agents" of={({ Agents }) => <Agents route={route} />} />;
    case "faults": return <Later what="the list of faults" of={({ Faults }) => <Faults key={route.id} route={route} />} />;
    case "pool": return <Later what="the pool" of={({ Pool }) => <Pool route={route} />} />;
    case "alerts": return <Later what="the list of sinks" of={({ Alerts }) => <Alerts route={route} />} />;
    default: return <main id="main"><Empty><p>There is nothing at this address. <a href={to("fleet")}>To the fleet</a></p></Empty></main>;
  }
}

if (!handed) askViewAhead(routeNow());
const root = createRoot(document.getElementById("app")!);
if (handed) {
  root.render(<StrictMode><FileShell><ReportFile handed={handed} /></FileShell></StrictMode>);
} else {
  followLinks();
  stream.start();
  root.render(<StrictMode><Shell><View /></Shell></StrictMode>);
}

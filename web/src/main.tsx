// The page: which view an address shows.
import { StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { Fleet, Incidents } from "./fleet";
import { ReportFile } from "./file";
import { handed } from "./handed";
import { Incident } from "./incident";
import { Job } from "./job";
import { Alerts } from "./alerts";
import { Agents, Faults } from "./lists";
import { stream } from "./live";
import { Empty } from "./parts";
import { Pool } from "./pool";
import { followLinks, to, useRoute } from "./route";
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
    case "incidents": return route.id ? <Incident key={route.id} route={route} /> : <Incidents />;
    case "agents": return <Agents route={route} />;
    case "faults": return <Faults key={route.id} route={route} />;
    case "pool": return <Pool route={route} />;
    case "alerts": return <Alerts route={route} />;
    default: return <main id="main"><Empty><p>There is nothing at this address. <a href={to("fleet")}>To the fleet</a></p></Empty></main>;
  }
}

const root = createRoot(document.getElementById("app")!);
if (handed) {
  root.render(<StrictMode><FileShell><ReportFile handed={handed} /></FileShell></StrictMode>);
} else {
  followLinks();
  stream.start();
  root.render(<StrictMode><Shell><View /></Shell></StrictMode>);
}

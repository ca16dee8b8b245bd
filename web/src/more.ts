// The second script: views that few addresses show. It is asked for when the first of them is shown (later.tsx), and takes
// what it shares with the first script from there: web/CMakeLists.txt names these modules.
export { Alerts } from "./alerts";
export { Compare } from "./compare";
export { Tell } from "./confirm";
export { FlowLanes } from "./flow_lanes";
export { Incidents } from "./incidents";
export { Keep } from "./keep";
export { KeptReports } from "./kept";
export { Agents, Faults } from "./lists";
export { MaintenanceDialog } from "./maintain";
export { Pool } from "./pool";

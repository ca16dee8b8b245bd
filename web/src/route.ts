// Where one is: the address holds the whole view, so that a link shows what its sender saw.
import { useSyncExternalStore } from "react";
import { ROOT } from "./api";
import { handed } from "./handed";

export interface Route {
  view: string; // fleet, jobs, incidents, agents, alerts, faults, pool
  id: string;
  query: URLSearchParams;
}

const watchers = new Set<() => void>();

function read(): Route {
  const path = window.location.pathname.slice(ROOT.pathname.length).split("/");
  const view = path[0] || "fleet";
  let id = "";
  try {
    id = decodeURIComponent(path[1] ?? "");
  } catch {
    id = path[1] ?? "";
  }
  return { view: view === "jobs" && !id ? "fleet" : view, id,
           query: new URLSearchParams(window.location.search) };
}

let current = read();

function refresh(): void {
  current = read();
  watchers.forEach((watcher) => watcher());
}

window.addEventListener("popstate", refresh);

export function routeNow(): Route {
  return current;
}

export function useRoute(): Route {
  return useSyncExternalStore(
    (watcher) => { watchers.add(watcher); return () => watchers.delete(watcher); }, () => current);
}

/** The address of a view. */
export function to(view: string, id = "", query: Record<string, string> = {}): string {
  const url = new URL(view === "fleet" ? "./" : id ? `${view}/${encodeURIComponent(id)}` : view, ROOT);
  for (const [key, value] of Object.entries(query)) if (value) url.searchParams.set(key, value);
  return url.pathname + url.search;
}

export function go(address: string): void {
  window.history.pushState(null, "", address);
  refresh();
  window.scrollTo(0, 0);
}

/** Changes a part of the address; an empty value removes it. `push`: the way back leads to how it was. */
export function setQuery(changes: Record<string, string>, push = false): void {
  const url = new URL(window.location.href);
  for (const [key, value] of Object.entries(changes)) {
    if (value) url.searchParams.set(key, value);
    else url.searchParams.delete(key);
  }
  if (handed) { // a browser lets no script change the address of a file
    for (const [key, value] of Object.entries(changes)) current.query.set(key, value);
    current = { ...current };
    watchers.forEach((watcher) => watcher());
    return;
  }
  const address = url.pathname + url.search;
  if (address === window.location.pathname + window.location.search) return;
  if (push) window.history.pushState(null, "", address);
  else window.history.replaceState(null, "", address);
  refresh();
}

/** Links within the page do not load it again. */
export function followLinks(): void {
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey ||
        event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.target) return;
    if (link.origin !== ROOT.origin || !link.pathname.startsWith(ROOT.pathname)) return;
    if (link.pathname === window.location.pathname && link.hash) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}

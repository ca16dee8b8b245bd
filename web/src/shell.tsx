// What stands around every view: where one can go, how fresh the view is, signing in, the list of keys.
import { useEffect, useRef, useState } from "react";
import type { FormEvent, ReactNode } from "react";
import { ApiError, get, onTokenNeeded, signIn, signOut } from "./api";
import type { Session } from "./api_types";
import { age } from "./format";
import { handed } from "./handed";
import type { Zone } from "./format";
import { stream, useLink, useNow } from "./live";
import { LimitContext, RoleContext, Wild, ZoneContext } from "./parts";
import { go, to, useRoute } from "./route";

const ZONE_KEY = "l4.zone";
const OLD_MS = 20_000; // silence from which on the age of the view is said

const VIEWS = [
  { view: "fleet", word: "Fleet" }, { view: "incidents", word: "Incidents" }, { view: "agents", word: "Agents", site: true },
  { view: "alerts", word: "Alerts", site: true }, { view: "faults", word: "Faults" }, { view: "pool", word: "Pool" },
];

function Freshness() {
  const { link, heard, why } = useLink();
  const now = useNow();
  const silent = heard > 0 ? Math.max(0, Date.now() - heard) : 0;
  const text = link === "live" ? "live" : link === "polling" ? "each few seconds"
    : link === "broken" ? (heard > 0 ? `not live · ${age(silent)} old` : "not live") : "connecting";
  return (
    <span className={`fresh ${link}`} role="status" title={why || "changes appear by themselves"} data-now={now > 0}>
      <i aria-hidden="true" />{text}{link === "live" && silent > OLD_MS && ` · heard ${age(silent)} ago`}
    </span>
  );
}

/** Over the whole width, so that nobody takes an old view for the state of now. */
function Broken() {
  const { link, heard, why } = useLink();
  useNow();
  if (link !== "broken" || heard === 0 || why === "a token is needed") return null;
  return <div className="broken" role="alert">This view is {age(Date.now() - heard)} old: {why}. It goes on by itself.</div>;
}

type Keys = [string, string][];
const VIEW_KEYS: Keys = [
  ["g f", "fleet"], ["g i", "incidents"], ["g a", "agents"], ["g s", "alerts and their sinks"], ["g k", "known faults"],
  ["g p", "pool of healthy runs"], ["/", "filter"],
  ["j  k", "next, previous job"], ["Enter", "open it"],
];
const TIME_KEYS: Keys = [["t", "times local or UTC"]];
const MAP_KEYS: Keys = [
  ["m", "to the map"], ["← → ↑ ↓", "in the map: choose a cell"], ["Shift ← →", "in the map: pan; with ↑ ↓ through rows"],
  ["+  −  0", "in the map: zoom in, out, whole job"], ["i  o", "in the map: fewer, more rows"], ["Enter", "in the map: why"],
];
const OTHER_KEYS: Keys = [["Esc", "close what is open"], ["?", "this list"]];

function keysHere(): Keys {
  if (!handed) return [...VIEW_KEYS, ...TIME_KEYS, ...MAP_KEYS, ...OTHER_KEYS];
  return [...TIME_KEYS, ...(handed.scores.length > 0 ? MAP_KEYS : []), ...OTHER_KEYS];
}

function Help(props: { close: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.focus();
    return () => { if (before instanceof HTMLElement) before.focus(); };
  }, []);
  return (
    <div className="veil" onClick={props.close}>
      <div className="dialog" role="dialog" aria-modal="true" aria-label="Keys" tabIndex={-1} ref={box}
        onClick={(event) => event.stopPropagation()}>
        <header><h2>Keys</h2><button type="button" className="quiet" onClick={props.close} aria-label="Close">✕</button></header>
        <dl className="keys">{keysHere().map(([keys, what], i) => <div key={i}><dt>{keys.split(" ").filter(Boolean).map((one) =>
          <kbd key={one}>{one}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
      </div>
    </div>
  );
}

function SignIn(props: { done: () => void }) {
  const [token, setToken] = useState("");
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    signIn(token.trim()).then(props.done, (error: unknown) => {
      setBusy(false);
      setSaid(error instanceof ApiError && error.status === 401 ? "This token is not known, or no longer."
        : error instanceof Error ? `${error.message}.` : "That did not work.");
    });
  };
  return (
    <main id="main" className="signin">
      <h1>Sign in</h1>
      <p>This aggregator asks for a token. It is sent once; then a cookie stands for it for 12 hours.</p>
      <form onSubmit={submit}>
        <label htmlFor="token">Token</label>
        <input id="token" type="password" autoComplete="off" spellCheck={false} value={token} autoFocus placeholder="l4_…"
          onChange={(event) => setToken(event.target.value)} aria-describedby="said" />
        <button type="submit" className="main" disabled={busy || token.trim() === ""}>Sign in</button>
        <p id="said" role="alert" className="warn">{said}</p>
      </form>
      <p className="note">Who runs L4 makes one: <code>l4 keys token NAME</code>. That of your own <code>l4 local</code> stands
        in the file <code>token</code> of its state folder.</p>
    </main>
  );
}

/** j and k go through jobs, from wherever the focus is. */
function focusJob(by: number): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(".jobs a.cover")];
  const at = links.findIndex((link) => link === document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

function useKeys(toggleHelp: () => void, toggleZone: () => void, close: () => void): void {
  const before = useRef("");
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key === "Escape") return close();
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      const pair = `${before.current} ${event.key}`;
      before.current = event.key;
      const found: Record<string, () => void> = handed ? {} : {
        "g f": () => go(to("fleet")), "g i": () => go(to("incidents")), "g a": () => go(to("agents")),
        "g k": () => go(to("faults")), "g s": () => go(to("alerts")), "g p": () => go(to("pool")),
      };
      const single: Record<string, () => void> = {
        "?": toggleHelp, "t": toggleZone, "j": () => focusJob(1), "k": () => focusJob(-1),
        "/": () => document.getElementById("search")?.focus(),
        "m": () => document.querySelector<HTMLElement>("canvas.map")?.focus(),
      };
      const call = found[pair] ?? single[event.key];
      if (!call) return;
      event.preventDefault();
      call();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  });
}

/** The zone in which times are shown; kept where the browser keeps anything for this page. */
function useZone(): [Zone, () => void] {
  const [zone, setZone] = useState<Zone>(() => {
    try {
      return localStorage.getItem(ZONE_KEY) === "local" ? "local" : "utc";
    } catch {
      return "utc";
    }
  });
  const toggle = () => {
    const next = zone === "utc" ? "local" : "utc";
    setZone(next);
    try {
      localStorage.setItem(ZONE_KEY, next);
    } catch {
      // A browser may keep nothing for files.
    }
  };
  return [zone, toggle];
}

/** What every page has in its upper right corner. */
function Tools(props: { zone: Zone; toggleZone: () => void; help: () => void }) {
  const { zone } = props;
  return (
    <>
      <button type="button" className="quiet" onClick={props.toggleZone} title="Times are shown so; t changes it"
        aria-label={`Times are ${zone === "utc" ? "UTC" : "local"}; change`}>{zone === "utc" ? "UTC" : "local"}</button>
      <button type="button" className="quiet" onClick={props.help} aria-label="Keys">?</button>
    </>
  );
}

/** Around a report that stands in the document: there is nowhere to go, and nobody to ask. */
export function FileShell(props: { children: ReactNode }) {
  const [zone, toggleZone] = useZone();
  const [help, setHelp] = useState(false);
  useKeys(() => setHelp(!help), toggleZone, () => setHelp(false));
  return (
    <ZoneContext.Provider value={zone}>
      <a className="skip" href="#main">To the content</a>
      <header className="top">
        <span className="brand"><i aria-hidden="true" />L4</span>
        <span className="tools"><Tools zone={zone} toggleZone={toggleZone} help={() => setHelp(true)} /></span>
      </header>
      {props.children}
      {help && <Help close={() => setHelp(false)} />}
    </ZoneContext.Provider>
  );
}

export function Shell(props: { children: ReactNode }) {
  const route = useRoute();
  const [zone, toggleZone] = useZone();
  const [help, setHelp] = useState(false);
  const [session, setSession] = useState<Session | null>(null);
  const [asks, setAsks] = useState(false);
  useKeys(() => setHelp(!help), toggleZone, () => setHelp(false));
  useEffect(() => {
    onTokenNeeded(() => setAsks(true));
    get("session", "session").then(setSession, () => undefined);
  }, []);
  const come = () => {
    get("session", "session").then(setSession, () => undefined);
    setAsks(false);
    stream.again();
  };
  const current = route.view === "jobs" ? "fleet" : route.view;
  return (
    <RoleContext.Provider value={session?.role ?? "read"}><LimitContext.Provider value={session?.jobs}><ZoneContext.Provider value={zone}>
      <a className="skip" href="#main">To the content</a>
      <header className="top">
        <a className="brand" href={to("fleet")} aria-label="L4, the fleet"><i aria-hidden="true" />L4</a>
        <nav aria-label="Views">{!asks && VIEWS.filter((one) => !one.site || !session?.jobs).map(({ view, word }) => <a key={view} href={to(view)}
          aria-current={current === view ? "page" : undefined}>{word}</a>)}</nav>
        <span className="tools">
          {!asks && <Freshness />}
          {session?.by_cookie && !asks && <button type="button" className="quiet who"
            onClick={() => void signOut()} title="Sign out"><Wild text={session.who} /> ⏏</button>}
          <Tools zone={zone} toggleZone={toggleZone} help={() => setHelp(true)} />
        </span>
      </header>
      {!asks && <Broken />}
      {asks ? <SignIn done={come} /> : props.children}
      {help && <Help close={() => setHelp(false)} />}
    </ZoneContext.Provider></LimitContext.Provider></RoleContext.Provider>
  );
}

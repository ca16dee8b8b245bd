// Asking the aggregator: requests, errors, signing in, and the stream of events.
import type { Answers, Session } from "./api_types";
import { answerOf, handed } from "./handed";

const meta = document.querySelector<HTMLMetaElement>('meta[name="l4-root"]');
/** Where the page stands, below any prefix of a proxy; ends with a slash. */
export const ROOT = new URL(meta?.content ?? "./", document.baseURI);

export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, message: string) {
    super(message);
  }
}

/** Only where a browser keeps no cookie of ours; lives as long as the page. */
let token = "";
let needsToken: (() => void) | null = null;

/** Called whenever the aggregator asks for a token. */
export function onTokenNeeded(call: () => void): void {
  needsToken = call;
}

/** Whether this tab has a token that the other tabs of the browser do not know. */
export function hasOwnToken(): boolean {
  return token !== "";
}

function addressOf(path: string): string {
  return new URL(`api/v1/${path}`, ROOT).href;
}

function headersOf(more?: Record<string, string>): Record<string, string> {
  return token ? { Authorization: `Bearer ${token}`, ...more } : { ...more };
}

async function errorOf(answer: Response): Promise<ApiError> {
  let code = "failed";
  let message = `the aggregator answered ${answer.status}`;
  try {
    const body = await answer.json();
    code = String(body.error.code);
    message = String(body.error.message);
  } catch {
    // Not from the aggregator itself: a proxy's page.
  }
  if (answer.status === 401) needsToken?.();
  return new ApiError(answer.status, code, message);
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(addressOf(path), { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "the aggregator does not answer");
  }
  if (!answer.ok) throw await errorOf(answer);
  return answer;
}

const AHEAD_MS = 5_000; // an answer that nobody has taken by then is old
const ahead = new Map<string, { at: number; answer: Promise<Response> }>();

/** Begins a GET that the page will make in a moment, once it knows more, as a GET of `path`. */
export function askAhead(path: string, asked = path): void {
  const now = performance.now();
  for (const [old, { at }] of ahead) if (now - at >= AHEAD_MS) ahead.delete(old);
  if (handed || ahead.has(path)) return;
  const answer = ask(asked, { headers: headersOf() });
  ahead.set(path, { at: now, answer });
  answer.catch(() => { if (ahead.get(path)?.answer === answer) ahead.delete(path); });
}

function takenAhead(path: string): Promise<Response> | null {
  const found = ahead.get(path);
  ahead.delete(path);
  return found && performance.now() - found.at < AHEAD_MS ? found.answer : null;
}

/** The answer to the last of equal requests. */
export interface LastAnswer {
  text: string;
  data: unknown;
}

/** GET /api/v1/PATH; `Key` says which answer it is. One that is as the last one was is the same object, so that nothing is
    made of it again. */
export async function get<Key extends keyof Answers>(
  key: Key, path: string, signal?: AbortSignal, last?: LastAnswer): Promise<Answers[Key]> {
  if (handed) {
    const held = answerOf(handed, key, path);
    if (held === undefined) throw new ApiError(404, "not_found", "this file does not hold it");
    return held;
  }
  const answer = await (takenAhead(path) ?? ask(path, { headers: headersOf(), signal }));
  if (!last) return await answer.json() as Answers[Key];
  const text = await answer.text();
  if (text !== last.text) {
    last.data = JSON.parse(text);
    last.text = text;
  }
  return last.data as Answers[Key];
}

/** POST /api/v1/PATH with a JSON body. */
export async function post<Answer>(path: string, body: unknown): Promise<Answer> {
  const answer = await ask(path, { method: "POST", body: JSON.stringify(body),
                                   headers: headersOf({ "Content-Type": "application/json" }) });
  return await answer.json() as Answer;
}

/** DELETE /api/v1/PATH. */
export async function erase(path: string): Promise<void> {
  await ask(path, { method: "DELETE", headers: headersOf() });
}

export function idIn(path: string, id: string): string {
  return path.replace("{id}", encodeURIComponent(id));
}

/** Begins a session with the token, which is kept only if the browser keeps no cookie. */
export async function signIn(given: string): Promise<Session> {
  const bearer = { Authorization: `Bearer ${given}` };
  const answer = await ask("session", {
    method: "POST", body: "{}", headers: { ...bearer, "Content-Type": "application/json" },
  });
  const session = await answer.json() as Session;
  token = "";
  const byCookie = await fetch(addressOf("session"), { credentials: "same-origin" });
  if (!byCookie.ok) token = given;
  return session;
}

export async function signOut(): Promise<void> {
  await ask("session", { method: "DELETE", headers: headersOf() }).catch(() => undefined);
  token = "";
  // Asks for a token, where one is needed.
  await get("session", "session").catch(() => undefined);
}

export interface StreamEvent {
  event: string;
  id: string;
  data: unknown;
}

/** Cuts a stream of events into its events. */
export class EventParser {
  private rest = "";
  private event = "";
  private id = "";
  private data: string[] = [];

  push(text: string): StreamEvent[] {
    this.rest += text;
    const lines = this.rest.split("\n");
    this.rest = lines.pop() ?? "";
    const found: StreamEvent[] = [];
    for (const line of lines) {
      if (line === "") this.finish(found);
      else this.field(line.endsWith("\r") ? line.slice(0, -1) : line);
    }
    return found;
  }

  private field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.event = value;
    else if (name === "id") this.id = value;
    else if (name === "data") this.data.push(value);
  }

  private finish(found: StreamEvent[]): void {
    if (this.event || this.data.length > 0) {
      let data: unknown = null;
      try {
        data = JSON.parse(this.data.join("\n"));
      } catch {
        // An event without data.
      }
      found.push({ event: this.event, id: this.id, data });
    }
    this.event = "";
    this.data = [];
  }
}

/** Reads events until the stream ends or `signal` stops it; `heard` is called with each piece. */
export async function readStream(
  lastId: string, signal: AbortSignal, heard: (events: StreamEvent[]) => void): Promise<void> {
  const answer = await ask("events", {
    headers: headersOf(lastId ? { "Last-Event-ID": lastId } : {}), signal, cache: "no-store",
  });
  const reader = answer.body!.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard(parser.push(decoder.decode(value, { stream: true })));
  }
}

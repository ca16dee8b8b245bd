// Views of the second script (more.ts), which is loaded when the first of them is shown, so that the first load is small.
import * as react from "react";
import { useEffect, useState } from "react";
import * as jsx from "react/jsx-runtime";
import * as api from "./api";
import * as format from "./format";
import * as live from "./live";
import * as parts from "./parts";
import * as quiet from "./quiet";
import * as route from "./route";

type More = typeof import("./more");
type Fill = (require: (name: string) => unknown, module: { exports: unknown }) => void;

/** What both scripts use; each name also stands in web/CMakeLists.txt. */
const SHARED: Record<string, unknown> = {
  "react": react, "react/jsx-runtime": jsx, "./api": api, "./format": format, "./live": live, "./parts": parts,
  "./quiet": quiet, "./route": route,
};

let loaded: More | null = null;
let loading: Promise<More> | null = null;

// Relative to the address at which the page was loaded, which changes as one goes on.
const address = new URL(document.querySelector<HTMLMetaElement>('meta[name="l4-more"]')?.content ?? "", document.baseURI).href;

async function load(): Promise<More> {
  const script = await import(address) as { default: Fill };
  const module = { exports: {} };
  script.default((one) => SHARED[one], module);
  return module.exports as More;
}

/** A view of the second script; `of` gives it once the script is there. Without `what` it is a part of a view, in whose
    place nothing is shown until then. */
export function Later(props: { what?: string; of: (more: More) => react.ReactElement }) {
  const [more, setMore] = useState(loaded);
  const [failed, setFailed] = useState(false);
  const ask = () => {
    setFailed(false);
    loading ??= load();
    loading.then((one) => setMore(loaded = one), () => {
      loading = null;
      setFailed(true);
    });
  };
  useEffect(() => {
    if (!more) ask();
  }, []);
  if (more) return props.of(more);
  if (!props.what) return failed ? <p className="warn">A part of this page does not come: load it again.</p> : null;
  // A script that could not be loaded is not asked for again by a browser until the page is.
  return failed ? <parts.NotYet what={props.what} again={() => window.location.reload()}
    error={new api.ApiError(0, "unreachable", "a part of this page does not come")} />
    : <main id="main"><parts.Loading what={props.what} /></main>;
}

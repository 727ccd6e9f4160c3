// Requests to the service. The cookie goes with them by itself; where no tokens are required, a name does.

import { uuid } from "./dom.js";

export class Refused extends Error {
  constructor(status, problem) {
    super(problem?.detail ?? `the service answered ${status}.`);
    this.status = status;
    this.problem = problem ?? {};
  }
}

export class Unreachable extends Error {}

// Whether it may help to send the same request again.
export function isPassing(error) {
  return error instanceof Unreachable || (error instanceof Refused && (error.status === 429 || error.status >= 500));
}

// The stream is not there, or not for this person: they are in its team no longer.
export function isGone(error) {
  return error instanceof Refused && error.status === 404 && error.problem.owner === "stream";
}

// The service may be at a path of its host: addresses in links and streams begin with it, and what the browser keeps for
// this service has it in its name. Calls take addresses without it.
const root = document.documentElement.dataset.root;
export const linked = (path) => root + path;
export const ours = (name) => (root ? `${name} ${root}` : name);

export async function call(method, path, body, { keepalive = false, timeout = 15000, type = "application/json" } = {}) {
  const given = { method, keepalive, headers: {}, credentials: "same-origin", signal: AbortSignal.timeout(timeout) };
  if (body !== undefined) {
    given.headers["Content-Type"] = type;
    given.body = type === "application/json" ? JSON.stringify(body) : body;
  }
  let reply, text;
  try {
    reply = await fetch(linked(path), given);
    text = await reply.text();
  } catch (error) {
    throw new Unreachable(String(error));
  }
  let said = null;
  try {
    said = text ? JSON.parse(text) : null;
  } catch {
    said = text;
  }
  if (!reply.ok) throw new Refused(reply.status, typeof said === "object" ? said : null);
  return said;
}

const NAME = ours("askwhen name");
const DEVICE = ours("askwhen device");
const known = JSON.parse(document.getElementById("known").textContent);

// Who is here, and the stream of this page as it was when the page was made, if there is one and they may see it.
export const session = known.session;
export const facts = known.stream;
if (session.open) session.name = localStorage.getItem(NAME);

// Ask who is here; the page knows it unless it was opened from another site, and came without the cookie.
export async function enter(again = false) {
  if (!again && (session.open || session.name)) return;
  Object.assign(session, await call("GET", "/session"));
  if (session.open) session.name = localStorage.getItem(NAME);
}

// The stream of this page.
export async function streamFacts() {
  return facts ?? call("GET", streamPath(streamHere()));
}

// All tabs have one cookie: each notices when another signs in or out, and reloads as the current user.
const channel = new BroadcastChannel(ours("askwhen session"));
channel.onmessage = async () => {
  if (!(await isStillHere().catch(() => true))) location.reload();
};

// Whether the person who is here is the one whom this page knows.
export async function isStillHere() {
  const now = await call("GET", "/session");
  return (now.open ? localStorage.getItem(NAME) : now.name) === session.name;
}

export async function signIn(token) {
  Object.assign(session, await call("POST", "/session", { token }));
  channel.postMessage("in");
}

export function nameYourself(name) {
  localStorage.setItem(NAME, name);
  session.name = name;
  channel.postMessage("in");
}

export async function signOut() {
  if (session.open) localStorage.removeItem(NAME);
  else if (!session.proxied) await call("DELETE", "/session");
  channel.postMessage("out");
}

export function may(role) {
  return session.roles.includes(role) || session.roles.includes("admin");
}

// Say at once what the service would say at the end of a form.
export function need(role) {
  if (!may(role)) throw new Error(`this needs the role ${role}, which ${session.name} lacks.`);
}

// Who does it, in a body. The service refuses a name that is not the token's: the cookie may have changed meanwhile.
export function who(body = {}) {
  return { ...body, annotator: session.name };
}

// This browser, apart from others that the same person has: all its tabs are one device.
let thisDevice = null;
export function device() {
  try {
    thisDevice ??= localStorage.getItem(DEVICE) ?? uuid();
    localStorage.setItem(DEVICE, thisDevice);
  } catch {
    // a browser that keeps nothing: this page is a device of its own
  }
  return (thisDevice ??= uuid());
}

export function streamPath(name, rest = "") {
  return `/v1/streams/${encodeURIComponent(name)}${rest}`;
}

// The stream that this page is about, from its address.
export function streamHere() {
  const path = location.pathname;
  return decodeURIComponent((path.startsWith(`${root}/`) ? path.slice(root.length) : path).split("/")[2] ?? "");
}

// api.js – asks the site; says apart what each kind of "no" means: signed out, unreachable, over, or refused.
import { tell } from "./bus.js";

const ANSWER_MS = 30000;
const meta = document.querySelector('meta[name="csrf-token"]');

export class SignedOut extends Error {}
export class Unreachable extends Error {}
export class Refused extends Error {
  constructor(status, detail, answer) {
    super(detail);
    this.status = status;
    this.answer = answer;
  }
}

export async function get(path) {
  return ask(path, { method: "GET" });
}

export async function post(path, json, options = {}) {
  return ask(path, { method: "POST", body: JSON.stringify(json), type: "application/json", ...options });
}

export async function postForm(path, form) {
  return ask(path, { method: "POST", body: form });
}

export async function remove(path) {
  return ask(path, { method: "DELETE" });
}

// A page that is going away cannot wait for an answer: the browser carries this one on.
export function postLast(path, json) {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": meta.content };
  fetch(path, { method: "POST", body: JSON.stringify(json), headers, keepalive: true }).catch(() => {});
}

export async function signIn(username, password) {
  const token = await freshToken();
  const body = new URLSearchParams({ username, password, csrfmiddlewaretoken: token });
  const answer = await reach("/sign-in/", { method: "POST", body, redirect: "manual" });
  // The form answers with itself when the two do not match, and leads on when they do.
  return answer.type === "opaqueredirect" ? freshToken().then(() => true) : false;
}

export async function signOut() {
  const body = new URLSearchParams({ csrfmiddlewaretoken: await freshToken() });
  await reach("/sign-out/", { method: "POST", body, redirect: "manual" });
}

async function ask(path, { method, body, type, isRepeat = false }) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRFToken"] = meta.content;
  if (type) headers["Content-Type"] = type;
  const answer = await reach(path, { method, body, headers });
  if (answer.status === 204) return null;
  if (answer.status === 401) {
    tell("signed-out");
    throw new SignedOut("Your sign-in has ended.");
  }
  const said = await read(answer);
  if (answer.ok && said) return said;
  if (answer.status === 403 && !isRepeat && (await mayTryAgain())) {
    return ask(path, { method, body, type, isRepeat: true });
  }
  // What is not the site's own word decides nothing about what was sent: it is sent again.
  if (!said) throw new Unreachable(`Something before the site answered ${answer.status}.`);
  throw new Refused(answer.status, sentence(said, answer.status), said);
}

// The data of an answer; null for a page that a proxy put in its place, or one that broke off half way.
async function read(answer) {
  try {
    const said = await answer.json();
    return said && typeof said === "object" ? said : null;
  } catch {
    return null;
  }
}

async function reach(path, options) {
  let answer;
  try {
    answer = await fetch(path, { ...options, signal: AbortSignal.timeout(ANSWER_MS) });
  } catch (error) {
    throw new Unreachable(String(error));
  }
  // Too many requests, and whatever a proxy or a restarting site says, is gone after a while.
  if (answer.status >= 500 || answer.status === 429 || answer.status === 408) {
    throw new Unreachable(`The site answered ${answer.status}.`);
  }
  return answer;
}

// A sign-in in another window gives new tokens, or makes another person of this browser.
async function mayTryAgain() {
  const page = document.querySelector("[data-console]");
  const answer = await reach("/api/v1/me", { headers: { Accept: "application/json" } });
  const known = await read(answer);
  if (!known) throw new Unreachable("Something before the site answered.");
  if (known.user !== Number(page.dataset.user)) {
    tell("signed-out", { as: known.username ?? "" });
    throw new SignedOut("Another person is signed in.");
  }
  await freshToken();
  return true;
}

// After a sign-in has ended: perhaps this page's person has signed in again in another window.
export async function noticeSignIn() {
  const answer = await reach("/api/v1/me", { headers: { Accept: "application/json" } });
  const known = answer.ok ? await read(answer) : null;
  if (known?.user !== Number(document.querySelector("[data-console]").dataset.user)) return;
  await freshToken();
  tell("signed-in");
}

async function freshToken() {
  const answer = await reach("/sign-in/", { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const token =
    page.querySelector('meta[name="csrf-token"]')?.content ??
    page.querySelector('input[name="csrfmiddlewaretoken"]')?.value;
  if (!token) throw new Unreachable("The sign-in page gave no token.");
  meta.content = token;
  return token;
}

function sentence(said, status) {
  if (typeof said.detail === "string") return said.detail;
  return `The site did not take this (${status}).`;
}

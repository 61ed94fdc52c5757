// live_run.js – keeps a run's page up to date. The socket says only "there is more" with a cursor;
// the page fetches its parts again, changes values in place, and catches up by its own cursor.
const page = document.querySelector("[data-live-run]");
const summary = () => document.getElementById("summary");
const list = document.getElementById("event-list");
const frame = list.parentElement;
const badge = page.querySelector("[data-live-badge]");
const pauseButton = page.querySelector("[data-pause-events]");
const newButton = page.querySelector("[data-new-events]");
const said = page.querySelector("p[data-said]");

const TELL_MS = 5000;
const FETCH_MS = 700;
const POLL_MS = 5000;
const FORBIDDEN = 4403;
let socket = null;
let retryIn = 500;
let wanted = 0;
let fetching = false;
let updatedAt = Date.now();
let connection = "catching-up";
let paused = false;
let waiting = [];
let saidAt = 0;
let pollTimer = 0;

const isOver = () => ["finished", "cancelled"].includes(summary().dataset.state);
const cursor = () => Number(summary().dataset.cursor);
const newestEvent = () => Number((waiting.at(-1) ?? list.querySelector("[data-event]"))?.dataset.event ?? 0);

function connect() {
  if (isOver()) return show();
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/live/runs/${page.dataset.liveRun}/`);
  socket.addEventListener("open", () => {
    retryIn = 500;
    setConnection("live");
    clearInterval(pollTimer);
  });
  socket.addEventListener("message", (event) => {
    wanted = Math.max(wanted, JSON.parse(event.data).more);
    refresh();
  });
  socket.addEventListener("close", (event) => {
    if (isOver()) return;
    // The run is hidden from this person since: the page that says why takes this one's place.
    if (event.code === FORBIDDEN) return location.reload();
    setConnection("lost");
    clearInterval(pollTimer);
    // Without a socket the page still moves, only more slowly.
    pollTimer = setInterval(() => { wanted = Infinity; refresh(); }, POLL_MS);
    setTimeout(connect, retryIn);
    retryIn = Math.min(retryIn * 2, 15000);
  });
}

async function refresh() {
  if (fetching || wanted <= cursor()) return;
  fetching = true;
  const before = wanted;
  try {
    const query = new URLSearchParams(location.search);
    query.set("part", "summary");
    await htmx.ajax("GET", `?${query}`, { target: "#summary", swap: "morph:outerHTML" });
    await fetchEvents();
    updatedAt = Date.now();
    tell();
  } catch {
    setConnection("lost");
  }
  if (before === Infinity) wanted = cursor();
  show();
  if (isOver()) finish();
  setTimeout(() => { fetching = false; refresh(); }, FETCH_MS);
}

async function fetchEvents() {
  const answer = await fetch(`?part=events&after=${newestEvent()}`, { headers: { "HX-Request": "true" } });
  if (!answer.ok) throw new Error(String(answer.status));
  const holder = document.createElement("template");
  holder.innerHTML = await answer.text();
  const fresh = [...holder.content.querySelectorAll("[data-event]")].reverse();
  waiting.push(...fresh);
  if (!paused && frame.scrollTop < 8) release();
  else announceWaiting();
}

function release() {
  for (const item of waiting) list.prepend(item);
  waiting = [];
  for (const old of [...list.children].slice(200)) old.remove();
  announceWaiting();
}

function announceWaiting() {
  newButton.hidden = waiting.length === 0;
  newButton.textContent = `${waiting.length} new`;
}

function finish() {
  socket?.close();
  clearInterval(pollTimer);
  if (pauseButton) pauseButton.hidden = true;
}

function setConnection(state) {
  connection = state;
  show();
}

function show() {
  if (isOver()) {
    badge.dataset.state = "finished";
    badge.textContent = summary().dataset.state === "finished" ? "Finished" : "Cancelled";
    return;
  }
  const seconds = Math.round((Date.now() - updatedAt) / 1000);
  const clock = new Date(updatedAt).toTimeString().slice(0, 8);
  const words = {
    live: paused ? "Live, events paused" : `Live, updated ${seconds} s ago`,
    "catching-up": "Catching up",
    lost: `Connection lost, showing ${clock}, trying again`,
  };
  badge.dataset.state = connection;
  badge.textContent = words[connection];
}

// One polite sentence, at most every five seconds.
function tell() {
  const words = summary().dataset.said;
  if (said.textContent === words || Date.now() - saidAt < TELL_MS) return;
  said.textContent = words;
  saidAt = Date.now();
}

pauseButton?.addEventListener("click", () => {
  paused = !paused;
  pauseButton.setAttribute("aria-pressed", String(paused));
  pauseButton.firstChild.textContent = paused ? "Go on " : "Pause ";
  if (!paused) release();
  show();
});
newButton.addEventListener("click", () => {
  frame.scrollTop = 0;
  release();
});
frame.addEventListener("scroll", () => {
  if (frame.scrollTop < 8 && !paused) release();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && socket?.readyState !== WebSocket.OPEN) connect();
});

show();
if (!isOver()) {
  connect();
  setInterval(show, 1000);
}

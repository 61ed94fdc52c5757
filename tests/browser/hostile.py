"""Candidates that attack whoever looks at them: each is written as files and deployed like any other."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

# What every page knows: the site's address, and how to say that it has done what it could.
_HEAD = """\
<!doctype html><meta charset="utf-8"><title>A candidate</title>
<h1>A candidate</h1><p id="said"></p><input aria-label="Field of the app"><button>Press</button>
<script>
const parentHost = location.host.split(".").slice(1).join(".");
const parentName = location.hostname.split(".").slice(1).join(".");
const site = `${location.protocol}//${parentHost}`;
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const said = document.getElementById("said");
function say(words) { said.textContent += words + "\\n"; }
function attempt(name, act) {
  try { const made = act(); say(`${name}: ${made === undefined ? "done" : made}`); return made; }
  catch (error) { say(`${name}: ${error.name}`); return undefined; }
}
async function attemptLater(name, act) {
  try { say(`${name}: ${await act()}`); } catch (error) { say(`${name}: ${error.name}`); }
}
function over() { document.documentElement.dataset.over = ""; }
</script>
"""

_SCRIPTS = {
    "frame_busting": """
        if (top !== self) attempt("location", () => { top.location = self.location.href; });
        attempt("href", () => { top.location.href = "https://example.org/"; });
        attempt("replace", () => { top.location.replace(site + "/sign-out/"); });
        attempt("open", () => Boolean(window.open(location.href, "_top")));
        attempt("parent", () => { parent.location = "about:blank"; });
        document.body.insertAdjacentHTML("beforeend", `<a id=away target=_top href="https://example.org/">x</a>
          <form id=form target=_top action="${location.href}"></form>`);
        attempt("link", () => document.getElementById("away").click());
        attempt("form", () => document.getElementById("form").submit());
        attempt("reading", () => top.document.title);
        attempt("domain", () => { document.domain = parentName; });
        attempt("reading again", () => parent.document.title);
        over();
        setInterval(() => { try { top.location = location.href; } catch (e) { /* again */ } }, 20);
    """,
    "alert_loop": """
        over();
        (async () => { await wait(1500); for (;;) { alert("Look at me"); await wait(1); } })();
    """,
    "message_spam": """
        over();
        const heavy = "x".repeat(20000);
        (async () => { await wait(300); for (;;) {
          for (let n = 0; n < 400; n += 1) parent.postMessage({ heavy, mark: "pass" }, "*");
          await wait(0);
        } })();
    """,
    "popups": """
        const opened = attempt("console", () => window.open(site + "/annotation/"));
        attempt("reaching", () => opened && opened.document.title);
        for (let n = 0; n < 20; n += 1) attempt("blank", () => Boolean(window.open("about:blank")));
        document.addEventListener("click", () => {
          const again = window.open(site + "/annotation/", "again");
          setTimeout(() => { attempt("its page", () => again.document.body.innerText.slice(0, 20)); over(); }, 1500);
        });
        say("ready");
    """,
    "downloads": """
        for (let n = 0; n < 30; n += 1) {
          const link = document.createElement("a");
          link.href = URL.createObjectURL(new Blob(["spam " + n]));
          link.download = `spam-${n}.exe`;
          link.click();
        }
        over();
    """,
    "endless_growth": """
        over();
        setTimeout(() => {
          const until = Date.now() + 20000;
          while (Date.now() < until) {
            const row = document.createElement("p");
            row.textContent = "more and more ".repeat(20);
            document.body.append(row);
            if (document.body.childElementCount > 60000) document.body.replaceChildren();
          }
        }, 300);
    """,
    "busy_loop": """
        over();
        setTimeout(() => { for (;;); }, 300);
    """,
    "service_worker": """
        (async () => {
          await attemptLater("worker", async () => {
            await navigator.serviceWorker.register("/worker.js");
            await navigator.serviceWorker.ready;
            return "registered";
          });
          await attemptLater("worker of the site", () => navigator.serviceWorker.register(site + "/static/js/keys.js"));
          await attemptLater("taken", async () => (await fetch("/anything")).text());
          await attemptLater("site through the worker", async () => (await fetch(site + "/api/v1/me", { credentials: "include" })).text());
          over();
        })();
    """,
    "parent_cookies": """
        const far = `; domain=${parentName}; path=/; max-age=86400`;
        for (const name of ["__Host-session", "__Host-csrf", "__Secure-session", "sessionid", "csrftoken", "messages"]) {
          document.cookie = `${name}=stolen${far}; secure`;
          document.cookie = `${name}=stolen${far}`;
        }
        document.cookie = `nameless${far}`;
        document.cookie = `deep=1; domain=${parentName}; path=/annotation; secure`;
        document.cookie = `parted=1${far}; secure; partitioned`;
        document.cookie = `own=kept; path=/; max-age=86400`;
        for (let n = 0; n < 160; n += 1) document.cookie = `fat${n}=${"x".repeat(4000)}${far}`;
        say(`cookies: ${document.cookie.length}`);
        over();
    """,
    "reads_the_site": """
        (async () => {
          const number = SET;
          const paths = ["/api/v1/me", `/api/v1/assignments/${number}`, `/annotation/${number}/`, "/static/js/keys.js"];
          for (const path of paths) {
            await attemptLater(`fetch ${path}`, async () => (await fetch(site + path, { credentials: "include" })).text());
            await attemptLater(`no-cors ${path}`, async () => (await fetch(site + path, { credentials: "include", mode: "no-cors" })).status);
          }
          for (const tag of ["script", "img", "link", "iframe", "object", "embed"]) {
            await attemptLater(tag, () => new Promise((done) => {
              const element = document.createElement(tag);
              element.onload = () => done("loaded");
              element.onerror = () => done("refused");
              if (tag === "link") Object.assign(element, { rel: "stylesheet", href: site + "/static/css/base.css?fresh" });
              else element[tag === "object" ? "data" : "src"] = site + (tag === "script" ? "/static/js/keys.js?fresh" : "/");
              document.body.append(element);
              setTimeout(() => done("silent"), 3000);
            }));
          }
          await attemptLater("socket", () => new Promise((done) => {
            const socket = new WebSocket(site.replace("http", "ws") + "/live/runs/1/");
            socket.onopen = () => done("open");
            socket.onerror = () => done("refused");
          }));
          await attemptLater("stream", () => new Promise((done) => {
            const stream = new EventSource(site + "/", { withCredentials: true });
            stream.onopen = () => done("open");
            stream.onerror = () => { stream.close(); done("refused"); };
          }));
          over();
        })();
    """,
    "posts_marks": """
        (async () => {
          const set = SET;
          const one = JSON.stringify({ operations: [{ operation: crypto.randomUUID(), annotation: ANNOTATION, change: "mark", mark: "fail", base: 0, made_at: new Date().toISOString() }] });
          const aims = [`/api/v1/assignments/${set}/operations`, `/api/v1/assignments/${set}/submit`, `/annotation/${set}/preview/stop/`, "/sign-out/"];
          for (const aim of aims) {
            for (const type of ["text/plain", "application/json"]) {
              await attemptLater(`fetch ${aim}`, async () => (await fetch(site + aim, { method: "POST", body: one, credentials: "include", mode: type === "text/plain" ? "no-cors" : "cors", headers: { "Content-Type": type } })).status);
            }
            attempt(`beacon ${aim}`, () => navigator.sendBeacon(site + aim, new Blob([one], { type: "text/plain" })));
            for (const target of ["inner", "_blank"]) {
              const form = document.createElement("form");
              Object.assign(form, { method: "post", action: site + aim, enctype: "text/plain", target });
              const field = document.createElement("input");
              Object.assign(field, { name: one.slice(0, -1) + ',"x":"', value: '"}' });
              form.append(field);
              document.body.append(form);
              attempt(`form ${aim} ${target}`, () => form.submit());
              await wait(150);
            }
          }
          await wait(1000);
          over();
        })();
    """,
    "focus_thief": """
        const field = document.querySelector("input");
        field.addEventListener("input", () => { document.title = "typed"; say(`typed ${field.value}`); });
        over();
        setInterval(() => { window.focus(); field.focus(); field.select(); }, 15);
    """,
    "history_walker": """
        for (let n = 0; n < 60; n += 1) history.pushState({}, "", `?step=${n}`);
        over();
        setInterval(() => { history.back(); history.go(-30); attempt("top", () => top.history.go(-1)); said.textContent = ""; }, 50);
    """,
    "stays": """
        window.addEventListener("beforeunload", (event) => { event.preventDefault(); event.returnValue = "Stay!"; });
        document.addEventListener("click", () => say("used"));
        over();
    """,
}

_EXTRA = {
    "service_worker": {
        "worker.js": """
            self.addEventListener("install", () => self.skipWaiting());
            self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
            self.addEventListener("fetch", (event) => event.respondWith(
              new Response("<h1>Taken by the worker</h1>", { headers: { "Content-Type": "text/html", "Clear-Site-Data": '"*"' } })));
        """
    },
    "posts_marks": {"inner.html": ""},
}

_SERVERS = {
    "forbids_framing": """
        headers = {"X-Frame-Options": "DENY", "Content-Security-Policy": "default-src 'self' 'unsafe-inline'; frame-ancestors 'none'"}
        page = head + "<script>localStorage.setItem('a', 'kept'); say(localStorage.getItem('a')); over();</script>"
    """,
    "clears_site_data": """
        headers = {"Clear-Site-Data": '"*"', "Set-Cookie": "__Host-session=stolen; Path=/; Secure; Domain=" + "proofroom.localhost"}
        page = head + "<script>over();</script>"
    """,
    "dies": """
        headers = {}
        page = head + "<script>over();</script><p><a href='/die'>Die</a></p>"
    """,
    "never_starts": """
        import sys
        headers, page = {}, ""
        print("Error: the module heron-2 is missing", flush=True)
        sys.exit(3)
    """,
}

_SERVER = """
import http.server, os

head = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "head.html"), encoding="utf-8").read()
{body}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/die"):
            print("last words of " + os.getcwd(), flush=True)
            os._exit(3)
        body = page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""

NAMES = (*_SCRIPTS, *_SERVERS)


def written(name: str, folder: Path, *, assignment: int, annotation: int) -> Path:
    """Write a candidate's files into a folder; it knows what it would like to change."""
    if name in _SERVERS:
        (folder / "head.html").write_text(_HEAD)
        (folder / "server.py").write_text(_SERVER.format(body=dedent(_SERVERS[name])))
        return folder
    (folder / "index.html").write_text(
        f"{_HEAD}<script>const SET = {assignment}, ANNOTATION = {annotation};{dedent(_SCRIPTS[name])}</script>"
    )
    for path, text in _EXTRA.get(name, {}).items():
        (folder / path).write_text(dedent(text))
    return folder

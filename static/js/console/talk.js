// talk.js – the thread between an annotator and the leads about the outcome in hand.
import { Refused, get, post } from "./api.js";
import { hear } from "./bus.js";
import { set } from "./state.js";

const box = document.querySelector("[data-talk]");
const list = document.querySelector("[data-talk-said]");
const form = document.querySelector("[data-talk-form]");
const text = document.querySelector("[data-talk-text]");
const problem = document.querySelector("[data-talk-problem]");
const count = document.querySelector("[data-talk-count]");
const address = `/api/v1/assignments/${set.id}/comments`;
let shownFor = null;

export function startTalk() {
  hear("outcome", () => turn());
  hear("controls", () => drawCount());
  box.addEventListener("toggle", () => box.open && load());
  text.addEventListener("input", () => keepDraft(text.value));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!text.value.trim()) return;
    const id = set.current;
    const said = text.value;
    complain("");
    try {
      await post(address, { annotation: id, text: said });
    } catch (error) {
      complain(error instanceof Refused ? error.message : "Not sent, and kept here. Send it again when the site answers.");
      return;
    }
    sessionStorage.removeItem(draftName(id));
    if (set.current === id) text.value = "";
    const held = set.held.get(id);
    set.held.set(id, { ...held, comments: (held.comments ?? 0) + 1 });
    load();
  });
}

function turn() {
  if (shownFor === set.current) return;
  shownFor = set.current;
  list.replaceChildren();
  text.value = sessionStorage.getItem(draftName(set.current)) ?? "";
  complain("");
  drawCount();
  // A thread that has something in it, or a question half written, is open.
  box.open = Boolean(set.held.get(set.current).comments || text.value);
  if (box.open) load();
}

async function load() {
  const id = set.current;
  drawCount();
  if (!set.held.get(id).comments) return;
  try {
    const { comments } = await get(address);
    if (set.current === id) list.replaceChildren(...comments.filter((each) => each.annotation === id).map(drawn));
  } catch {
    complain("The thread could not be read now.");
  }
}

function drawn(comment) {
  const item = document.createElement("li");
  const head = document.createElement("p");
  head.className = "tiny muted";
  head.textContent = `${comment.is_mine ? "You" : comment.author || "Somebody"}, ${new Date(comment.created_at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}`;
  const said = document.createElement("p");
  said.className = "given-text small";
  said.dir = "auto";
  said.textContent = comment.text;
  item.append(head, said);
  return item;
}

function drawCount() {
  const number = set.held.get(set.current)?.comments;
  count.textContent = number ? `(${number})` : "";
}

function keepDraft(words) {
  if (words) sessionStorage.setItem(draftName(set.current), words);
  else sessionStorage.removeItem(draftName(set.current));
}

const draftName = (id) => `console-talk:${set.id}:${id}`;

function complain(words) {
  problem.textContent = words;
  problem.hidden = !words;
}

// dialogs.js – asks: why an outcome cannot be judged, who is there after a sign-in ended, and whether to submit.
import { get, signIn, signOut } from "./api.js";
import { tell } from "./bus.js";
import { outbox } from "./outbox.js";

const page = document.querySelector("[data-console]");
const find = (selector) => document.querySelector(selector);
const dialog = (name) => find(`[data-dialog="${name}"]`);

for (const button of document.querySelectorAll("[data-dialog] [data-cancel]")) {
  button.addEventListener("click", () => button.closest("dialog").close());
}

// Resolves with the reason and its text, or with null when it was left as it is.
export function askProblem({ problem, problem_text }) {
  const box = dialog("problem");
  const form = find("[data-problem-form]");
  const missing = find("[data-problem-missing]");
  const text = find("#problem-text");
  const choices = [...form.querySelectorAll('[name="problem"]')];
  for (const choice of choices) choice.checked = choice.value === problem;
  text.value = problem_text;
  missing.hidden = true;
  box.showModal();
  (choices.find((choice) => choice.checked) ?? choices[0]).focus();
  return new Promise((done) => {
    let answer = null;
    form.onsubmit = (event) => {
      event.preventDefault();
      const chosen = choices.find((choice) => choice.checked)?.value;
      const fault = !chosen ? "Choose a reason." : chosen === "other" && !text.value.trim() ? "Say what happened: “something else” needs a sentence." : "";
      missing.textContent = fault;
      missing.hidden = !fault;
      if (fault) return;
      answer = { problem: chosen, problem_text: text.value.trim() };
      box.close();
    };
    box.onclose = () => done(answer);
  });
}

export function askSubmit(words) {
  const box = dialog("submit");
  find("[data-submit-question]").textContent = words;
  box.returnValue = "";
  box.showModal();
  return new Promise((done) => {
    let isSure = false;
    find("[data-submit-form]").onsubmit = () => { isSure = true; };
    box.onclose = () => done(isSure);
  });
}

// The page stays, and with it whatever is being written; only its own person may go on in it.
// Where it opens by itself, no field has the focus: the next key was meant as a mark, and is no part of a password.
export function askSignIn({ as = "", isAsked = false } = {}) {
  const box = dialog("sign-in");
  const owner = page.dataset.username;
  const waiting = outbox.waiting;
  const kept = waiting ? `${waiting === 1 ? "1 change is" : `${waiting} changes are`} kept here and saved afterwards.` : "Nothing is lost.";
  find("[data-sign-in-words]").textContent = as
    ? `${as} is signed in now, in another window. This page is ${owner}'s: sign in as ${owner} to go on. ${kept}`
    : `This page stays as it is. ${kept}`;
  if (!box.open) {
    find("[data-sign-in-problem]").hidden = true;
    find("#again-username").value = owner;
    find("#again-password").value = "";
    box.showModal();
    find(isAsked ? "#again-password" : "#again-title").focus();
  }
}

export function endSignIn() {
  if (dialog("sign-in").open) dialog("sign-in").close();
}

find("[data-sign-in-form]").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = find("[data-sign-in-button]");
  button.disabled = true;
  say("");
  try {
    say(await admitted(find("#again-username").value, find("#again-password").value));
  } catch {
    say("The site does not answer. Nothing is lost; try again in a moment.");
  }
  button.disabled = false;
  find("#again-password").value = "";
  if (dialog("sign-in").open) find("#again-password").focus();
});

async function admitted(username, password) {
  if (!(await signIn(username, password))) return "These do not match. The name is case-sensitive, and so is the password.";
  const known = await get("/api/v1/me");
  if (known.user !== Number(page.dataset.user)) {
    await signOut();
    return `This page is ${page.dataset.username}'s, and what is kept here is saved under that name alone. ${known.username} was signed out again.`;
  }
  dialog("sign-in").close();
  tell("signed-in");
  return "";
}

function say(words) {
  const box = find("[data-sign-in-problem]");
  box.textContent = words;
  box.hidden = !words;
}

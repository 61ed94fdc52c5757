// task_boxes.js – ticks all or no tasks, filters a long list, and launches with Ctrl or ⌘ Enter.
const form = document.querySelector("form.launch");

function boxes() {
  return [...form.querySelectorAll("[data-task-boxes] li")].filter((row) => !row.hidden).map((row) => row.querySelector("input"));
}

function filter(field) {
  const wanted = field.value.trim().toLowerCase();
  for (const row of form.querySelectorAll("[data-task-boxes] li")) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
  }
}

function showFilter() {
  const field = form.querySelector("[data-filter-tasks]");
  if (!field) return;
  field.hidden = false;
  filter(field);
}

// An answer that is older than the last keystroke would undo it: it is dropped, and the next change asks anew.
let edits = 0;
let editsWhenAsked = 0;

if (form) {
  form.addEventListener("input", () => { edits += 1; });
  form.addEventListener("htmx:beforeRequest", () => { editsWhenAsked = edits; });
  form.addEventListener("htmx:beforeSwap", (event) => {
    if (edits !== editsWhenAsked) event.detail.shouldSwap = false;
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button[name=choose]");
    if (!button) return;
    event.preventDefault();
    const shown = boxes();
    for (const box of shown) box.checked = button.value === "all";
    form.dispatchEvent(new Event("change"));
  });
  form.addEventListener("input", (event) => {
    if (event.target.matches("[data-filter-tasks]")) filter(event.target);
  });
  // A filter is no choice: it must not fetch the form anew.
  form.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-filter-tasks]")) event.stopImmediatePropagation();
  }, { capture: true });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) form.querySelector("[data-launch]").click();
  });
  document.addEventListener("htmx:afterSwap", showFilter);
  showFilter();
}

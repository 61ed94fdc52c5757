// campaign_form.js – narrows a long list of boxes while typing, keeps old answers from undoing new ticks, and saves with Ctrl or ⌘ Enter.
const form = document.querySelector("[data-campaign-form]");

if (form) {
  for (const field of form.querySelectorAll("[data-filter]")) {
    const rows = form.querySelectorAll(`[data-filtered="${field.dataset.filter}"] > li`);
    field.hidden = false;
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }

  // A filter is no choice: it must not count anew.
  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-filter]")) event.stopImmediatePropagation();
  }, { capture: true });

  // Boxes of tasks come with the count. An answer older than the last tick would take it back: it is dropped.
  let edits = 0;
  let editsWhenAsked = 0;
  form.addEventListener("input", () => { edits += 1; });
  form.addEventListener("htmx:beforeRequest", () => { editsWhenAsked = edits; });
  form.addEventListener("htmx:beforeSwap", (event) => {
    if (edits !== editsWhenAsked) event.detail.shouldSwap = false;
  });

  // Whether the list of tasks was open stays as the reader left it.
  let wasOpen = false;
  form.addEventListener("htmx:beforeSwap", () => { wasOpen = document.querySelector("#task-choice")?.open ?? false; });
  document.addEventListener("htmx:oobAfterSwap", () => {
    const choice = document.querySelector("#task-choice");
    if (choice && wasOpen) choice.open = true;
  });

  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) form.querySelector("[data-save]").click();
  });
}

// submits.js – a choice marked data-submits sends its form at once; the button for it is then not needed.
for (const choice of document.querySelectorAll("[data-submits]")) {
  choice.addEventListener("change", () => choice.form.requestSubmit());
}
for (const button of document.querySelectorAll("[data-hide-with-js]")) button.hidden = true;

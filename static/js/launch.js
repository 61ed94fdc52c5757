// launch.js – command or control with Enter sends the launch form from any of its fields.
for (const form of document.querySelectorAll("[data-launch]")) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) form.requestSubmit();
  });
}

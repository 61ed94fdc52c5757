// theme.js – before the page is painted, sets the light or dark that was chosen in this browser.
{
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}

// guideline.js – a lead may change the guideline while somebody marks; what is marked from then on follows the new one.

// Shows the version that the site names, and tells whether it is news. The page itself is asked, which knows how to write it.
export async function renewGuideline(version) {
  const shown = document.querySelector("[data-guideline]");
  if (!shown || !version || Number(shown.dataset.version) === version) return false;
  const answer = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("[data-guideline]");
  if (!fresh || fresh.dataset.version === shown.dataset.version) return false;
  fresh.open = true;
  fresh.querySelector("summary").append(" – changed just now");
  shown.replaceWith(fresh);
  return true;
}

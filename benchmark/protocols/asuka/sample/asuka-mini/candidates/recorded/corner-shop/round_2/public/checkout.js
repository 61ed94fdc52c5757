import { basket } from "./basket.js";

const fields = [
  { name: "name", label: "Name", autocomplete: "name", wrong: (text) => !text && "Please tell us your name." },
  {
    name: "email", label: "E-mail", autocomplete: "email",
    wrong: (text) => !/^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/.test(text) && "This e-mail address is not complete.",
  },
  { name: "address", label: "Address", autocomplete: "street-address", wrong: (text) => !text && "Where shall we deliver?" },
  { name: "postcode", label: "Postcode", autocomplete: "postal-code", wrong: (text) => !/^\d{5}$/.test(text) && "A postcode has five digits." },
];

const input = ({ name, label, autocomplete }) => `
  <div class="${name === "address" ? "wide" : ""}">
    <label>${label}<input name="${name}" autocomplete="${autocomplete}" aria-describedby="wrong-${name}"></label>
    <span class="wrong" id="wrong-${name}"></span>
  </div>`;

export const checkout = {
  show(view, sums, answers) {
    view.innerHTML = `<div class="split">
      <form class="panel" novalidate><h2>Checkout</h2><div class="message" role="alert"></div>
        <div class="form">${fields.map(input).join("")}<button class="button wide">Place order</button></div></form>
      <section class="panel"><h2>To pay</h2>${sums}<a href="#/basket">Change the basket</a></section></div>`;
    const form = view.querySelector("form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit(form, answers);
    });
  },
};

function isComplete(form) {
  let first = null;
  for (const { name, wrong } of fields) {
    const field = form.elements[name];
    const message = wrong(field.value.trim());
    form.querySelector(`#wrong-${name}`).textContent = message || "";
    field.setAttribute("aria-invalid", String(Boolean(message)));
    if (message) first ??= field;
  }
  first?.focus();
  return first === null;
}

async function submit(form, answers) {
  if (!isComplete(form)) return;
  const customer = Object.fromEntries(new FormData(form));
  const lines = basket.take().map(({ product, quantity }) => ({ id: product.id, quantity }));
  const reply = await fetch("/api/orders", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ customer, lines }),
  });
  const answer = await reply.json();
  if (reply.ok) answers.done({ name: customer.name, number: answer.number, total: answer.total_cents });
  else answers.refused(answer.error);
}

import { basket } from "./basket.js";
import { checkout } from "./checkout.js";
import { escapeHtml, euros } from "./text.js";

const view = document.getElementById("view");
const shop = await fetch("/api/products").then((reply) => reply.json());
const products = new Map(shop.products.map((product) => [product.id, product]));
const categories = ["All", ...new Set(shop.products.map((product) => product.category))];
let category = "All";
let thanks = null;

basket.open(products);

function toast(text) {
  const box = document.getElementById("toast");
  box.textContent = text;
  box.classList.add("on");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => box.classList.remove("on"), 2500);
}

function stockText({ id, stock }) {
  const left = stock - basket.quantity(id);
  if (left <= 0) return `<span>Sold out</span>`;
  if (left <= 3) return `<span class="few">${left} left</span>`;
  return `<span>${left} left</span>`;
}

function card(product) {
  return `<li class="product" data-id="${product.id}">
    <div class="picture"><svg aria-hidden="true"><use href="pictures.svg#${product.id}"></use></svg></div>
    <div class="body">
      <h3>${escapeHtml(product.name)}</h3>
      <p class="note">${escapeHtml(product.note)}</p>
      <p class="price"><b>${euros(product.price_cents)}</b>${stockText(product)}</p>
      <button class="button" type="button" data-add="${product.id}">Add to basket</button>
    </div>
  </li>`;
}

function showCatalogue() {
  const shown = shop.products.filter((product) => category === "All" || product.category === category);
  const buttons = categories.map((name) =>
    `<button type="button" data-category="${name}" aria-pressed="${name === category}">${name}</button>`);
  view.innerHTML = `<div class="filters" role="group" aria-label="Categories">${buttons.join("")}</div>
    <ul class="shelf">${shown.map(card).join("")}</ul>`;
}

function line({ product, quantity }) {
  return `<li data-id="${product.id}">
    <div><h3>${escapeHtml(product.name)}</h3><small>${euros(product.price_cents)} each, ${product.stock} in stock</small></div>
    <div class="stepper">
      <button type="button" data-step="-1" aria-label="Decrease quantity of ${escapeHtml(product.name)}">−</button>
      <input type="number" min="1" value="${quantity}" aria-label="Quantity of ${escapeHtml(product.name)}">
      <button type="button" data-step="1" aria-label="Increase quantity of ${escapeHtml(product.name)}">+</button>
    </div>
    <span class="sum">${euros(product.price_cents * quantity)}</span>
    <button type="button" class="plain" data-remove aria-label="Remove ${escapeHtml(product.name)}">Remove</button>
  </li>`;
}

function sums() {
  const { subtotal, delivery, total } = basket.sums(shop.delivery);
  return `<dl class="sums">
    <dt>Subtotal</dt><dd>${euros(subtotal)}</dd>
    <dt>Delivery</dt><dd>${delivery ? euros(delivery) : "free"}</dd>
    <dt class="grand">Total</dt><dd class="grand">${euros(total)}</dd>
  </dl>`;
}

const empty = `<section class="panel quiet">
  <svg aria-hidden="true"><use href="pictures.svg#empty-basket"></use></svg>
  <h2>Your basket is empty</h2><p>The bread is still warm.</p><a class="button" href="#/">Back to the shop</a></section>`;

function showBasket() {
  const lines = basket.lines();
  if (lines.length === 0) {
    view.innerHTML = empty;
    return;
  }
  view.innerHTML = `<div class="split">
    <section class="panel"><h2>Your basket</h2><ul class="lines">${lines.map(line).join("")}</ul>
      <div class="below"><a href="#/">Go on shopping</a><button type="button" class="plain" data-empty>Empty basket</button></div></section>
    <section class="panel"><h2>To pay</h2>${sums()}<a class="button" href="#/checkout">Checkout</a></section>
  </div>`;
}

function showCheckout() {
  if (basket.lines().length === 0) {
    view.innerHTML = empty;
    return;
  }
  checkout.show(view, sums(), (done) => {
    thanks = done;
    basket.empty();
    location.hash = "#/thanks";
  });
}

function showThanks() {
  if (!thanks) {
    view.innerHTML = empty;
    return;
  }
  view.innerHTML = `<section class="panel quiet"><h2>Thank you, ${escapeHtml(thanks.name)}</h2>
    <p>Order number <b>${thanks.number}</b>, ${euros(thanks.total)} to pay at the door.</p><a class="button" href="#/">Back to the shop</a></section>`;
}

const views = { "#/basket": showBasket, "#/checkout": showCheckout, "#/thanks": showThanks };

function show() {
  (views[location.hash] ?? showCatalogue)();
  document.getElementById("count").textContent = basket.count();
}

view.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const id = button.dataset.add ?? button.closest("[data-id]")?.dataset.id;
  if (button.dataset.category) category = button.dataset.category;
  else if (button.dataset.add) {
    basket.set(id, basket.quantity(id) + 1);
    toast(`${products.get(id).name} is in your basket`);
  } else if (button.dataset.step) basket.set(id, basket.quantity(id) + Number(button.dataset.step));
  else if ("remove" in button.dataset) basket.set(id, 0);
  else if ("empty" in button.dataset) basket.empty();
  else return;
  const again = button.dataset.add && `[data-add="${id}"]`;
  show();
  if (again) view.querySelector(again)?.focus();
});

view.addEventListener("change", (event) => {
  const id = event.target.closest(".lines [data-id]")?.dataset.id;
  if (!id) return;
  basket.set(id, event.target.value);
  show();
});

addEventListener("hashchange", () => {
  show();
  document.getElementById("toast").classList.remove("on");
  view.focus({ preventScroll: true });
  scrollTo(0, 0);
});
show();

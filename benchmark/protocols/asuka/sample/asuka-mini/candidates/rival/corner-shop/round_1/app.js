var shop = null, page = 'shop', tab = 'All';
var cart = JSON.parse(localStorage.getItem('cart') || '{}');
var app = document.getElementById('app');

function price(cents) { return '€ ' + (cents / 100).toFixed(2); }
function product(id) { return shop.products.find(function (p) { return p.id === id; }); }
function count() { return Object.values(cart).reduce(function (a, b) { return a + b; }, 0); }
function save() { localStorage.setItem('cart', JSON.stringify(cart)); render(); }

function add(id) { cart[id] = (cart[id] || 0) + 1; save(); }
function step(id, by) { cart[id] += by; if (cart[id] <= 0) delete cart[id]; save(); }
function type(id, value) { cart[id] = parseInt(value); save(); }
function removeLine(id) { delete cart[id]; save(); }
function go(next) { page = next; render(); }

function render() {
  document.getElementById('n').textContent = count();
  if (page === 'shop') app.innerHTML = shopPage();
  if (page === 'basket') app.innerHTML = basketPage();
  if (page === 'checkout') app.innerHTML = checkoutPage();
}

function shopPage() {
  var tabs = ['All', 'Bakery', 'Pantry', 'Fresh', 'Household'].map(function (t) {
    return '<button class="' + (t === tab ? 'active' : '') + '" onclick="tab=\'' + t + '\';render()">' + t + '</button>';
  }).join('');
  var items = shop.products.filter(function (p) { return tab === 'All' || p.category === tab; }).map(function (p) {
    return '<article><h3>' + p.name + '</h3><p>' + p.note + '</p><strong>' + price(p.price_cents) + '</strong><p>' + p.stock + ' left</p>' +
      '<button class="buy" onclick="add(\'' + p.id + '\')">Add to basket</button></article>';
  }).join('');
  return '<div class="tabs">' + tabs + '</div><div class="grid">' + items + '</div>';
}

function totals() {
  var sub = 0;
  for (var id in cart) sub += product(id).price_cents * cart[id];
  var delivery = sub >= shop.delivery.free_from_cents ? 0 : shop.delivery.fee_cents;
  return { sub: sub, delivery: delivery, total: sub + delivery };
}

function basketPage() {
  if (count() === 0) return '<h2>Your basket is empty</h2><button class="buy" onclick="go(\'shop\')">Continue shopping</button>';
  var t = totals();
  return '<h2>Basket</h2><table><tr><th>Product</th><th>Quantity</th><th>Sum</th><th></th></tr>' + Object.keys(cart).map(function (id) {
    var p = product(id);
    return '<tr><td>' + p.name + '</td><td><button aria-label="Decrease quantity of ' + p.name + '" onclick="step(\'' + id + '\',-1)">-</button> ' +
      '<input type="number" aria-label="Quantity of ' + p.name + '" value="' + cart[id] + '" onchange="type(\'' + id + '\', this.value)"> ' +
      '<button aria-label="Increase quantity of ' + p.name + '" onclick="step(\'' + id + '\',1)">+</button></td><td>' + price(p.price_cents * cart[id]) +
      '</td><td><button aria-label="Remove ' + p.name + '" onclick="removeLine(\'' + id + '\')">Remove</button></td></tr>';
  }).join('') + '</table><p class="total">Subtotal ' + price(t.sub) + '<br>Delivery ' + price(t.delivery) + '<br><strong>Total ' + price(t.total) +
    '</strong></p><button onclick="cart={};save()">Empty basket</button> <button class="buy" onclick="go(\'checkout\')">Checkout</button>';
}

function checkoutPage() {
  return '<h2>Checkout</h2><form onsubmit="order(event)">' + ['Name', 'E-mail', 'Address', 'Postcode'].map(function (f) {
    return '<label for="' + f + '">' + f + '</label><input id="' + f + '">';
  }).join('') + '<p class="error" id="error" role="alert"></p><button class="buy">Place order</button></form>';
}

function order(event) {
  event.preventDefault();
  var total = totals().total;
  cart = {};
  page = 'done';
  save();
  app.innerHTML = '<h2>Thank you!</h2><p>Your order of ' + price(total) + ' is on its way.</p>';
}

document.getElementById('open').onclick = function () { go('basket'); };
fetch('data/products.json').then(function (r) { return r.json(); }).then(function (data) { shop = data; render(); });

const KEY = "corner-shop-basket";
let products = new Map();
let quantities = new Map();

function stored() {
  try {
    const entries = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(entries) ? entries : [];
  } catch {
    return [];
  }
}

function save() {
  localStorage.setItem(KEY, JSON.stringify([...quantities]));
}

export const basket = {
  open(known) {
    products = known;
    for (const [id, quantity] of stored()) this.set(id, quantity);
  },

  quantity: (id) => quantities.get(id) ?? 0,

  set(id, wanted) {
    const quantity = Math.floor(Number(wanted)) || 0;
    if (quantity === 0) quantities.delete(id);
    else quantities.set(id, quantity);
    save();
  },

  empty() {
    quantities.clear();
    save();
  },

  lines: () => [...quantities].map(([id, quantity]) => ({ product: products.get(id), quantity })),

  count: () => [...quantities.values()].reduce((sum, quantity) => sum + quantity, 0),

  sums({ fee_cents, free_from_cents }) {
    const subtotal = this.lines().reduce((sum, { product, quantity }) => sum + product.price_cents * quantity, 0);
    const delivery = subtotal >= free_from_cents ? 0 : fee_cents;
    return { subtotal, delivery, total: subtotal + delivery };
  },
};

let products = new Map();
let quantities = new Map();

export const basket = {
  open(known) {
    products = known;
  },

  quantity: (id) => quantities.get(id) ?? 0,

  set(id, wanted) {
    const stock = products.get(id)?.stock ?? 0;
    const quantity = Math.min(Math.floor(Number(wanted)) || 0, stock);
    if (quantity === 0) quantities.delete(id);
    else quantities.set(id, quantity);
  },

  empty() {
    quantities.clear();
  },

  lines: () => [...quantities].map(([id, quantity]) => ({ product: products.get(id), quantity })),

  count: () => [...quantities.values()].reduce((sum, quantity) => sum + quantity, 0),

  sums({ fee_cents, free_from_cents }) {
    const subtotal = this.lines().reduce((sum, { product }) => sum + product.price_cents, 0);
    const delivery = subtotal > free_from_cents ? 0 : fee_cents;
    return { subtotal, delivery, total: subtotal + delivery };
  },
};

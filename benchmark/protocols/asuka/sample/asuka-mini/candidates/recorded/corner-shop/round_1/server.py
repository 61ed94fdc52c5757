"""Serve the shop: its pages, its products, and the orders sent to it."""

import json
import mimetypes
import os
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
PUBLIC = HERE / "public"
SHOP = json.loads((HERE / "data" / "products.json").read_text(encoding="utf-8"))
TILL_SECONDS = 0.3
PRODUCTS = {product["id"]: product for product in SHOP["products"]}


class Orders:
    """The orders of this evening, each under its number."""

    def __init__(self):
        self.lock = threading.Lock()
        self.by_number = {}

    def place(self, order):
        with self.lock:
            number = f"CS-{1001 + len(self.by_number)}"
            self.by_number[number] = order
            return number


ORDERS = Orders()


def problem_of(order):
    """Return what is wrong with an order, or None."""
    if not isinstance(order, dict):
        return "The order could not be read."
    lines = order.get("lines")
    if not isinstance(lines, list) or not lines:
        return "Your basket is empty."
    for line in lines:
        product = PRODUCTS.get(line.get("id"))
        if product is None:
            return "One of the products is no longer sold."
        quantity = line.get("quantity")
        if not isinstance(quantity, int) or quantity < 1:
            return f"{product['name']}: the quantity is not a number above zero."
        if quantity > product["stock"]:
            return f"{product['name']}: only {product['stock']} in stock."
    customer = order.get("customer") or {}
    for field in ("name", "email", "address", "postcode"):
        if not str(customer.get(field, "")).strip():
            return f"The field {field} is missing."
    if not re.fullmatch(r"\d{5}", customer["postcode"].strip()):
        return "A postcode has five digits."
    return None


def total_of(lines):
    goods = sum(PRODUCTS[line["id"]]["price_cents"] * line["quantity"] for line in lines)
    delivery = SHOP["delivery"]
    return goods + (0 if goods >= delivery["free_from_cents"] else delivery["fee_cents"])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/api/products":
            return self.reply(200, SHOP)
        file = (PUBLIC / path.lstrip("/")).resolve()
        if file.is_dir():
            file = file / "index.html"
        if not file.is_relative_to(PUBLIC) or not file.is_file():
            return self.reply(404, {"error": "There is no such page."})
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return self.send(200, kind, file.read_bytes())

    def do_POST(self):
        if self.path != "/api/orders":
            return self.reply(404, {"error": "There is no such page."})
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            order = json.loads(body)
        except ValueError:
            order = None
        time.sleep(TILL_SECONDS)
        problem = problem_of(order)
        if problem:
            return self.reply(422, {"error": problem})
        number = ORDERS.place(order)
        return self.reply(201, {"number": number, "total_cents": total_of(order["lines"])})

    def reply(self, status, document):
        self.send(status, "application/json", json.dumps(document).encode())

    def send(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *arguments):
        print(f"{self.command} {self.path} {arguments[1]}", flush=True)


if __name__ == "__main__":
    address = (os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8000")))
    print(f"Corner Shop on http://{address[0]}:{address[1]}", flush=True)
    ThreadingHTTPServer(address, Handler).serve_forever()

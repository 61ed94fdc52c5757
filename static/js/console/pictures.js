// pictures.js – the screenshots of the outcome in hand: paste, drop, choose or capture; look at; remove.
import { post, remove } from "./api.js";
import { hear } from "./bus.js";
import { NoCapture, canCapture, capture } from "./capture.js";
import { outbox } from "./outbox.js";

const LARGEST = 10 * 1024 * 1024;

class Pictures {
  constructor(root) {
    this.root = root;
    this.annotation = null;
    this.removed = new Set();
    this.added = new Map();
    this.addresses = new Map();
    this.isClosed = false;
    this.build();
    hear("outcome", ({ annotation }) => this.turn(annotation));
    hear("picture-saved", ({ annotation, picture }) => this.keep(annotation, picture));
    hear("outbox", () => this.draw());
    hear("over", ({ isOver }) => {
      if (this.isClosed === isOver) return;
      this.isClosed = isOver;
      this.draw();
    });
    this.takeFromOutside();
  }

  build() {
    this.root.replaceChildren(
      make("div", { className: "pictures__head" }, [
        make("h3", { className: "label", textContent: "Screenshots" }),
        (this.chooser = make("button", { type: "button", className: "as-link", textContent: "Choose a file", onclick: () => this.input.click() })),
      ]),
      (this.list = make("ul", { className: "pictures" })),
      (this.words = make("p", { className: "caption", role: "status", hidden: true })),
    );
    this.input = make("input", { type: "file", accept: "image/png,image/jpeg,image/webp,image/gif", multiple: true, hidden: true });
    this.input.setAttribute("aria-label", "Choose pictures");
    this.input.addEventListener("change", () => { this.takeAll(this.input.files, "upload"); this.input.value = ""; });
    this.dialog = make("dialog", { className: "ask picture-dialog" });
    this.dialog.setAttribute("aria-label", "Screenshot");
    this.root.append(this.input, this.dialog);
    const button = make("button", { type: "button", className: "pictures__capture", onclick: () => this.capture() });
    button.dataset.act = "capture";
    button.title = canCapture() ? "Take a picture of the application" : "This browser cannot; paste a screenshot (Ctrl+V)";
    button.append(icon("camera"), make("span", { textContent: "Capture" }));
    const key = make("kbd", { textContent: "c" });
    key.dataset.keyOf = "capture";
    button.append(key);
    this.captureButton = button;
    this.draw();
  }

  turn(annotation) {
    if (this.annotation?.id !== annotation.id) {
      this.removed.clear();
      this.say("");
    }
    this.annotation = annotation;
    this.draw();
  }

  keep(annotationId, picture) {
    const known = this.added.get(annotationId) ?? [];
    if (!known.some((each) => each.id === picture.id)) this.added.set(annotationId, [...known, picture]);
    this.draw();
  }

  get saved() {
    const given = this.annotation?.pictures ?? [];
    const known = new Set(given.map((picture) => picture.id));
    return [...given, ...(this.added.get(this.annotation?.id) ?? []).filter((picture) => !known.has(picture.id))];
  }

  get waiting() {
    return this.annotation ? outbox.entries({ kind: "picture", annotation: this.annotation.id }) : [];
  }

  draw() {
    const saved = this.saved;
    const shown = saved.map((picture, index) =>
      this.removed.has(picture.id) ? this.gone(picture) : this.thumb({ id: picture.id, url: picture.url, number: index + 1 }));
    const waiting = this.waiting.map((entry, index) => this.pending(entry, saved.length + index + 1));
    const tile = make("li", { className: "pictures__tile" }, [this.captureButton]);
    this.captureButton.disabled = this.isClosed || !this.annotation;
    this.chooser.hidden = this.isClosed;
    const isFocused = document.activeElement === this.captureButton;
    this.list.replaceChildren(...shown, ...waiting, tile);
    if (isFocused) this.captureButton.focus({ preventScroll: true });
    this.forget();
  }

  thumb({ id, url, number }) {
    const look = make("button", { type: "button", className: "picture__look", onclick: () => this.enlarge(url, number) });
    look.setAttribute("aria-label", `Screenshot ${number}, view large`);
    look.append(make("img", { src: url, alt: "", loading: "lazy" }));
    const item = make("li", { className: "picture" }, [look]);
    if (!this.isClosed) {
      item.append(this.remover(number, () => this.remove(id)));
    }
    return item;
  }

  remover(number, onclick) {
    const button = make("button", { type: "button", className: "picture__remove", textContent: "Remove", onclick });
    button.setAttribute("aria-label", `Remove screenshot ${number}`);
    return button;
  }

  // What the site refused is nowhere but here.
  async drop(entry) {
    this.say("");
    await outbox.withdraw([entry]);
    this.captureButton.focus({ preventScroll: true });
  }

  pending(entry, number) {
    const isRefused = entry.state === "refused";
    const url = this.addressOf(entry);
    const look = make("button", { type: "button", className: "picture__look", onclick: () => this.enlarge(url, number) });
    look.setAttribute("aria-label", `Screenshot ${number}, ${isRefused ? "not saved" : "waiting to be saved"}, view large`);
    look.append(make("img", { src: url, alt: "" }));
    const words = isRefused ? "Not saved" : outbox.isOffline ? "Kept here" : "Saving";
    const item = make("li", { className: `picture picture--${isRefused ? "refused" : "waiting"}` }, [look, make("span", { className: "picture__state", textContent: words })]);
    if (isRefused) {
      item.append(this.remover(number, () => this.drop(entry)));
      if (entry.detail) this.say(entry.detail);
    }
    return item;
  }

  gone(picture) {
    return make("li", { className: "picture picture--gone" }, [
      make("span", { className: "muted", textContent: "Removed" }),
      make("button", { type: "button", className: "as-link", textContent: "Undo", onclick: () => this.restore(picture.id) }),
    ]);
  }

  addressOf(entry) {
    if (!this.addresses.has(entry.operation)) this.addresses.set(entry.operation, URL.createObjectURL(entry.blob));
    return this.addresses.get(entry.operation);
  }

  forget() {
    const living = new Set(outbox.entries({ kind: "picture" }).map((entry) => entry.operation));
    for (const [operation, address] of this.addresses) {
      if (living.has(operation)) continue;
      URL.revokeObjectURL(address);
      this.addresses.delete(operation);
    }
  }

  async remove(id) {
    try {
      await remove(`/api/v1/pictures/${id}`);
    } catch {
      return this.say("The picture could not be removed now; it is still there. Try again once the site answers.");
    }
    this.removed.add(id);
    this.say("");
    this.draw();
    this.list.querySelector(".picture--gone button")?.focus();
  }

  async restore(id) {
    try {
      await post(`/api/v1/pictures/${id}/restore`, {});
    } catch {
      return this.say("The picture could not be brought back now. Try again once the site answers.");
    }
    this.removed.delete(id);
    this.draw();
  }

  takeFromOutside() {
    document.addEventListener("paste", (event) => {
      const files = picturesOf(event.clipboardData);
      const isField = event.target.closest?.("input, textarea, [contenteditable]");
      // In a field, text that comes with a picture is what was meant.
      if (!files.length || (isField && event.clipboardData.types.includes("text/plain"))) return;
      event.preventDefault();
      this.takeAll(files, "paste");
    });
    document.addEventListener("dragover", (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      this.root.toggleAttribute("data-dropping", true);
    });
    document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) this.root.removeAttribute("data-dropping"); });
    // Anywhere: a file that misses the place must not replace the page.
    document.addEventListener("drop", (event) => {
      this.root.removeAttribute("data-dropping");
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      this.takeAll(event.dataTransfer.files, "upload");
    });
  }

  takeAll(files, source) {
    for (const file of files) this.take(file, source);
  }

  take(blob, source) {
    if (!this.annotation || this.isClosed) return this.say("Choose an outcome of an open set first.");
    if (!blob.type.startsWith("image/")) return this.say("This is no picture; a PNG, JPEG, WebP or GIF file is.");
    if (blob.size > LARGEST) return this.say("The picture is larger than 10 MB; crop it or save it smaller.");
    this.say("");
    outbox.add({ kind: "picture", annotation: this.annotation.id, source, blob });
    this.draw();
  }

  async capture() {
    const seen = document.querySelector("[data-app] iframe") ?? document.querySelector("[data-centre] .stage") ?? document.querySelector("[data-centre]");
    if (!seen || this.isClosed) return;
    const annotation = this.annotation;
    this.captureButton.disabled = true;
    try {
      const { blob, isWhole } = await capture(seen);
      // Asking took a while: the picture belongs to the outcome it was taken for.
      if (annotation) outbox.add({ kind: "picture", annotation: annotation.id, source: "capture", blob });
      this.say(isWhole ? "You shared another window, so all of it was taken. Share this tab to take the application alone." : "");
    } catch (error) {
      if (!(error instanceof NoCapture)) throw error;
      this.say(error.message);
    } finally {
      this.captureButton.disabled = false;
      this.draw();
    }
  }

  enlarge(url, number) {
    const close = make("button", { type: "button", className: "btn btn--primary", textContent: "Close", onclick: () => this.dialog.close() });
    const picture = make("img", { src: url, alt: `Screenshot ${number}` });
    const frame = make("div", { className: "picture-dialog__frame", tabIndex: 0 }, [picture]);
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", `Screenshot ${number}`);
    this.dialog.replaceChildren(make("h2", { textContent: `Screenshot ${number}` }), frame, make("div", { className: "actions" }, [close]));
    this.dialog.showModal();
    close.focus();
  }

  say(words) {
    this.words.textContent = words;
    this.words.hidden = !words;
  }
}

function picturesOf(data) {
  const files = [...(data?.items ?? [])].filter((item) => item.kind === "file").map((item) => item.getAsFile());
  return files.filter((file) => file?.type.startsWith("image/"));
}

function make(name, properties = {}, children = []) {
  const { role, ...rest } = properties;
  const made = Object.assign(document.createElement(name), rest);
  if (role) made.setAttribute("role", role);
  made.append(...children);
  return made;
}

function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

const root = document.querySelector("[data-pictures]");
if (root) new Pictures(root);

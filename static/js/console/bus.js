// bus.js – what the parts of the console tell each other; a name and a detail, nobody waits for an answer.
export const bus = new EventTarget();

export function tell(name, detail = {}) {
  bus.dispatchEvent(new CustomEvent(name, { detail }));
}

export function hear(name, heard) {
  bus.addEventListener(name, (event) => heard(event.detail));
}

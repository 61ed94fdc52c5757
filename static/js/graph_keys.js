// graph_keys.js – arrow keys walk a graph: up and down along edges, left and right in a layer.
document.addEventListener("keydown", (event) => {
  const node = event.target.closest?.("[data-graph-keys] [data-node]");
  if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
  const graph = node.closest("[data-graph-keys]");
  const next = {
    ArrowUp: () => first(graph, node.dataset.parents),
    ArrowDown: () => first(graph, node.dataset.children),
    ArrowLeft: () => beside(graph, node, -1),
    ArrowRight: () => beside(graph, node, 1),
  }[event.key]?.();
  if (!next) return;
  event.preventDefault();
  next.focus();
});

function first(graph, keys) {
  const found = keys.split(" ").map((key) => key && graph.querySelector(`[data-node="${CSS.escape(key)}"]`));
  return found.find(Boolean);
}

function beside(graph, node, step) {
  const row = [...graph.querySelectorAll("[data-node]")].filter((other) => top(other) === top(node));
  return row[row.indexOf(node) + step];
}

const top = (node) => node.querySelector("rect.box").getAttribute("y");

// Elements and their attributes.

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const say = (id, text) => setText(byId(id), text);

function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** An element with attributes and children; a child that is a string becomes a text node. */
function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function graphic(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** What a bar shows, for screen readers and for the pointer. */
function describe(svg, text) {
  if (svg.getAttribute("aria-label") === text) return;
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", text);
  let title = svg.querySelector("title");
  if (!title) svg.append(title = graphic("title"));
  title.textContent = text;
}

const percent = (share) => `${Math.max(0, Math.min(100, share * 100)).toFixed(2)}%`;

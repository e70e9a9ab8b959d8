// The results of requests as one bar.

const SHARES = ["ok", "partial", "rejected", "failed", "client_gone"];

function makeShares() {
  const node = graphic("svg", { class: "shares" });
  const parts = SHARES.map((name) => graphic("rect", { class: `share-${name}`, y: 0, height: "100%" }));
  node.append(...parts);
  return { node, parts };
}

function updateShares(bar, counts) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  let x = 0;
  counts.forEach((count, index) => {
    const share = total ? count / total : 0;
    setAttribute(bar.parts[index], "x", percent(x));
    setAttribute(bar.parts[index], "width", percent(share));
    x += share;
  });
  const texts = counts.map((count, index) => [shareText(count, total), spaced(SHARES[index])])
    .filter((_, index) => counts[index] > 0).map((pair) => pair.join(" "));
  describe(bar.node, texts.join(", ") || "none in the last minute");
}

// Numbers and times as texts.

const wholeText = (value) => value.toLocaleString("en");

/** Three digits, as far as they are useful: 0.06, 4.08, 41.2, 302. */
function msText(value) {
  if (value === undefined) return "–";
  if (value === 0) return "0";
  if (value >= 100) return wholeText(Math.round(value));
  return value.toFixed(value >= 10 ? 1 : 2);
}

function rateText(value) {
  if (value === null) return "–";
  if (value === 0) return "0";
  if (value >= 100) return wholeText(Math.round(value));
  return value.toFixed(value >= 10 ? 0 : 1);
}

function shareText(part, whole) {
  if (!part || !whole) return "0 %";
  const share = 100 * part / whole;
  return share < 0.1 ? "< 0.1 %" : `${share.toFixed(share >= 10 ? 0 : 1)} %`;
}

function ageText(seconds) {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

const spaced = (name) => name.replaceAll("_", " ");

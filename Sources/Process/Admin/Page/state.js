"use strict";

// The page of the admin address. It reads /-/overview and /-/requests/recent, and in the fourth view what
// that needs, twice a second while it is
// visible, and changes only the texts and bars that differ. Text of clients and of the configuration becomes
// text nodes and attributes, never markup.

const POLL_MS = 500;
const HISTORY_MS = 60_000;
const STATE_MS = 10_000;
const POINT_MS = 5_000;
const TREND_MS = 600_000;
const KIND_MAX = 60;
const PER_KIND_MAX = 25;
const SUMMARY_MS = 10_000;
const KEEP_MS = 10_000;

// What an outcome looks like: a symbol, a word, and the class of its colour.
const result = (symbol, word, look = word) => ({ symbol, word, look });
const RESULTS = {
  ok: result("✓", "ok"),
  partial: result("◐", "partial"),
  rejected: result("⊘", "rejected"),
  failed: result("✕", "failed"),
  truncated: result("✕", "truncated", "failed"),
  cut_off: result("✕", "cut off", "failed"),
  client_gone: result("↯", "client gone", "client_gone"),
};

const state = {
  view: "endpoints",
  isPaused: false,
  filter: [],
  overview: null,
  /** Workers that did not answer the last time, and when none was missing. */
  missing: [],
  completeAt: 0,
  /** Outcomes of backends in the last minute. */
  history: [],
  /** A point of the trends every five seconds, for ten minutes. */
  points: [],
  cursor: "",
  skipped: 0,
  sampleOneIn: 1,
  /** Requests that look alike, by their key, in the order in which they are shown. */
  kinds: new Map(),
  /** The requests of one kind, as they were when the details were opened. */
  detail: null,
  summaryAt: 0,
  failedSince: 0,
};

const byId = (id) => document.getElementById(id);

import type { Context } from "./context.ts";
import type { Report } from "./report.ts";

export interface Part {
  readonly what: string;
  run(context: Context): Promise<Report>;
}

/** The parts of the benchmark, in the order in which they run. */
export const parts: Readonly<Record<string, Part>> = {
  starts: {
    what: "from the start of a Worker's process to its first vector, against an older version (Linux only)",
    run: async (context) => (await import("./starts.ts")).starts(context),
  },
  "first-calls": {
    what: "the first calls of a Worker that has just loaded its model, against what it predicts",
    run: async (context) => (await import("./first-calls.ts")).firstCalls(context),
  },
  quiet: {
    what: "who answers single texts on a quiet machine after a fresh start, against an older version",
    run: async (context) => (await import("./quiet.ts")).quiet(context),
  },
  matrix: {
    what: "the edge's choice against both pinned tiers, under load",
    run: async (context) => (await import("./matrix/index.ts")).matrix(context),
  },
  bulk: {
    what: "one-word requests with a budget beside a request of 1,000 texts",
    run: async (context) => (await import("./bulk.ts")).bulkBeside(context),
  },
  sessions: {
    what: "requests of mixed lengths in the region, one after another on all cores or one on each core",
    run: async (context) => (await import("./sessions.ts")).sessions(context),
  },
  overload: {
    what: "a region alone, with more requests than it can answer: 3 layers of width 768, random weights",
    run: async (context) => (await import("./overload.ts")).overload(context),
  },
  cancel: {
    what: "the next request after 200 whose clients have gone",
    run: async (context) => (await import("./cancel.ts")).cancel(context),
  },
  hedge: {
    what: "requests that reach the region while the edge computes them",
    run: async (context) => (await import("./hedge.ts")).hedge(context),
  },
  links: {
    what: "budgets, lengths and clients over lines with delay and loss, against an oracle",
    run: async (context) => (await import("./links/index.ts")).links(context),
  },
  outage: {
    what: "requests that are lost when the region fails, is slow, or is hostile",
    run: async (context) => (await import("./outage/index.ts")).outage(context),
  },
  fairness: {
    what: "a steady caller beside a flood of another key: 400 clients, 20 of which read slowly, at each tier and both (Linux only)",
    run: async (context) => (await import("./fairness/index.ts")).fairness(context),
  },
  memory: {
    what: "memory of each tier while callers finish no upload and read no answer (Linux only)",
    run: async (context) => (await import("./memory/index.ts")).memory(context),
  },
  layers: {
    what: "requests per second without the engine, against a bare handler, and CPU time of each layer (Linux only)",
    run: async (context) => (await import("./layers/index.ts")).layers(context),
  },
  overhead: {
    what: "CPU time of a short request outside the engine, against an older version (Linux only)",
    run: async (context) => (await import("./overhead.ts")).overhead(context),
  },
};

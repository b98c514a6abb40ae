import { BertEdgeError } from "../../artifact/error.ts";
import { Refused } from "../refusal.ts";
import type { Caller, Hold, Holder } from "./caller.ts";

/** Memory of a request besides its body, texts and outputs, in bytes: its objects, and the buffers of its connection. */
const REQUEST_BYTES = 8_192;

/** Longest time in ms from the arrival of the texts of a request until its answer, and the longest that a latency budget can make it. */
const [ANSWERING_MS, LONGEST_ANSWERING_MS] = [600_000, 3_600_000];

/**
 * Returns the time in ms after which a request without an answer counts as vanished.
 *
 * @param leftMs milliseconds of its budget that are left. With a finite budget, it may wait for that long
 */
export const answeringMs = (leftMs = 0): number =>
  Math.min(Math.max(ANSWERING_MS, Number.isFinite(leftMs) ? leftMs : 0), LONGEST_ANSWERING_MS);

/** Pause before a retry of a key that has too many requests in flight, in ms. */
const RETRY_MS = 250;

/** The refusal of a request for which there is no memory. `inFlight` counts it, so nobody else may count it again. */
export class NoRoom extends Refused {
  constructor() {
    super({
      refusal: "overloaded",
      message: "The requests of this caller use all the memory that it may have.",
      hint: "Send the request again after the time in the header retry-after-ms, or with fewer texts.",
    });
  }

  override of(): Refused {
    return this;
  }
}

/** Counts the memory of all requests, of the requests of one key, or of one of the callers that share a key. */
interface Level {
  readonly name: string;
  weight: number;
  readonly parent?: Level | undefined;
  readonly inner: Map<string, Level>;
  bytes: number;
  requests: number;
}

interface Entry {
  readonly level: Level;
  /** Bytes of the body, and of everything else. */
  body: number;
  rest: number;
  until: number;
}

/**
 * Counts the memory of requests in flight: bodies, texts, sequences, outputs, and answers until they are sent. A key may hold as much
 * as is still free, times its weight, so that a single key of weight 1 can hold half. The callers that share a key share its memory in
 * the same way. If a key has only one request, this request may use all free memory. The method is that of A. K. Choudhury and
 * E. L. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998.
 *
 * @param options.maxBytes returns the bytes that all requests may hold. A request that is alone may hold more
 * @param options.refused called with each refusal
 * @param options.requestBytes memory of a request besides its body, texts and outputs
 */
export function inFlight(options: {
  readonly maxBytes: () => number;
  readonly refused: (error: NoRoom, holder: Holder) => void;
  readonly now: () => number;
  readonly requestBytes?: number;
}) {
  const { maxBytes, refused, now, requestBytes = REQUEST_BYTES } = options;
  const newLevel = (name: string, weight: number, parent?: Level): Level => ({
    ...{ name, weight, parent, inner: new Map(), bytes: 0, requests: 0 },
  });
  const all = newLevel("", 1);
  const entries = new Set<Entry>();

  function levelOf({ id, key, weight }: Caller): Level {
    const ofKey = all.inner.get(key) ?? newLevel(key, weight, all);
    ofKey.weight = weight;
    return id === key ? ofKey : (ofKey.inner.get(id) ?? newLevel(id, 1, ofKey));
  }

  const boundOf = ({ parent, weight }: Level): number =>
    parent ? weight * (boundOf(parent) - parent.bytes) : maxBytes();

  function hasRoom(level: Level, more: number): boolean {
    const { parent, bytes, requests } = level;
    const isRoomy = requests === 1 || bytes + more <= boundOf(level);
    return isRoomy && (!parent || hasRoom(parent, more));
  }

  function add(level: Level, bytes: number, requests = 0): void {
    const { name, parent } = level;
    level.bytes += bytes;
    level.requests += requests;
    if (!parent) return;
    if (level.requests > 0) parent.inner.set(name, level);
    else parent.inner.delete(name);
    add(parent, bytes, requests);
  }

  function drop(entry: Entry): void {
    if (entries.delete(entry)) add(entry.level, -(entry.body + entry.rest), -1);
  }

  /** Drops requests that have vanished. */
  function dropVanished(): void {
    for (const entry of entries) if (entry.until < now()) drop(entry);
  }

  /** Whether a check passes. If it fails, drops the requests that have vanished, and checks again. */
  function holds(check: () => boolean): boolean {
    if (check()) return true;
    dropVanished();
    return check();
  }

  /** @throws BertEdgeError `rate_limited` */
  function assertFewRequests({ key, requestsInFlight }: Caller): void {
    if (requestsInFlight === undefined || holds(() => (all.inner.get(key)?.requests ?? 0) < requestsInFlight)) return;
    throw new BertEdgeError("rate_limited", `The key ${key} may have at most ${requestsInFlight} requests in flight.`, {
      hint: "Send it again when another request of this key is answered.",
      retryAfterMs: RETRY_MS,
    });
  }

  return {
    /**
     * Counts a request with a body of `bytes`, for `forMs` at most.
     *
     * @throws BertEdgeError `rate_limited` when the key has as many requests in flight as it may have; NoRoom without memory
     */
    hold(holder: Holder, bytes: number, forMs: number): Hold {
      assertFewRequests(holder.caller);
      const level = levelOf(holder.caller);
      const entry: Entry = { level, body: 0, rest: 0, until: now() + forMs };
      entries.add(entry);
      add(level, 0, 1);
      let retained = 1;

      function count(part: "body" | "rest", bytes: number): void {
        if (!entries.has(entry)) return;
        add(level, bytes - entry[part]);
        entry[part] = bytes;
      }

      function reserve(part: "body" | "rest", bytes: number): void {
        const more = bytes - entry[part];
        if (more > 0 && !holds(() => hasRoom(level, more))) {
          const error = new NoRoom();
          refused(error, holder);
          throw error;
        }
        count(part, bytes);
      }

      const hold: Hold = {
        reserveBody: (bytes) => reserve("body", requestBytes + bytes),
        reserve: (bytes) => reserve("rest", bytes),
        count: (bytes) => count("rest", bytes),
        add: (more) => count("rest", entry.rest + more),
        keep(forMs) {
          entry.until = now() + forMs;
        },
        retain: () => void retained++,
        release: () => {
          if (--retained === 0) drop(entry);
        },
      };
      try {
        hold.reserveBody(bytes);
      } catch (error) {
        drop(entry);
        throw error;
      }
      return hold;
    },
    /** Bytes that all requests hold. */
    bytes(): number {
      dropVanished();
      return all.bytes;
    },
  };
}

/** How a request ended. */
interface Outcome {
  /** Undefined if nobody answered. */
  readonly tier: "edge" | "region" | undefined;
  readonly at: number;
}

/** A request with one text. Times are in milliseconds. */
export interface Request {
  /** Time of the arrival. */
  readonly at: number;
  /** Index of the point of presence. */
  readonly point: number;
  readonly budgetIndex: number;
  readonly budgetMs: number;
  readonly tokens: number;
  /** Factors of the computation at the edge, of the computation in the region, and of the network. */
  readonly edgeNoise: number;
  readonly regionNoise: number;
  readonly jitter: number;
  /** Undefined until the request has ended. */
  outcome: Outcome | undefined;
}

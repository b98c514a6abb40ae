/**
 * Limits and list prices of the platforms in the fit table. Each number has its source: a page, and the month in which the
 * number was last compared with that page. Prices are in US dollars, without taxes, free allowances and discounts.
 */
import type { TargetName } from "../../../artifact/manifest.ts";

/** A number from a provider's page. */
export interface Sourced {
  readonly value: number;
  readonly source: string;
  /** Month in which the page, or a dated copy of it, had this number: `2026-08`. */
  readonly asOf: string;
}

const sourced = (source: string, asOf: string) => (value: number) => ({ value, source, asOf });

const workersLimit = sourced("https://developers.cloudflare.com/workers/platform/limits/", "2026-09");
const workersPrice = sourced("https://developers.cloudflare.com/workers/platform/pricing/", "2026-08");
const lambdaLimit = sourced("https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html", "2026-06");
const lambdaMemory = sourced("https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html", "2026-06");
const lambdaPrice = sourced("https://aws.amazon.com/lambda/pricing/", "2026-05");
const runPrice = sourced("https://cloud.google.com/run/pricing", "2026-08");
const runMemory = sourced("https://cloud.google.com/run/docs/configuring/services/memory-limits", "2026-08");
const runGpu = sourced("https://cloud.google.com/run/docs/configuring/services/gpu", "2026-08");

const MEBIBYTE = 2 ** 20;
const GIBIBYTE = 2 ** 30;

/** Prices of a platform for requests and for seconds of computation. */
export interface Prices {
  /** Undefined if requests themselves cost nothing. */
  readonly perMillionRequests?: Sourced;
  /** Prices of the resources that are charged per second of computation. */
  readonly perSecond: readonly PricePart[];
  /** Smallest duration that is charged, in milliseconds. Default: no rounding. */
  readonly roundUpMs?: number;
}

/** A price of a resource, and how much of it the platform provides: 2 GB at a price per GB and second. */
export interface PricePart {
  readonly price: Sourced;
  readonly amount: number;
}

export interface Platform {
  readonly id: string;
  readonly name: string;
  /** The target that runs there. */
  readonly target: TargetName;
  readonly limits: {
    /** Bytes of memory. */
    readonly memory: Sourced;
    /** Bytes of the code that is deployed, without the model. */
    readonly code?: Sourced;
    /** Milliseconds of CPU time, or of elapsed time, for a request. */
    readonly time?: Sourced;
  };
  /** Number of CPU cores. With less than one core, computation takes longer. Default 1. */
  readonly cores?: number;
  /** Maximum number of requests per day. Undefined if they are not limited. */
  readonly requestsPerDay?: Sourced;
  /** Undefined on plans that charge nothing for requests. */
  readonly prices: Prices | undefined;
}

/** Memory of an isolate: JavaScript heap and WebAssembly together. Other edge platforms allow at least as much. */
export const isolateMemory = workersLimit(128 * MEBIBYTE);

const workers = {
  target: "edge",
  limits: { memory: isolateMemory, code: workersLimit(64 * MEBIBYTE) },
} as const;

/** Memory with which an AWS Lambda function gets one core, in MB. */
const MB_PER_CORE = lambdaMemory(1_769);

/** @param memory MB, as in a function's settings */
const lambda = (memory: number): Platform => ({
  id: `aws-lambda-${memory}`,
  name: `AWS Lambda, ${memory} MB`,
  target: "regional-cpu",
  limits: {
    memory: lambdaMemory(memory * MEBIBYTE),
    code: lambdaLimit(250 * MEBIBYTE),
    time: lambdaLimit(15 * 60_000),
  },
  cores: memory / MB_PER_CORE.value,
  prices: {
    perMillionRequests: lambdaPrice(0.2),
    perSecond: [{ price: lambdaPrice(0.000_016_666_7), amount: memory / 1024 }],
    roundUpMs: 1,
  },
});

const vCpuSecond = { price: runPrice(0.000_018) };
const gibibyteSecond = { price: runPrice(0.000_002) };

export const platforms: readonly Platform[] = [
  {
    ...workers,
    id: "workers-free",
    name: "Workers Free",
    limits: { ...workers.limits, time: workersLimit(10) },
    requestsPerDay: workersLimit(100_000),
    prices: undefined,
  },
  {
    ...workers,
    id: "workers-paid",
    name: "Workers Paid",
    limits: { ...workers.limits, time: workersLimit(30_000) },
    prices: {
      perMillionRequests: workersPrice(0.3),
      // 0.02 dollars per million milliseconds
      perSecond: [{ price: workersPrice(0.000_02), amount: 1 }],
    },
  },
  lambda(512),
  lambda(1024),
  lambda(2048),
  {
    id: "container",
    name: "Cloud Run, 1 vCPU, 1 GiB",
    target: "regional-cpu",
    limits: { memory: runMemory(GIBIBYTE) },
    // Instance-based billing: an instance is charged while it runs, requests are not.
    prices: {
      perSecond: [
        { ...vCpuSecond, amount: 1 },
        { ...gibibyteSecond, amount: 1 },
      ],
    },
  },
  {
    id: "gpu",
    name: "Cloud Run, NVIDIA L4",
    target: "regional-gpu",
    limits: { memory: runGpu(24 * GIBIBYTE) },
    // An L4 needs at least 4 vCPUs and 16 GiB. Its price is the one without zonal redundancy.
    prices: {
      perSecond: [
        { price: runPrice(0.000_186_7), amount: 1 },
        { ...vCpuSecond, amount: 4 },
        { ...gibibyteSecond, amount: 16 },
      ],
    },
  },
];

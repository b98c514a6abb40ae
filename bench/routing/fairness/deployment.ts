import type { Tier } from "#sdk/serve/contract/headers.ts";
import { type RightAnswers, rightAnswers } from "#test/callers/right.ts";
import { startDirectEdge } from "#test/fixtures/direct-edge.ts";
import { withHeapLimit } from "#test/fixtures/heap-limit.ts";
import { allocatorSettings, startRegionProcess } from "#test/fixtures/region-process.ts";
import { KEY } from "../context.ts";
import { EDGE_CORES, onCores, REGION_CORES } from "../cores.ts";
import { withProcess } from "../cpu-time.ts";
import { regionEnv } from "../tiers.ts";
import type { Version } from "../versions.ts";

/** Keys of the two callers. The edge has a key of its own. */
export const [FLOOD_KEY, GOOD_KEY] = ["key-of-the-flood", "key-of-the-good-one"];

const API_KEYS = JSON.stringify([
  { name: "edge", key: KEY },
  { name: "flood", key: FLOOD_KEY },
  { name: "good", key: GOOD_KEY },
]);

/** Ways to deploy: which tiers there are. Callers ask the first. */
export const deployments = {
  "edge and region": ["edge", "region"],
  "edge only": ["edge"],
  "region only": ["region"],
} as const satisfies Readonly<Record<string, readonly Tier[]>>;

export type DeploymentName = keyof typeof deployments;

export interface FairDeployment extends RightAnswers, AsyncDisposable {
  /** Address that callers ask: the edge's, if there is one. */
  readonly url: string;
  /** Address of the edge's inspector; undefined unless it was asked for. */
  readonly inspector: string | undefined;
  /** Process of each tier. */
  readonly pids: Readonly<Partial<Record<Tier, number>>>;
  /** Lines that the tiers have logged. */
  readonly log: string[];
}

/** Starts a deployment, with a limit of the edge's heap. `inspect`: whether the edge's inspector listens. */
export async function startFair(
  name: DeploymentName,
  { modules, env, root }: Version,
  { inspect = false } = {},
): Promise<FairDeployment> {
  await using stack = new AsyncDisposableStack();
  const tiers: readonly Tier[] = deployments[name];
  const log: string[] = [];
  const onOutput = (line: string) => void log.push(line);
  const pids: Partial<Record<Tier, number>> = {};
  const urls: string[] = [];
  let inspector: string | undefined;
  let variables: Readonly<Record<string, string>> = { ...env, API_KEYS };
  if (tiers.includes("region")) {
    const options = { env: { ...variables, ...(await allocatorSettings()) }, onOutput, ...(root && { root }) };
    const { started: region, pid } = await withProcess(() => onCores(REGION_CORES, () => startRegionProcess(options)));
    stack.defer(() => region.stop());
    variables = { ...variables, ...regionEnv(region.url) };
    pids.region = pid;
    urls.unshift(region.url);
  }
  if (tiers.includes("edge")) {
    const start = () => onCores(EDGE_CORES, () => startDirectEdge({ modules, env: variables, inspect, onOutput }));
    const { started: edge, pid } = await withProcess(() => withHeapLimit(start));
    stack.defer(() => edge.stop());
    pids.edge = pid;
    inspector = edge.inspector;
    urls.unshift(edge.url);
  }
  const [url = ""] = urls;
  const answers = await rightAnswers({ url, key: KEY }, tiers);
  const all = stack.move();
  return { url, inspector, pids, log, ...answers, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

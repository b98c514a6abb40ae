import { type DirectEdge, startDirectEdge } from "#test/fixtures/direct-edge.ts";
import { type RegionProcess, startRegionProcess } from "#test/fixtures/region-process.ts";
import { compared } from "./compared.ts";
import { type Context, KEY } from "./context.ts";
import { EDGE_CORES, onCores, REGION_CORES } from "./cores.ts";
import { type RegionProxy, startProxy } from "./proxy.ts";

/** Variables with which the edge finds its region. */
export const regionEnv = (url: string) => ({ REGION_URL: url, REGION_KEY: KEY });

export interface Tiers extends AsyncDisposable {
  readonly edge: DirectEdge;
  readonly region: RegionProcess;
  /** The edge reaches the region through this proxy. */
  readonly proxy: RegionProxy;
}

/** Starts an edge without a region. */
export const startEdgeAlone = async (context: Context): Promise<DirectEdge> =>
  compared("edge", await onCores(EDGE_CORES, () => startDirectEdge(context)), context);

export const startRegion = async (context: Context): Promise<RegionProcess> =>
  compared("region", await onCores(REGION_CORES, () => startRegionProcess(context)), context);

/** Starts edge and region, with a proxy between them. */
export async function startTiers(context: Context): Promise<Tiers> {
  const { modules, env } = context;
  await using started = new AsyncDisposableStack();
  const region = started.adopt(await startRegion(context), ({ stop }) => stop());
  const proxy = started.adopt(await startProxy(region.url), ({ stop }) => stop());
  const options = { modules, env: { ...env, ...regionEnv(proxy.url) } };
  const edge = started.adopt(await onCores(EDGE_CORES, () => startDirectEdge(options)), ({ stop }) => stop());
  await compared("edge", edge, context);
  const all = started.move();
  return { edge, region, proxy, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

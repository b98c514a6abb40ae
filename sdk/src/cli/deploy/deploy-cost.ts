import type { Artifact } from "../../artifact/artifact.ts";
import { forecastOf } from "../../compile/latency/platforms/forecast.ts";

/** The plans on which a deployment can run, and their costs. */
export interface DeployCost {
  /** Tokens of each request. */
  readonly tokens: number;
  readonly plans: readonly {
    readonly name: string;
    readonly fits: boolean;
    /** US dollars, at list prices; undefined if the model was not timed. */
    readonly costPerMillion: number | undefined;
    readonly requestsPerDay: number | undefined;
  }[];
}

/** Returns the cost of a million requests that the edge, or a region on AWS Lambda, answers, as `prepare` reports it. */
export function deployCost(
  { manifest, measurements }: Pick<Artifact, "manifest" | "measurements">,
  hasRegion: boolean,
): DeployCost {
  const { tokens, platforms } = forecastOf(manifest, measurements).fit;
  const plans = platforms
    .filter(({ platform, target }) => target === "edge" || (hasRegion && platform.startsWith("aws-lambda")))
    .map(({ name, fits, costPerMillion, requestsPerDay }) => ({ name, fits, costPerMillion, requestsPerDay }));
  return { tokens, plans };
}

export function costLine({ tokens, plans }: DeployCost): string {
  const each = plans.map(({ name, fits, costPerMillion, requestsPerDay }) => {
    if (!fits) return `${name}: does not fit`;
    if (requestsPerDay !== undefined) return `${name}: $0, up to ${requestsPerDay} a day`;
    return `${name}: ${costPerMillion === undefined ? "not timed" : `$${costPerMillion.toFixed(2)}`}`;
  });
  return `A million requests of ${tokens} tokens, all on one of: ${each.join("; ")}. List prices, without free allowances.`;
}

import { type Finding, findingsOf } from "../finding.ts";
import { FREE_PLAN_MS } from "../workers-plan.ts";
import { described, failed, type Probe, type ProbeAnswer } from "./probe.ts";

/** Reports whether the edge's clock runs while it computes. */
export function checkClock(answers: readonly ProbeAnswer[]): Finding {
  const { ok, note, broken } = findingsOf("clock", "edge");
  const computed = answers.flatMap(({ computeMs }) => computeMs ?? []);
  if (computed.length === 0) {
    return broken(
      "Its answers have no server-timing, so it is unknown how long they took.",
      "Let the header server-timing pass through proxies and gateways.",
    );
  }
  const longest = Math.max(...computed);
  if (longest > 0) return ok(`It runs during computation: up to ${longest.toFixed(1)} ms measured.`, { longest });
  return note(
    "It stands still during computation, as on all deployed Workers. Reports of the typed client correct it.",
  );
}

/** Checks that the edge can compute the longest text, and says what this text costs. */
export async function checkCpuLimit({ ask }: Probe, longText: string): Promise<Finding> {
  const { ok, note, broken } = findingsOf("cpu-limit", "edge");
  const outcome = await ask([longText], { tier: "edge" });
  if (failed(outcome)) {
    if (outcome.code === "request_too_costly") return note(`It refuses the longest text by itself: ${outcome.message}`);
    return broken(
      `The longest text gets ${described(outcome)}`,
      outcome.hint ?? "Set cpuLimitMs in functions/edge-settings.ts to the CPU time of your Workers plan.",
    );
  }
  const { predictedMs } = outcome;
  if (predictedMs === undefined) return ok("It computes the longest text.");
  const plan =
    predictedMs > FREE_PLAN_MS
      ? ` That is more than the free Workers plan allows: there, set cpuLimitMs to ${FREE_PLAN_MS}.`
      : "";
  return ok(`It computes the longest text, in about ${predictedMs.toFixed(1)} ms.${plan}`, { predictedMs });
}

/** Reports how long requests take from here. */
export function checkTimes(
  answers: Readonly<Record<string, readonly ProbeAnswer[] | undefined>>,
  coldMs: number | undefined,
): Finding[] {
  const cold = findingsOf("times", "first request");
  return [
    coldMs === undefined
      ? cold.note(
          "The deployment was warm already. Its cold start shows after a deployment, or some time without requests.",
        )
      : cold.ok(`A cold deployment answered after ${coldMs.toFixed(0)} ms.`, { coldMs }),
    ...Object.entries(answers).flatMap(([tier, all]) => {
      const ms = (all ?? []).map((answer) => answer.ms).sort((a, b) => a - b);
      const [median, worst] = [ms[ms.length >> 1], ms.at(-1)];
      if (median === undefined || worst === undefined) return [];
      const what = `Warm, from here: ${median.toFixed(1)} ms (median), ${worst.toFixed(1)} ms (slowest of ${ms.length}).`;
      return [findingsOf("times", tier).ok(what, { median, worst })];
    }),
  ];
}

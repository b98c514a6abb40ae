import { printable } from "../../artifact/printable.ts";
import { isRedirect } from "../../storage/http-response.ts";
import { explanationOf } from "../explanations.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { checkPresent } from "./check-present.ts";
import { checkBudget, checkClock, checkCpuLimit, checkTimes } from "./check-times.ts";
import { checkVectors, type ExpectedModel } from "./check-vectors.ts";
import { described, failed, isWrongAnswer, openProbe, type Probe, type ProbeOptions } from "./probe.ts";

export interface CheckReport {
  readonly url: string;
  /** name@version of the artifact. */
  readonly model: string;
  /** Whether nothing is broken. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

interface CheckOptions extends ProbeOptions {
  readonly expected: ExpectedModel;
  /** Findings from before the first request. Default: none. */
  readonly known?: readonly Finding[];
  /** Called with each finding. */
  readonly onFinding?: (finding: Finding) => void;
}

/** Checks a deployment with requests that any client can send. Reports faults as findings, and throws no errors for them. */
export async function checkDeployment({
  expected,
  known = [],
  onFinding,
  ...options
}: CheckOptions): Promise<CheckReport> {
  const { manifest, version, golden } = expected;
  const asked = openProbe(options);
  const findings: Finding[] = [];
  const add = (...more: readonly Finding[]) => {
    findings.push(...more);
    for (const each of more) onFinding?.(each);
  };
  add(...known);
  const report = (): CheckReport => ({
    url: options.url,
    model: `${manifest.name}@${version}`,
    ok: findings.every(({ level }) => level !== "broken"),
    findings,
  });

  const ready = await asked.ready();
  const isCold = ready?.status === 503;
  const reached = findingsOf("reached", "GET /ready");
  if (ready && isRedirect(ready.status)) {
    const what = `It answers HTTP ${ready.status}: it leads to another address, which was not asked.`;
    add(reached.broken(what, "Give the URL to which it leads, if you know it."));
    return report();
  }
  const { status, code, model: name } = Object(ready?.body) as { [field: string]: unknown };
  if (!ready || !["ready", "loading", "failed", "draining"].includes(String(status))) {
    const what = ready ? `It answers HTTP ${ready.status}, but not as bert-edge does.` : "Nothing answers.";
    add(reached.broken(what, "Check the URL, and that `wrangler deploy` has ended without an error."));
    return report();
  }
  add(reached.ok(`A deployment of bert-edge answers: ${status}.`));

  const start = performance.now();
  const first = await asked.ask([golden.texts[0] ?? ""]);
  const isTooCostly = failed(first) && first.code === "request_too_costly";
  // `checkVectors` reports texts beyond the CPU limit, and wrong answers. Any other error is reported here.
  if (failed(first) && !isTooCostly && !isWrongAnswer(first)) {
    const { broken } = findingsOf("reached", "POST /v1/embed");
    // The error of a request does not say why the model cannot be loaded. /ready says it.
    if (status === "failed" && first.code === "model_unavailable") {
      const shown = (value: unknown) => printable(String(value)).slice(0, 100);
      const cause = shown(code);
      const { fix = "The Worker's log has the reason: `npx wrangler tail`." } = explanationOf(cause) ?? {};
      add(broken(`Its model${name === undefined ? "" : ` ${shown(name)}`} cannot be loaded: ${cause}.`, fix));
      return report();
    }
    add(broken(`It answers ${described(first)}`, first.hint ?? "Check the deployment's log."));
    if (first.status === 401) {
      add(...(await checkKeys(asked)));
      return report();
    }
  }
  const coldMs = isCold && !failed(first) ? performance.now() - start : undefined;
  add(...(await checkKeys(asked)));

  // A text that is too costly for the edge goes to the region. If it was refused, there is no region.
  const hasRegion = failed(first) ? !isTooCostly && (await hasRegionTier(asked)) : first.reason !== "only-tier";
  const edge = await checkVectors(asked, expected, "edge", { hasRegion });
  add(...edge.findings);
  const region = hasRegion ? await checkVectors(asked, expected, "region", { hasRegion }) : undefined;
  if (region) add(...region.findings);
  else add(findingsOf("region", "region").note("The deployment has none: the edge answers everything."));

  if (expected.present) {
    const tiers = { edge: edge.answers, region: region?.answers };
    for (const tier of ["edge", "region"] as const) {
      if (tiers[tier]) add(await checkPresent(asked, manifest, expected.present, tier));
    }
  }

  // A text of the maximum length, in words that every tokenizer knows.
  const longText = "the water ".repeat(Math.ceil(manifest.maxTokens / 2));
  if (edge.answers && region?.answers) add(await checkBudget(asked, longText));
  if (edge.answers) {
    add(checkClock(edge.answers), await checkCpuLimit(asked, longText));
    add(...checkTimes({ edge: edge.answers, region: region?.answers }, coldMs));
  }
  return report();
}

/** Whether the deployment has a region, even if the region does not work. */
async function hasRegionTier({ ask }: Probe): Promise<boolean> {
  const outcome = await ask(["a"], { tier: "region" });
  return !(failed(outcome) && outcome.code === "tier_missing");
}

/** Checks that requests without a key, and with a wrong key, are refused with HTTP 401. */
async function checkKeys({ ask }: Probe): Promise<Finding[]> {
  return [
    await refused(undefined, "key_missing", "no key"),
    await refused(crypto.randomUUID(), "key_wrong", "a wrong key"),
  ];

  async function refused(key: string | undefined, code: string, name: string): Promise<Finding> {
    const { ok, broken } = findingsOf("keys", `a request with ${name}`);
    const outcome = await ask(["to be"], { otherKey: { key } });
    if (!failed(outcome)) {
      return broken(
        "It gets an answer: everybody can use the deployment.",
        "Set `keys` in functions/edge-settings.ts, and the secret API_KEYS. Without keys the deployment answers nobody.",
      );
    }
    if (outcome.status === 401 && outcome.code === code) return ok(`It is refused: HTTP 401 ${code}.`);
    return broken(
      `It gets ${described(outcome)}, and not HTTP 401 ${code}.`,
      outcome.hint ?? "Let requests reach bert-edge's own check of keys.",
    );
  }
}

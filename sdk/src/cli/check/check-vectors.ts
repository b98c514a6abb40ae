import type { EmbedManifest, GoldenTexts } from "../../artifact/manifest.ts";
import type { BertEdgeClientError } from "../../client/errors.ts";
import type { Tier } from "../../serve/contract/headers.ts";
import { againstGolden } from "../../serve/region/compare-golden.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { PAID_PLAN_MS } from "../wrangler/cloudflare.ts";
import { type PresentAnswers, tierLimit } from "./check-present.ts";
import { described, failed, isWrongAnswer, type Probe, type ProbeAnswer } from "./probe.ts";

/** The model that a deployment should serve. */
export interface ExpectedModel {
  readonly manifest: EmbedManifest;
  readonly version: string;
  readonly golden: GoldenTexts;
  /** Answers of the user's present system; undefined without a golden file. */
  readonly present?: PresentAnswers | undefined;
}

/**
 * Compares a tier's vectors of the golden texts. Sends one text per request, because an edge with a small CPU limit refuses more.
 *
 * @returns findings, and the tier's answers unless it failed
 */
export async function checkVectors(
  { ask }: Probe,
  { manifest, version, golden }: ExpectedModel,
  tier: Tier,
  { hasRegion }: { hasRegion: boolean },
): Promise<{ findings: Finding[]; answers: ProbeAnswer[] | undefined }> {
  const answers: ProbeAnswer[] = [];
  const answered: number[] = [];
  const findings: Finding[] = [];
  let refusal: BertEdgeClientError | undefined;
  for (const [i, text] of golden.texts.entries()) {
    const outcome = await ask([text], { tier });
    if (failed(outcome) && outcome.code === "request_too_costly") refusal = outcome;
    else if (failed(outcome)) {
      return { findings: [noAnswer(outcome, tier)], answers: undefined };
    } else {
      answers.push(outcome);
      answered.push(i);
    }
  }
  if (refusal) {
    const count = { answered: answered.length, all: golden.texts.length };
    findings.push(tooCostly(refusal, count, hasRegion));
    if (count.answered === 0) return { findings, answers: undefined };
  }
  const expected = `${manifest.name}@${version}`;
  const { ok, broken } = findingsOf("model", tier);
  const other = answers.find(({ model }) => model !== expected);
  if (other) {
    const isVersion = other.model.startsWith(`${manifest.name}@`);
    findings.push(
      broken(
        `The ${tier} serves ${other.model}. The artifact is ${expected}.`,
        isVersion
          ? "Publish the artifact to the bucket of the deployment, or give the artifact that is published there. A deployment looks for a new version every minute."
          : "Set MODEL of the deployment to the artifact's name, or give the other model's artifact.",
      ),
    );
  } else findings.push(ok(`The ${tier} serves ${expected}.`));

  const wrongTier = answers.find((answer) => answer.tier !== tier);
  const vectors = findingsOf("vectors", tier);
  if (wrongTier) {
    findings.push(
      vectors.broken(
        `A request for the ${tier} was answered by ${wrongTier.tier ?? "a tier that the answer does not name"}.`,
        "Let the headers x-bert-edge-tier of request and response pass through proxies and gateways.",
      ),
    );
  }
  const limit = tierLimit(manifest, tier);
  const chosen = <T>(all: readonly T[]) => all.filter((_, i) => answered.includes(i));
  const { cosine, fault } = againstGolden(
    { texts: chosen(golden.texts), vectors: chosen(golden.vectors) },
    answers.map(({ vectors }) => vectors[0]),
    manifest,
    limit,
  );
  findings.push(
    fault
      ? vectors.broken(`The ${tier} computes other vectors: ${fault.what}.`, fault.hint, { limit, ...known(cosine) })
      : vectors.ok(
          `${answers.length} golden texts have the model's vectors, computed by ${answers[0]?.provider}. Worst cosine with float32: ${cosine.toFixed(4)}.`,
          { limit, ...known(cosine) },
        ),
  );
  return { findings, answers };
}

/** Says why a tier gives no answer, or what is wrong with its answer. */
function noAnswer(outcome: BertEdgeClientError, tier: Tier): Finding {
  if (isWrongAnswer(outcome)) {
    const { message } = Object(outcome.cause) as { message?: string };
    const fix = "Run `bert-edge verify` on the artifact, and look for proxies that change answers.";
    return findingsOf("vectors", tier).broken(`The answer of the ${tier} is wrong: ${message}.`, fix);
  }
  const { broken } = findingsOf(tier === "region" ? "region" : "vectors", tier);
  const fix =
    tier === "region"
      ? "Check that the region runs, the secrets REGION_URL and REGION_KEY, and the logs of edge and region."
      : (outcome.hint ?? "Check the deployment's log.");
  return broken(`The ${tier} does not answer: ${described(outcome)}`, fix);
}

/** Reports golden texts that the edge's CPU limit refuses. They are a fault only if the edge answers none and there is no region. */
function tooCostly(
  { message }: BertEdgeClientError,
  { answered, all }: { answered: number; all: number },
  hasRegion: boolean,
): Finding {
  const { note, broken } = findingsOf("cpu-limit", "edge");
  const share = answered === 0 ? `all ${all}` : `${all - answered} of ${all}`;
  const fix = `On the paid Workers plan, set cpuLimitMs to ${PAID_PLAN_MS} in functions/edge-settings.ts. On the free plan, take a smaller model${hasRegion ? "" : " or add a region"}.`;
  const what = `Its CPU limit refuses ${share} golden texts. ${message}`;
  if (hasRegion) return { ...note(`${what} The region answers such texts.`), fix };
  return answered === 0
    ? broken(`${what} It works, but it cannot answer texts of usual length.`, fix)
    : { ...note(what), fix };
}

/** Leaves out a cosine that is NaN or infinite, because JSON has no such numbers. */
const known = (cosine: number) => (Number.isFinite(cosine) ? { cosine } : undefined);

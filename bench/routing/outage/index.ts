import { figuresOf } from "../../figures.ts";
import type { Context } from "../context.ts";
import { figuresOfLoad } from "../load/figures.ts";
import { countsOf, percent, type Report, rounded } from "../report.ts";
import { startRegion } from "../tiers.ts";
import { measureFailures } from "./failures.ts";
import { askImpostors } from "./hostile.ts";

/** Looks for requests that are lost when the region fails, is slow, or is hostile. */
export async function outage(context: Context): Promise<Report> {
  const failures = await measureFailures(context);
  await using started = new AsyncDisposableStack();
  const region = started.adopt(await startRegion(context), ({ stop }) => stop());
  const hostile = await askImpostors(context, region.url);
  const lostInFailures = failures.reduce((sum, { summary }) => sum + summary.lost, 0);
  const lostToImpostors = hostile.flatMap(({ lost }) => lost);
  const unasked = hostile.filter(({ asked }) => asked === 0);
  return {
    headings: ["region", "requests", "answered", "kept", "p99 ms", "lost", "answers"],
    rows: [
      ...failures.map(({ name, summary }) => [
        name,
        `${summary.requests}`,
        `${Object.values(summary.tiers).reduce((sum, count) => sum + count, 0)}`,
        percent(summary.kept),
        rounded(summary.p99),
        `${summary.lost}`,
        `${countsOf(summary.tiers)}; ${countsOf(summary.reasons)}`,
      ]),
      ...hostile.map(({ name, asked, answered, refused, lost }) => [
        name,
        `${answered + refused + lost.length}`,
        `${answered}`,
        "–",
        "–",
        `${lost.length}`,
        `region asked ${asked} times, ${refused} refused${lost.length > 0 ? `; ${lost.join(", ")}` : ""}`,
      ]),
    ],
    checks: [
      {
        what: "requests without an answer or a refusal while the region fails, comes back and is slow",
        asked: "0",
        measured: `${lostInFailures}`,
        holds: lostInFailures === 0,
      },
      {
        what: `requests without a right answer or a refusal, with ${hostile.length} hostile regions`,
        asked: "0",
        measured: `${lostToImpostors.length}`,
        holds: lostToImpostors.length === 0,
      },
      {
        what: "hostile regions that were asked",
        asked: `${hostile.length}`,
        measured: `${hostile.length - unasked.length}`,
        holds: unasked.length === 0,
      },
    ],
    figures: [
      ...failures.flatMap(({ name, summary }) => figuresOfLoad(`region ${name}`, summary)),
      ...hostile.flatMap(({ name, asked, lost }) =>
        figuresOf(name, { asked: [asked, "count"], lost: [lost.length, "differences"] }),
      ),
    ],
    details: { failures, hostile },
  };
}

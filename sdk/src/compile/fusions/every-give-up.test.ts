import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { caseOf, writeClassifier } from "#test/fixtures/classifier-case.ts";
import { readHeadedModel } from "#test/fixtures/read-checkpoint.ts";
import { sampled } from "#test/fixtures/sampled.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { headGraph } from "../checkpoint/head-graph.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { fuseGraph } from "./fuse-graph.ts";
import { unfusedParts } from "./unfused-parts.ts";

/** What a report says if no rule gave a reason. */
const NO_REASON = /the nodes around it do not match/;

async function graphOf(name: string): Promise<Graph> {
  const folder = join(await temporaryFolder(), "model");
  await writeClassifier(folder, caseOf(name));
  return headGraph(await readHeadedModel(folder, "sequence-classification"));
}

/** Inserts an operator that no fusion knows behind one node. Returns undefined if the node computes no floats. */
function withObstacle(graph: Graph, index: number): Graph | undefined {
  const copy = copyGraph(graph);
  const output = copy.sorted()[index]?.output;
  if (output?.dtype !== "float32" || copy.isOutput(output)) return undefined;
  const users = [...output.users];
  const obstacle = copy.add("Softsign", [output]);
  for (const user of users) {
    copy.setInputs(
      user,
      user.inputs.map((input) => (input === output ? obstacle.output : input)),
    );
  }
  return copy;
}

describe.each(["bert", "modernbert", "mpnet", "deberta-v2", "eurobert"])("an obstacle anywhere in %s", (name) => {
  it("is fused around, or named by a reason", async () => {
    const graph = await graphOf(name);
    const found: string[] = [];
    for (const i of sampled([...Array(graph.nodes.size).keys()], 15)) {
      const changed = withObstacle(graph, i);
      if (!changed) continue;
      const trace = await fuseGraph(changed);
      for (const { why, pattern } of unfusedParts(changed, trace)) {
        if (NO_REASON.test(why) || why === "") found.push(`${graph.sorted()[i]?.name}: ${pattern}: ${why}`);
      }
    }
    expect(found).toEqual([]);
  });
});

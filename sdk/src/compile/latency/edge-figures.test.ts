import { expect, it } from "vitest";
import { TINY_EDGE, type TinyEncoder, tinyEdgeFile, tinyEncoders } from "#test/fixtures/tiny-edge-file.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { oneModel } from "../../runtime/engine/engine.ts";
import { edgeFigures } from "./edge-figures.ts";

it.each(Object.keys(tinyEncoders) as TinyEncoder[])("knows the memory of a session of %s to the byte", async (name) => {
  const file = await tinyEdgeFile(name);
  const figures = await edgeFigures(file, 1_000);
  const session = await (await engineOnThisMachine("wasm")).load(oneModel(file));
  await session.run(Array.from({ length: 16 }, () => new Int32Array(TINY_EDGE.maxTokens)));
  expect(figures.memoryBytes).toBe((session.memoryBytes() ?? 0) + 1_000);
  expect(figures).toMatchObject({ fileBytes: file.length, longestText: TINY_EDGE.maxTokens });
  expect(figures.startBytes).toBeLessThan(file.length + 1_000);
  await session.release();
});

import { createInterface } from "node:readline";
import { Command, Option } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import type { Target } from "../artifact/manifest.ts";
import { printNote, printResult } from "./output.ts";

const engines = ["wasm", "ort-web", "ort-node"] as const satisfies readonly Target["engine"][];

export const embedCommand = new Command("embed")
  .description("embed each line of stdin; print each vector as a JSON array on a line")
  .argument("<artifact>", "artifact folder")
  .addOption(
    new Option(
      "--engine <engine>",
      "default: the engine of regional-cpu, or of edge if the artifact has no regional-cpu",
    ).choices(engines),
  )
  .action(async (folder: string, { engine }: { engine?: Target["engine"] }) => {
    const { engineOnThisMachine } = await import("../local/engines.ts");
    const { loadModel } = await import("../local/load-model.ts");
    const { openFolder } = await import("../storage/folder-artifact.ts");
    const artifact = await openFolder(folder);
    const { edge, "regional-cpu": native } = artifact.manifest.targets;
    const chosen = engine ?? native?.engine ?? edge?.engine ?? "ort-node";
    const model = await loadModel(artifact, { engine: await engineOnThisMachine(chosen) });
    let number = 0;
    for await (const line of createInterface({ input: process.stdin })) {
      number++;
      if (line.trim() === "") throw emptyLine(number);
      const { maxTokens } = model.manifest;
      const { ids, tokens } = model.tokenizer.encode(line, maxTokens);
      if (tokens > maxTokens) printNote(`Cut to ${maxTokens} of at least ${tokens} tokens: ${line.slice(0, 40)}…`);
      const [vector] = (await model.embedTokens([ids])).vectors;
      printResult(JSON.stringify([...(vector ?? [])]));
    }
  });

const emptyLine = (number: number) =>
  new BertEdgeError("input_empty", `Line ${number} of the input is empty, so it has no vector.`, {
    hint: "Remove empty lines first, for example with: grep -v '^[[:space:]]*$' texts.txt",
  });

import { createInterface } from "node:readline";
import { Command } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import { sentenceEncoder } from "../artifact/manifest.ts";
import { chosenEngine, type EngineName, engineOption } from "./options.ts";
import { printJson, printNote, printResult } from "./output.ts";

export const embedCommand = new Command("embed")
  .description("embed each line of stdin; print each vector as a JSON array on a line")
  .argument("<artifact>", "artifact folder")
  .addOption(engineOption())
  .option("--json", "print one JSON document with all vectors, at the end")
  .action(async (folder: string, { engine, json }: { engine?: EngineName; json?: true }) => {
    const { engineOnThisMachine } = await import("../local/engines.ts");
    const { wholeModel } = await import("../runtime/start-model.ts");
    const { openFolder } = await import("../storage/folder-artifact.ts");
    const artifact = await openFolder(folder);
    sentenceEncoder(artifact.manifest);
    const model = await wholeModel(artifact, await engineOnThisMachine(chosenEngine(artifact, engine)));
    const vectors: number[][] = [];
    let number = 0;
    for await (const line of createInterface({ input: process.stdin })) {
      number++;
      if (line.trim() === "") throw emptyLine(number);
      const { maxTokens } = model.manifest;
      const { ids, tokens } = model.tokenizer.encode(line, maxTokens);
      if (tokens > maxTokens) printNote(`Cut to ${maxTokens} of at least ${tokens} tokens: ${line.slice(0, 40)}…`);
      const [output] = (await model.run([ids])).outputs;
      const vector = [...(output ?? [])];
      if (json) vectors.push(vector);
      else printResult(JSON.stringify(vector));
    }
    if (json) printJson({ model: model.manifest.name, version: model.version, vectors });
  });

const emptyLine = (number: number) =>
  new BertEdgeError("input_empty", `Line ${number} of the input is empty, so it has no vector.`, {
    hint: "Remove empty lines first, for example with: grep -v '^[[:space:]]*$' texts.txt",
  });

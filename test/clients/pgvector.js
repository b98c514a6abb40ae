// Runs the recipe for pgvector of the docs with Postgres, as WebAssembly: stores documents, and searches them.
import { readFile } from "node:fs/promises";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { BertEdge } from "bert-edge/client";

const [baseURL, apiKey] = process.argv.slice(2);
const texts = ["Where is the mill?", "The brook is full.", "A letter to the king."];
const { embeddings, version } = await new BertEdge({ baseURL, apiKey }).embed(texts);

const postgres = new PGlite({ extensions: { vector } });
await postgres.exec("create extension vector");
await postgres.exec((await readFile("recipe.sql", "utf8")).replace("vector(384)", `vector(${embeddings[0].length})`));
const insert = "insert into documents values ($1, $2, $3, $4)";
for (const [i, text] of texts.entries()) {
  await postgres.query(insert, [`${i}`, text, version, `[${embeddings[i].join(",")}]`]);
}
await postgres.query(insert, ["old", texts[1], "an older version", `[${embeddings[1].join(",")}]`]);

// The recipe declares `sql`.
globalThis.sql = async (query, parameters) => (await postgres.query(query, parameters)).rows;
const { search } = await import("./recipe.ts");
const found = await search(texts[1]);
if (found.length !== 3 || found[0].id !== "1") throw new Error(`pgvector found ${JSON.stringify(found)}.`);
console.log("  pgvector recipe: 3 documents of this version, the best one first");
await postgres.close();

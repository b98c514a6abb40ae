import { expect, it } from "vitest";
import { dialectOf } from "./index.ts";

it.each([
  ["/v1/embed", "own"],
  ["/embed", "tei"],
  ["/v2/embed", "cohere"],
  ["/v1/embeddings", "openai"],
  ["/embeddings", "openai"],
  ["/", "hugging-face"],
  ["/models/bert", "hugging-face"],
  // Mounted below a path, and with a slash at the end.
  ["/api/v1/embed/", "own"],
  ["/api/embed/", "tei"],
  ["/models/bert/embed", "tei"],
  // Routes that do not exist.
  ["/v1/other", "openai"],
  ["/v1/models/other", "openai"],
  ["/api/v1/models/", "openai"],
  ["/v1/jobs/other", "own"],
  ["/v2/other", "cohere"],
  ["/other", "own"],
])("answers errors of %s in the dialect %s", (path, dialect) => {
  expect(dialectOf(path).id).toBe(dialect);
});

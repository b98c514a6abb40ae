import { expect, it } from "vitest";
import { folderName } from "../stages/assemble-artifact.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";

it.each([
  ["/models/my-model", "my-model"],
  ["/models/my-model/", "my-model"],
  [`/hub/models--org--all-MiniLM-L6-v2/snapshots/${commit}`, "all-MiniLM-L6-v2"],
  [`/hub/models--org--name/snapshots/${commit}/`, "name"],
  [`/hub/models--gpt2/snapshots/${commit}`, "gpt2"],
  [`/hub/models--org--name/snapshots/main`, "main"],
  [`/hub/org--name/snapshots/${commit}`, commit],
  [`/hub/models--org--name/${commit}`, commit],
])("folderName: %s is %s", (path, name) => {
  expect(folderName(path)).toBe(name);
});

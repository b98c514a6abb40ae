import { expect, it } from "vitest";
import { shellPath } from "./shell-path.ts";

it.each([
  ["my/api-1", "my/api-1"],
  ["my apps/api", '"my apps/api"'],
  ['$(id)/"p`id`', "'$(id)/\"p`id`'"],
  ["it's/api", "'it'\\''s/api'"],
])("writes %s as %s", (path, typed) => expect(shellPath(path)).toBe(typed));

import { BertEdgeError } from "../artifact/error.ts";
import { isInnerPath } from "./inner-path.ts";
import type { ManagedStore, ObjectStore } from "./store.ts";

/**
 * Makes a store that refuses keys with which its driver could reach something outside of the store. The methods throw BertEdgeError
 * `object_key_invalid`.
 */
export function withCheckedKeys(store: ManagedStore): ManagedStore {
  const { name } = store;
  return {
    ...readingCheckedKeys(store),
    put: async (key, ...rest) => store.put(checked(name, key), ...rest),
    head: async (key) => store.head(checked(name, key)),
    remove: async (key, only) => store.remove(checked(name, key), only),
    async *list(prefix) {
      // A valid prefix can end with a slash or a dot, so the check completes it to a key.
      checked(name, `${prefix}x`);
      yield* store.list(prefix);
    },
  };
}

/** Makes a read-only store that refuses the same keys as `withCheckedKeys`. */
export const readingCheckedKeys = <Store extends ObjectStore>(store: Store): Store => ({
  ...store,
  open: async (key, ...rest) => store.open(checked(store.name, key), ...rest),
});

function checked(store: string, key: string): string {
  if (isInnerPath(key)) return key;
  const fault = "an empty part, the part . or .., a backslash, a colon or a NUL";
  throw new BertEdgeError(
    "object_key_invalid",
    `The key ${JSON.stringify(key)} is not valid in ${store}: it has ${fault}.`,
    {
      hint: "Correct the name and the version of the model, or the setting that names the object.",
    },
  );
}

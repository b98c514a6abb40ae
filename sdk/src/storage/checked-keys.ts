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
      // The beginning of a key can end with a slash or a dot.
      checked(name, `${prefix}x`);
      yield* store.list(prefix);
    },
  };
}

/** Does the same for a store that is only read. */
export const readingCheckedKeys = <Store extends ObjectStore>(store: Store): Store => ({
  ...store,
  open: async (key, signal) => store.open(checked(store.name, key), signal),
});

function checked(store: string, key: string): string {
  if (isInnerPath(key)) return key;
  const fault = "an empty part, the part . or .., a backslash, a colon or a NUL";
  throw new BertEdgeError("object_key_invalid", `${store} takes no key with ${fault}: ${JSON.stringify(key)}.`, {
    hint: "Correct the name and the version of the model, or the setting that names the object.",
  });
}

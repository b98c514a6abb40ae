type Value = string | number | boolean | null | Value[] | { [key: string]: Value };
type Fields = { [key: string]: Value };

/**
 * Patches a resource as `kubectl patch` does with a Deployment: fields one by one, and entries of a list by their name. Lists
 * whose entries have no name are replaced.
 */
export function patched(resource: Value | undefined, patch: Value): Value {
  if (isFields(patch)) {
    const fields = isFields(resource) ? resource : {};
    return { ...fields, ...mapValues(patch, (value, key) => patched(fields[key], value)) };
  }
  if (!Array.isArray(patch) || !Array.isArray(resource) || !patch.every(hasName)) return patch;
  const merged = resource.map((entry) => {
    const change = patch.find((one) => hasName(entry) && one.name === entry.name);
    return change ? patched(entry, change) : entry;
  });
  return [...merged, ...patch.filter(({ name }) => !resource.some((entry) => hasName(entry) && entry.name === name))];
}

const mapValues = (fields: Fields, change: (value: Value, key: string) => Value): Fields =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, change(value, key)]));

const isFields = (value: Value | undefined): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const hasName = (value: Value): value is Fields & { name: string } =>
  isFields(value) && typeof value["name"] === "string";

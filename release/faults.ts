import type { Manifest } from "./packages.ts";

/**
 * Returns what keeps packages from being published.
 *
 * @param tag Git tag of the release, such as `v0.2.0`
 * @param manifests package.json of each package, by its path
 */
export function faults(tag: string, manifests: ReadonlyMap<string, Manifest>): string[] {
  return [...manifests].flatMap(([path, { version, repository }]) => {
    const url = typeof repository === "string" ? repository : repository?.url;
    return [
      // npm compares it with the repository that the provenance names.
      ...(url
        ? []
        : [`${path} has no \`repository\`. Set it to the repository's URL: npm publishes no provenance without it.`]),
      ...(tag === `v${version}`
        ? []
        : [
            `The tag is ${tag || "missing"}, but ${path} has the version ${version}. Tag the commit v${version}, or change the version.`,
          ]),
    ];
  });
}

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
}

/** Lists the packages of a lock file, those of other platforms included. */
function lockedIn(file: string): (Locked & { readonly name: string })[] {
  const { packages } = JSON.parse(readFileSync(file, "utf8")) as { packages: Readonly<Record<string, Locked>> };
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes("node_modules/") && !link)
    .map(([path, entry]) => ({
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      ...entry,
    }));
}

/** Licences that ask for no more than a notice. */
const permissive = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT"];
/** Packages with another licence, none of which is part of what we publish. */
const others: Readonly<Record<string, RegExp>> = {
  "MPL-2.0": /^(axe-core|lightningcss(-.*)?)$/,
  "LGPL-3.0-or-later": /^@img\/sharp-/,
  "Apache-2.0 AND LGPL-3.0-or-later": /^@img\/sharp-/,
  "Apache-2.0 AND LGPL-3.0-or-later AND MIT": /^@img\/sharp-/,
  "PSF-2.0": /^argparse$/,
  "Python-2.0": /^argparse$/,
  // MIT, by their LICENSE files.
  "": /^(busboy|streamsearch|humanize-number)$/,
};

describe.each(["package-lock.json", "docs/site/package-lock.json"])("%s", (file) => {
  const locked = lockedIn(file);

  it("has the hash of every package, those of other platforms included", () => {
    expect(locked.length).toBeGreaterThan(300);
    expect(locked.filter(({ integrity }) => !integrity?.startsWith("sha512-")).map(({ name }) => name)).toEqual([]);
  });

  it("has packages with known licences only", () => {
    const unknown = locked.filter(({ name, license = "" }) => {
      const choices = license.replace(/[()]/g, "").split(" OR ");
      return !choices.some((choice) => permissive.includes(choice)) && !others[license]?.test(name);
    });
    expect(unknown.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
  });
});

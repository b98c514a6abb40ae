type Section = readonly [name: string, pages: readonly (readonly [file: string, title: string])[]];

/** The pages of the site, in the order of its menu: sections with the files of `docs/`. */
export const menu: readonly Section[] = [
  [
    "Start",
    [
      ["start.md", "Start in a minute"],
      ["page.md", "The page"],
      ["cli.md", "The command line"],
      ["develop.md", "Develop"],
      ["migrate.md", "Migrate"],
      ["comparison.md", "Comparison"],
    ],
  ],
  [
    "Guides",
    [
      ["prepare.md", "Your own model"],
      ["golden.md", "Your own proof"],
      ["deploy.md", "Deploy"],
      ["client.md", "The typed client"],
      ["own-app.md", "In your own app"],
      ["http.md", "HTTP interface"],
      ["dialects.md", "Other dialects"],
      ["routing.md", "Latency budgets"],
      ["recipes.md", "Recipes"],
      ["bulk.md", "Many records"],
      ["operations.md", "Operations"],
      ["security.md", "Security"],
      ["reliability.md", "Reliability"],
      ["costs.md", "Costs"],
      ["runtimes.md", "Runtimes"],
    ],
  ],
  [
    "Reference",
    [
      ["settings.md", "Settings"],
      ["model-folders.md", "Keys of model folders"],
      ["errors.md", "Errors"],
      ["glossary.md", "Glossary"],
      ["limits.md", "Limits"],
      ["accuracy.md", "Accuracy"],
      ["evaluation.md", "Evaluation"],
      ["engine.md", "The edge engine"],
      ["onnx.md", "ONNX files"],
    ],
  ],
];

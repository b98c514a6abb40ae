import { menu } from "./pages.ts";

/** Makes a whole HTML page. The site works in a folder and without scripts. */
export function layout(file: string, title: string, html: string): string {
  const link = ([page, name]: readonly [string, string]) =>
    `<li><a href="${page.replace(/\.md$/, ".html")}"${page === file ? ' aria-current="page"' : ""}>${name}</a></li>`;
  const sections = menu.map(([name, pages]) => `<h2>${name}</h2><ul>${pages.map(link).join("")}</ul>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · bert-edge</title>
<link rel="stylesheet" href="site.css">
</head>
<body>
<nav aria-label="Pages"><p><a href="index.html">bert-edge</a></p>${sections.join("")}<ul>${link(["api.md", "API reference"])}</ul></nav>
<main>
${html}</main>
</body>
</html>
`;
}

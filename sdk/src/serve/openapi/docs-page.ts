import type { Context } from "hono";

/**
 * Answers with a page that shows the OpenAPI document and sends its examples. It loads nothing from other origins.
 *
 * @param isBesidePage whether the deployment has the page at `/`, whose key and styles it uses
 */
export function docsPage(c: Context, isBesidePage: boolean): Response {
  const nonce = crypto.randomUUID();
  const own = `'nonce-${nonce}'`;
  const policy = `default-src 'none'; script-src ${own}; style-src 'self' ${own}; connect-src 'self'; base-uri 'none'`;
  c.header("content-security-policy", `${policy}; form-action 'none'; frame-ancestors 'none'`);
  c.header("referrer-policy", "no-referrer");
  c.header("x-content-type-options", "nosniff");
  const [styles, link] = isBesidePage ? BESIDE_PAGE : ["", ""];
  const html = page.replace("STYLES", styles).replace("LINK", link).replaceAll("NONCE", nonce);
  return c.html(html) as Response;
}

const BESIDE_PAGE = ['<link rel="stylesheet" href="style.css">', '<nav><a href=".">The page</a></nav>'] as const;

// `typeOf`: an optional field can be null too. One that can be nothing else is refused, and has no type.
const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>bert-edge: HTTP interface</title>
STYLES
<style nonce="NONCE">
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
textarea, pre { width: 100%; font: 14px ui-monospace, monospace; }
pre { max-height: 20rem; overflow: auto; }
pre:empty { display: none; }
th, td { text-align: left; padding: .2rem; }
</style>
<header><h1>bert-edge</h1>LINK<p>The HTTP interface, from <a href="openapi.json">openapi.json</a></p></header>
<section><label>API key <input id="key" type="password" autocomplete="off"></label></section>
<main id="routes">Loading …</main>
<script nonce="NONCE">
const make = (name, properties = {}, children = []) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const row = (cell, texts) => make("tr", {}, texts.map((text) => make(cell, {}, [text])));
const typeOf = (schema) => schema.enum ? schema.enum.join(" | ") : schema.anyOf ? schema.anyOf.map(typeOf).filter(Boolean).join(" or ")
  : schema.type === "null" ? "" : schema.type === "array" && schema.items ? "list of (" + typeOf(schema.items) + ")" : schema.type ?? "any";
const fields = ({ properties = {}, required = [] }) => make("table", {}, [
  row("th", ["field", "type", "default"]),
  ...Object.entries(properties).filter(([, schema]) => typeOf(schema)).map(([name, schema]) => row("td", [
    name + (required.includes(name) ? "" : "?"), typeOf(schema), "default" in schema ? JSON.stringify(schema.default) : "",
  ])),
]);
const routes = document.getElementById("routes");
const keyField = document.getElementById("key");
try { keyField.value = sessionStorage.getItem("bert-edge-key") ?? ""; } catch {}
async function send(path, method, body, output) {
  output.textContent = "…";
  const started = performance.now();
  try {
    const key = keyField.value;
    const headers = { "content-type": "application/json", ...(key && { authorization: "Bearer " + key }) };
    const response = await fetch("." + path, { method, headers, body });
    const text = await response.text();
    const ms = (performance.now() - started).toFixed(0);
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 1); } catch {}
    const tier = response.headers.get("x-bert-edge-tier") ?? "–";
    output.textContent = response.status + " in " + ms + " ms, tier " + tier + "\\n" + shown.slice(0, 5000);
  } catch (error) { output.textContent = String(error); }
}
function operation(path, method, described) {
  const content = described.requestBody?.content["application/json"];
  const body = content && make("textarea", { rows: 6, value: JSON.stringify(content.example, null, 2) });
  const output = make("pre", { role: "status" });
  const button = make("button", { textContent: "Send", type: "button", className: "primary" });
  button.onclick = () => send(path, method.toUpperCase(), body?.value, output);
  return make("details", { open: path === "/v1/embed" }, [
    make("summary", {}, [make("code", { textContent: method.toUpperCase() + " " + path }), " " + described.summary]),
    ...(content ? [make("label", {}, ["Body", body])] : []),
    make("p", {}, [button]), output,
    ...(content ? [fields(content.schema)] : []),
  ]);
}
fetch("openapi.json").then((response) => response.json()).then(({ paths }) => {
  const groups = {};
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, described] of Object.entries(methods)) {
      (groups[described.tags[0]] ??= []).push(operation(path, method, described));
    }
  }
  routes.replaceChildren(
    ...Object.entries(groups).map(([name, operations]) => make("section", {}, [make("h2", { textContent: name }), ...operations.sort((a, b) => b.open - a.open)])),
  );
}, (error) => { routes.textContent = String(error); });
</script>
</html>
`;

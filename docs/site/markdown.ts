import GithubSlugger from "github-slugger";
import { Marked } from "marked";

export interface RenderedPage {
  readonly html: string;
  /** Text of the first heading. */
  readonly title: string;
  /** Ids of the headings, which links can name after `#`. */
  readonly anchors: ReadonlySet<string>;
  /** Targets of all links and images, as the page writes them. */
  readonly targets: readonly string[];
}

/** Renders a page. Headings have the ids that GitHub gives them. `linkTo` rewrites targets of links and images. */
export function rendered(markdown: string, linkTo: (target: string) => string): RenderedPage {
  const slugger = new GithubSlugger();
  const [anchors, targets] = [new Set<string>(), [] as string[]];
  let title = "";
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens);
        const id = slugger.slug(text.replace(/\[([^\]]*)\]\([^)]*\)|[`*]/g, "$1"));
        anchors.add(id);
        if (title === "") title = html.replace(/<[^>]+>/g, "");
        return `<h${depth} id="${id}">${html}</h${depth}>\n`;
      },
    },
    walkTokens(token) {
      if (token.type !== "link" && token.type !== "image") return;
      targets.push(token.href);
      token.href = linkTo(token.href);
    },
  });
  const html = (marked.parse(markdown) as string).replace(/(?<=(?:src|srcset)=")(images\/[^"]+)/g, (target: string) => {
    if (!targets.includes(target)) targets.push(target);
    return target;
  });
  return { html, title, anchors, targets };
}

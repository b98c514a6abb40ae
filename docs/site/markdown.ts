import GithubSlugger from "github-slugger";
import { Marked } from "marked";

export interface RenderedPage {
  readonly html: string;
  /** Text of the first heading. */
  readonly title: string;
}

/**
 * Renders a page. Headings have the ids that GitHub gives them.
 *
 * @param linkTo rewrites targets of links and images; a link whose target is undefined becomes plain text
 */
export function rendered(markdown: string, linkTo: (target: string) => string | undefined): RenderedPage {
  const slugger = new GithubSlugger();
  let title = "";
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens);
        const id = slugger.slug(text.replace(/\[([^\]]*)\]\([^)]*\)|[`*]/g, "$1"));
        if (title === "") title = html.replace(/<[^>]+>/g, "");
        return `<h${depth} id="${id}">${html}</h${depth}>\n`;
      },
      // Without a target, only the text is rendered. False renders the link.
      link({ href, tokens }) {
        return href === NO_TARGET ? this.parser.parseInline(tokens) : false;
      },
    },
    walkTokens(token) {
      if (token.type === "link") token.href = linkTo(token.href) ?? NO_TARGET;
      if (token.type === "image") token.href = linkTo(token.href) ?? token.href;
      if (token.type === "html") {
        const attribute = /(?<=\s(?:href|src|srcset)=")[^"]*/g;
        token.text = token.text.replace(attribute, (target: string) => linkTo(target) ?? target);
      }
    },
  });
  return { html: marked.parse(markdown) as string, title };
}

const NO_TARGET = "";

// The configuration of Eleventy: each Markdown file of docs/ is a page, `layout.mjs` is the layout of all.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { partContent, renderPage } from "./layout.mjs";
import { createMarkdown } from "./markdown.mjs";
import { addressOf, PROJECT_FILES, readNavigation } from "./navigation.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Returns the path of a page's Markdown file in the repository. */
export const sourceOf = (inputPath) => inputPath.replace(/^\.\//, "").replace(/^docs\/project\/(.+)$/, "$1");

/**
 * Returns the function that configures Eleventy.
 * @param assets the names of script, style and search index
 * @param repository the address of the repository, for "Edit this page"; undefined if it is not known
 * @param links gets the files outside of docs/ that pages link to
 */
export const configure =
  ({ assets, repository, links }) =>
  (eleventy) => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const site = { parts: readNavigation(root), assets, repository, version };
    const markdown = createMarkdown();
    eleventy.setUseGitIgnore(false);
    // A page is text for readers, not a template: examples contain {{ and }}.
    eleventy.addExtension("md", {
      outputFileExtension: "html",
      compile: (text, inputPath) => {
        const file = sourceOf(inputPath);
        const outline = [];
        const content = markdown.render(text, { file, links, outline });
        const title = outline.find(({ level }) => level === 1)?.text ?? file;
        return () => renderPage({ address: addressOf(file), file, title, content, outline }, site);
      },
      compileOptions: {
        permalink:
          () =>
          ({ page }) =>
            addressOf(sourceOf(page.inputPath)),
      },
    });
    for (const file of PROJECT_FILES) eleventy.addTemplate(`project/${file}`, readFileSync(join(root, file), "utf8"));
    for (const part of site.parts) {
      const address = `${part.folder}/index.html`;
      eleventy.addTemplate(`${part.folder}/index.11ty.js`, {
        data: () => ({ permalink: address }),
        render: () => renderPage({ address, title: part.title, content: partContent(part), outline: [] }, site),
      });
    }
    return { dir: { input: "docs" }, markdownTemplateEngine: false, htmlTemplateEngine: false };
  };

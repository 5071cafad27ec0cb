import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { deadLinks } from "../../site/check-links.mjs";
import { rawExchange } from "../contract/raw-exchange.ts";
import { startServer } from "../support/server/server.ts";

/** `node bin/prepare.mjs`, which runs before the tests, has built it. */
const SITE = fileURLToPath(new URL("../../dist/docs/", import.meta.url));
const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length).replace(/^\//, ""));

/** Paths of no page, some of which are files. */
const ESCAPES = [
  "none.html",
  "../main.cjs",
  "%2e%2e/main.cjs",
  "..%2fmain.cjs",
  "index.html.gz",
  "/etc/passwd",
  "how-to/%00",
];

const pages = new Map(
  filesOf(SITE)
    .filter((file) => file.endsWith(".html"))
    .map((file) => [file, readFileSync(SITE + file, "utf8")]),
);

test("every Markdown file of docs/ is a page", () => {
  const expected = filesOf(DOCS).filter((file) => file.endsWith(".md"));
  expect(expected.length).toBeGreaterThan(30);
  expect(expected.filter((file) => !pages.has(file.replace(/\.md$/, ".html")))).toEqual([]);
});

test("no link and no picture of a page leads nowhere", () => {
  expect(deadLinks(pages, new Set(filesOf(SITE)))).toEqual([]);
});

test("an image is built with all files that the pages link to", () => {
  // The build of the image makes the site from the files that .dockerignore includes.
  const ignored = readFileSync(new URL("../../.dockerignore", import.meta.url), "utf8")
    .trim()
    .split("\n");
  const linked = filesOf(`${SITE}files`);
  expect(linked).toContain("test/README.md");
  expect(linked.filter((file) => ignored.some((path) => file === path || file.startsWith(`${path}/`)))).toEqual([]);
});

test("nothing of a page is inline, and nothing comes from another host", () => {
  for (const [page, html] of pages) {
    expect(html.match(/<script(?![^>]* src=)|<style| style="| on[a-z]+="/g), page).toBeNull();
    expect(html.match(/<(?:script|img|link)[^>]* (?:src|href)="(?:https?:)?\/\/[^"]*"/g), page).toBeNull();
  }
});

test("each page is linked by another page", () => {
  const linked = new Set<string>();
  for (const [page, html] of pages)
    for (const [, link = ""] of html.matchAll(/ href="([^"#]+)/g)) {
      const target = posix.join(posix.dirname(page), link);
      if (target !== page) linked.add(target);
    }
  expect([...pages.keys()].filter((page) => !linked.has(page))).toEqual([]);
});

test("the program serves the pages under each mount, to everybody, with a tag and a strict policy", async () => {
  const server = await startServer({ env: { NUTHATCH_ADMIN_PASSWORD: "a password" } });
  onTestFinished(() => server.close());
  for (const mount of ["", "/geowebcache"]) {
    const redirect = await fetch(`${server.url}${mount}/docs`, { redirect: "manual" });
    expect([redirect.status, redirect.headers.get("location")]).toEqual([302, `${mount}/docs/`]);
    const page = await fetch(`${server.url}${mount}/docs/how-to/install.html`);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-encoding")).toBe("gzip");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    expect(page.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'/,
    );
    const body = await page.text();
    expect(body).toBe(pages.get("how-to/install.html"));
    const etag = page.headers.get("etag") ?? "";
    const again = await fetch(page.url, { headers: { "If-None-Match": etag } });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
    const [, script = ""] = / src="\.\.\/(site-[^"]+\.js)"/.exec(body) ?? [];
    const asset = await fetch(`${server.url}${mount}/docs/${script}`);
    expect(asset.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    await asset.arrayBuffer();
  }
  for (const path of ESCAPES) {
    const answer = await rawExchange(
      server.port,
      Buffer.from(`GET /docs/${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
    );
    expect([path, answer.status]).toEqual([path, 404]);
  }
});

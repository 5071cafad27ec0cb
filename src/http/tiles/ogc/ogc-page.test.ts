import { expect, test } from "vitest";
import { type ProtocolServer, startProtocols } from "../../../../test/support/tile-protocols.ts";
import { ogcPage } from "./ogc-page.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const typeOf = async (protocols: ProtocolServer, address: string, accept?: string) => {
  const headers = accept === undefined ? {} : { Accept: accept };
  const reply = await protocols.request(address, { headers });
  return [reply.status, reply.headers["content-type"], reply.headers["vary"]];
};

test("a browser gets the page of an address, and a program its JSON", async () => {
  await using protocols = await startProtocols();
  const html = [200, "text/html; charset=utf-8"];
  const json = [200, "application/json"];
  const vary = "Accept, Accept-Encoding";
  for (const accept of [BROWSER, "text/html", "application/json;q=0.5, text/html"])
    expect([accept, await typeOf(protocols, "/ogc/conformance", accept)]).toEqual([accept, [...html, vary]]);
  for (const accept of [undefined, "*/*", "application/json", "text/html;q=0.5, application/geo+json", "image/png"])
    expect([accept, await typeOf(protocols, "/ogc/conformance", accept)]).toEqual([accept, [...json, vary]]);
  expect(await typeOf(protocols, "/ogc?f=json", BROWSER)).toEqual([...json, "Accept-Encoding"]);
  expect(await typeOf(protocols, "/ogc/collections?f=html")).toEqual([...html, "Accept-Encoding"]);
  expect((await typeOf(protocols, "/ogc/api", BROWSER))[1]).toBe(html[1]);
  expect((await typeOf(protocols, "/ogc/api?f=json"))[1]).toBe("application/vnd.oai.openapi+json;version=3.0");
  expect((await typeOf(protocols, "/ogc/conformance?f=xml"))[0]).toBe(400);
});

test("a page has every text of the document, its map, and no other host", async () => {
  await using protocols = await startProtocols();
  for (const address of [
    "/ogc",
    "/ogc/conformance",
    "/ogc/tileMatrixSets/WorldCRS84Quad",
    "/ogc/collections/topp:states",
    "/ogc/collections/topp:states/map/tiles/WebMercatorQuad",
  ]) {
    const page = await protocols.request(`${address}?f=html`);
    const shown = page.body
      .replace(/<[^<>]*>/g, " ")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&");
    const texts: string[] = [];
    JSON.parse((await protocols.request(`${address}?f=json`)).body, (_, value: unknown) => {
      if (typeof value === "number") texts.push(String(value));
      // Of a link with a title the page shows the title.
      if (typeof value === "string" && !value.startsWith("http")) texts.push(value);
      return value;
    });
    for (const text of texts) expect(shown).toContain(text);
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    expect([...page.body.matchAll(/(?:src|<link [^>]*href)="([^"]*)"/g)].map(([, href]) => href)).toSatisfy(
      (found: string[]) => found.every((href) => href.startsWith(protocols.baseUrl)),
    );
    expect(page.body.includes('id="map"')).toBe(address.includes("topp:states"));
  }
  const { body } = await protocols.request("/ogc/collections/topp:states?f=html");
  expect(body).toContain("<h1>States &amp; &lt;provinces&gt;</h1>");
  expect(body).toContain('data-tileset="/ogc/collections/topp%3Astates/map/tiles/EPSG%3A900913?f=json"');
});

test("no text of a document is markup in its page", () => {
  const hostile = '<img src=x onerror="alert(1)">';
  const page = ogcPage(
    {
      [hostile]: hostile,
      list: [hostile, [hostile]],
      rows: [{ a: hostile }],
      links: [{ rel: hostile, href: hostile }],
    },
    { title: hostile, base: "http://h/ogc", address: "http://h/ogc" },
  );
  expect(page).not.toContain("<img");
  expect(page).not.toMatch(/href="[^"]*<|onerror="/);
});

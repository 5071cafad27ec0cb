import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { catalogue, startProtocols } from "../../../../test/support/tile-protocols.ts";
import { openApiDocument } from "./ogc-openapi.ts";

/** Values for the parameters of a path. */
const IN_PATH: Readonly<Record<string, string>> = {
  collectionId: encodeURIComponent("topp:states"),
  tileMatrixSetId: "WebMercatorQuad",
  tileMatrix: "2",
  tileRow: "1",
  tileCol: "0",
};

test("the description is valid OpenAPI 3.0", async () => {
  const document: unknown = JSON.parse(JSON.stringify(openApiDocument(catalogue, "http://localhost/ogc")));
  const validator = new Validator();
  expect(await validator.validate(Object(document))).toMatchObject({ valid: true });
  expect(validator.version).toBe("3.0");
});

test("the landing page links to it, and each path of it is answered as it says", async () => {
  await using protocols = await startProtocols();
  const landing = JSON.parse((await protocols.request("/ogc")).body);
  expect(landing.links).toContainEqual({
    rel: "service-desc",
    href: expect.stringMatching(/\/ogc\/api$/),
    type: "application/vnd.oai.openapi+json;version=3.0",
  });
  expect(landing.links).toContainEqual(expect.objectContaining({ rel: "service-doc", type: "text/html" }));
  const reply = await protocols.request("/ogc/api");
  expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/vnd.oai.openapi+json;version=3.0"]);
  const paths: Record<string, { get: { responses: Record<string, { content: object }> } }> = JSON.parse(
    reply.body,
  ).paths;
  expect(Object.keys(paths)).toContain(
    "/collections/{collectionId}/map/tiles/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}",
  );
  for (const [path, { get }] of Object.entries(paths)) {
    const named = path.endsWith("/map") ? path.replace("{collectionId}", "full") : path;
    const address = named.replace(/\{(\w+)\}/g, (_, name: string) => IN_PATH[name] ?? name).replace(/\/$/, "");
    const answer = await protocols.request(`/ogc${address}`);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(Object.keys(get.responses["200"]?.content ?? {})).toContain(answer.headers["content-type"]);
  }
});

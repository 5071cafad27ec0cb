import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { parseTranscript, replay } from "../transcript.ts";

// : POST /rest/reload reads the configuration file again; a bad one changes nothing and says why.
const layer = (name: string): string => `  - { name: ${name}, source: { type: demo, dataset: states } }\n`;
const ONE = `layers:\n${layer("one")}`;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ configuration: ONE });
});
afterAll(() => server.close());

const reloaded = (sentence: string, configuration: string, text: string): void => {
  const steps = parseTranscript(text);
  test(sentence, async () => {
    writeFileSync(join(server.dataDir, "nuthatch.yaml"), ONE);
    await replay(server, parseTranscript("\n> POST /rest/reload\n< 200 text/plain\n<\n< {any}"));
    writeFileSync(join(server.dataDir, "nuthatch.yaml"), configuration);
    await replay(server, steps);
  });
};

const seen = (name: string): string =>
  `> GET /rest/seed/${name}.json\n< 200 application/json\n<\n< {"long-array-array":[]}\n`;
const unknown = (name: string): string =>
  `> GET /rest/seed/${name}.json\n< 400 text/plain\n<\n< Unknown layer: ${name}\n`;

reloaded(
  "a layer that was added is there after the reload, and not before",
  `${ONE}${layer("two")}`,
  `
  ${unknown("two")}
  > POST /rest/reload
  > Content-Type: application/x-www-form-urlencoded
  >
  > reload_configuration=1
  < 200 text/plain
  <
  < {line}reloaded{any}
  ${seen("two")}
  ${seen("one")}
`,
);
reloaded(
  "a layer that was removed is unknown",
  `layers:\n${layer("two")}`,
  `\n> POST /geowebcache/rest/reload\n< 200 text/plain\n<\n< {any}\n${unknown("one")}${seen("two")}`,
);

describe("a bad configuration is 400, says where, and changes nothing", () => {
  reloaded(
    "an unknown key with the nearest known one",
    `${ONE}${layer("two")}layerz: []\n`,
    `\n> POST /rest/reload\n< 400 text/plain\n<\n< {line}\n< {any}layerz{any}layers{any}\n${seen("one")}${unknown("two")}`,
  );
  reloaded("what is no YAML", "layers: [", `\n> POST /rest/reload\n< 400 text/plain\n<\n< {any}\n${seen("one")}`);
  reloaded(
    "a layer name that ends in .json",
    `${ONE}${layer("two.json")}`,
    `\n> POST /rest/reload\n< 400 text/plain\n<\n< {any}two.json{any}\n${seen("one")}`,
  );
  reloaded(
    "two names that share one directory of the store",
    `layers:\n${layer('"a:b"')}${layer("a_b")}`,
    `\n> POST /rest/reload\n< 400 text/plain\n<\n< {any}a_b{any}\n${seen("one")}`,
  );
});

test("a grid set that was changed while no server ran has none of its earlier tiles, and one that was not has them", async () => {
  const configuration = (resolution: number): string =>
    `gridSets:
  - { id: changed, srs: EPSG:4326, extent: [-180, -90, 180, 90], resolutions: [${resolution}, 0.1] }
  - { id: same, srs: EPSG:4326, extent: [-180, -90, 180, 90], resolutions: [0.5, 0.1] }
layers:
  - { name: one, source: { type: demo, dataset: states }, gridSubsets: [{ gridSet: changed }, { gridSet: same }] }
`;
  let own = await startServer({ configuration: configuration(0.4) });
  try {
    const read = async (gridSet: string) =>
      (await fetch(`${own.url}/xyz/one/${gridSet}/0/0/0.png`)).headers.get("geowebcache-cache-result");
    for (const gridSet of ["changed", "same"]) {
      expect(await read(gridSet)).toBe("MISS");
      expect(await read(gridSet)).toBe("HIT");
    }
    await own.kill("SIGKILL");
    own = await startServer({ configuration: configuration(0.3), dataDir: own.dataDir });
    expect(await read("changed")).toBe("MISS");
    expect(await read("changed")).toBe("HIT");
    expect(await read("same")).toBe("HIT");
    own = await own.restart("SIGKILL");
    expect(await read("changed")).toBe("HIT");
  } finally {
    await own.close();
  }
});

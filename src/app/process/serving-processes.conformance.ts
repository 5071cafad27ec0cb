import { expect, test } from "vitest";
import type { Configuration } from "../../configuration/configuration.ts";
import type { ServingProcesses } from "./process-methods.ts";

/** Serving processes, without the address on which they listen. */
type Served = Omit<ServingProcesses, "listen" | "close">;

/** Started serving processes with the demo configuration. */
export interface ServingScene {
  readonly processes: Served;
  /** The addresses of all processes that answer HTTP. */
  readonly origins: readonly string[];
  readonly configuration: Configuration;
}

/**
 * Tests the behaviour of serving processes: of the server itself, of HTTP workers and of the nodes of a cluster.
 * @param start starts the processes, which end with the test
 */
export function servingProcessesConformance(start: () => Promise<ServingScene>): void {
  /** Returns what each process answers. */
  const answers = (origins: readonly string[], path: string): Promise<readonly { status: number; text: string }[]> =>
    Promise.all(
      origins.map(async (origin) => {
        const answer = await fetch(origin + path);
        return { status: answer.status, text: await answer.text() };
      }),
    );
  const statuses = async (origins: readonly string[], path: string): Promise<readonly number[]> =>
    (await answers(origins, path)).map(({ status }) => status);
  const CAPABILITIES = "/service/wmts?REQUEST=GetCapabilities";
  const TILE = (layer: string): string => `/service/tms/1.0.0/${layer}@EPSG%3A4326@png/0/0/0.png`;

  test("when a readiness is set, every process has it", async () => {
    const { processes, origins } = await start();
    await processes.ready({ ready: true });
    expect(new Set(await statuses(origins, "/readyz"))).toEqual(new Set([200]));
    await processes.ready({ ready: false, reason: "the disk of the data directory is full" });
    for (const { status, text } of await answers(origins, "/readyz")) {
      expect(status).toBe(503);
      expect(text).toContain("the disk of the data directory is full");
    }
  });

  test("when a change of a layer or of the configuration is answered, no process answers with the old one", async () => {
    const { processes, origins, configuration } = await start();
    await processes.ready({ ready: true });
    const [removed, kept] = configuration.layers;
    if (removed === undefined || kept === undefined) expect.fail("the demo has two layers");
    const named = `<ows:Identifier>${removed.name}</ows:Identifier>`;
    for (const { text } of await answers(origins, CAPABILITIES)) expect(text).toContain(named);
    await processes.configureLayer({ name: removed.name, made: undefined });
    for (const { text } of await answers(origins, CAPABILITIES)) {
      expect(text).not.toContain(named);
      expect(text).toContain(`<ows:Identifier>${kept.name}</ows:Identifier>`);
    }
    await processes.configure(configuration);
    for (const { text } of await answers(origins, CAPABILITIES)) expect(text).toContain(named);
  });

  test("traffic is counted over all processes, once", async () => {
    const { processes, origins, configuration } = await start();
    await processes.ready({ ready: true });
    await processes.collectTraffic();
    const [layer] = configuration.layers;
    if (layer === undefined) expect.fail("the demo has a layer");
    await answers(origins, TILE(layer.name));
    const traffic = await processes.collectTraffic();
    expect([...traffic.keys()]).toEqual([layer.name]);
    expect((await processes.collectTraffic()).size).toBe(0);
  });

  test("the metrics are the sum of all processes, and no change has failed", async () => {
    const { processes, origins, configuration } = await start();
    await processes.ready({ ready: true });
    const { memory, failedChanges, listeners } = await processes.metrics();
    const limitBytes = Math.floor((configuration.server.memoryTierMiB * 2 ** 20) / configuration.server.workers);
    expect(memory).toMatchObject({ tiles: 0, limitBytes: limitBytes * origins.length });
    expect([failedChanges, listeners]).toEqual([0, 0]);
  });

  test("stores that all processes can use have no fault", async () => {
    const { processes } = await start();
    expect(await processes.storesFault([], "mark")).toBeUndefined();
  });
}

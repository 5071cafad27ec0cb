import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { ended, seed, startServer } from "../../support/server/server.ts";
import { wmsConfiguration } from "../../support/server/wms-configuration.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const LAYER = "ws:roads";
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number };
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: Pick<Span, "attributes">;
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** A collector of OTLP over HTTP, in JSON. */
async function startCollector() {
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      if (request.url === "/v1/traces") sent.push(JSON.parse(body));
      response.setHeader("Content-Type", "application/json").end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const { port }: Pick<AddressInfo, "port"> = typeof address === "object" && address !== null ? address : { port: 0 };
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => sent.flatMap((s) => s.resourceSpans.flatMap((r) => r.scopeSpans.flatMap(({ spans }) => spans))),
    services: () =>
      new Set(
        sent.flatMap((s) =>
          s.resourceSpans.flatMap(({ resource }) =>
            resource.attributes.filter(({ key }) => key === "service.name").map(({ value }) => value["stringValue"]),
          ),
        ),
      ),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("a collector gets the spans of users' requests and of jobs, in the trace of the user", async () => {
  await using collector = await startCollector();
  const upstream = await startUpstream();
  const requested: (string | undefined)[] = [];
  let failing = false;
  upstream.behaviour = (_, response) => {
    const { traceparent } = response.req.headers;
    requested.push(typeof traceparent === "string" ? traceparent : undefined);
    if (!failing) return "render";
    response.writeHead(404).end();
    return "handled";
  };
  const server = await startServer({
    configuration: wmsConfiguration(upstream.url, [{ name: LAYER }]),
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: "tiles" },
  });
  try {
    const path = `${server.url}/xyz/${LAYER}/4/0/0.png`;
    const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
    await (await fetch(path, { headers })).arrayBuffer();
    await (await fetch(path, { headers })).arrayBuffer();
    failing = true;
    await (await fetch(`${server.url}/xyz/${LAYER}/4/8/8.png`)).arrayBuffer();
    failing = false;
    const id = await seed(server, LAYER, { gridSetId: "EPSG:900913", format: "image/png", type: "seed", zoomStop: 0 });
    await ended(server, id);
    await expect.poll(() => collector.spans().map(({ name }) => name)).toEqual(["render", "render", "seed"]);
    const [hit, failed, job] = collector.spans();
    expect(hit).toMatchObject({ traceId: TRACE, parentSpanId: "00f067aa0ba902b7", status: {} });
    expect(hit?.attributes).toContainEqual({ key: "nuthatch.tile", value: { stringValue: "4/0/15" } });
    expect(failed?.status.code, "an error").toBe(2);
    expect(failed?.traceId).not.toBe(TRACE);
    expect(job?.attributes).toContainEqual({ key: "nuthatch.outcome", value: { stringValue: "done" } });
    expect(job?.attributes).toContainEqual({ key: "nuthatch.tiles.stored", value: { intValue: 1 } });
    // Requests to the upstream belong to the span and not to its parent; requests of a job belong to no trace.
    expect(requested).toEqual([
      `00-${TRACE}-${hit?.spanId}-01`,
      `00-${failed?.traceId}-${failed?.spanId}-01`,
      undefined,
    ]);
    expect(collector.services()).toEqual(new Set(["tiles"]));
  } finally {
    await server.close();
    await upstream.close();
  }
});

test("spans that have not been exported are exported at the shutdown", async () => {
  await using collector = await startCollector();
  const server = await startServer({ env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` } });
  try {
    await (await fetch(`${server.url}/xyz/topp:states/2/0/2.png`)).arrayBuffer();
    expect(await server.kill("SIGTERM")).toBe(0);
    expect(collector.spans().map(({ name }) => name)).toEqual(["render"]);
    expect(collector.services()).toEqual(new Set(["nuthatch"]));
  } finally {
    await server.close();
  }
});

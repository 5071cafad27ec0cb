import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { thisMachine } from "../../../src/lib/this-machine.ts";
import { AzureClient } from "../../../src/store/azure/azure-client.ts";
import type { AzureStoreConfiguration } from "../../../src/store/azure/azure-options.ts";
import type { RemoteOptions } from "../../../src/store/remote-kinds.ts";
import { type Emulator, NO_AZURITE, startAzurite } from "../../support/remote/emulators.ts";
import { remoteCases } from "./remote-cases.ts";

const bytes = Buffer.from("a tile");
const plain = { contentType: "image/png" };

describe.skipIf(NO_AZURITE !== undefined)("a store in Azure, by Azurite", () => {
  let service: Emulator<AzureStoreConfiguration> | undefined;
  beforeAll(async () => {
    service = await startAzurite();
  });
  afterAll(() => service?.[Symbol.asyncDispose]());
  const started = (): Emulator<AzureStoreConfiguration> => {
    if (service === undefined) throw new Error("the service has not been started");
    return service;
  };
  const azure = (options: RemoteOptions): AzureStoreConfiguration => {
    if (options.type !== "azure") throw new Error("no store in Azure");
    return options;
  };

  remoteCases(() => ({
    options: (prefix, namesFile) => started().options(prefix, namesFile),
    away: (options) => ({ ...azure(options), endpoint: "http://127.0.0.1:1/devstoreaccount1" }),
    nowhere: (options) => ({ ...azure(options), container: "nowhere" }),
    unknownBucket: "ContainerNotFound",
  }));

  test("conditions, names with every kind of character, metadata and sums of an object", async () => {
    await using client = new AzureClient(started().options("ü b", ""), thisMachine);
    const key = "ws:a/EPSG:4326/it's (1)+2/x&y=z.png";
    const metadata = { "nuthatch-written": "1800000000123" };
    const first = await client.put(key, bytes, { ...plain, metadata, condition: { kind: "absent" } });
    expect(first).toMatchObject({ kind: "stored" });
    expect(await client.put(key, bytes, { ...plain, condition: { kind: "absent" } })).toEqual({ kind: "changed" });
    const head = await client.head(key);
    expect(head).toMatchObject({ bytes: 6, metadata, md5: "c37ee78cb8b04fa64e295342b3e229cd" });
    expect(await client.get(key)).toMatchObject({ body: bytes, etag: head?.etag, metadata });
    const same = { kind: "same", etag: head?.etag ?? "" } as const;
    expect(await client.put(key, Buffer.from("b"), { ...plain, condition: same })).toMatchObject({ kind: "stored" });
    expect(await client.put(key, bytes, { ...plain, condition: same })).toEqual({ kind: "changed" });
    const listed: string[] = [];
    for await (const { objects } of client.list({ prefix: "ws:a/" })) listed.push(...objects.map((one) => one.key));
    expect(listed).toEqual([key]);
    expect(await client.deleteAll([key, "absent"])).toEqual(new Map());
    expect(await client.put(key, bytes, { ...plain, condition: same })).toEqual({ kind: "changed" });
    expect(await client.get(key)).toBeUndefined();
  });

  test("a listing of more than one page has each object once", async () => {
    await using client = new AzureClient(started().options("pages", ""), thisMachine);
    const keys = Array.from({ length: 25 }, (_, n) => `a/${String(n).padStart(2, "0")}`);
    await Promise.all(keys.map((key) => client.put(key, bytes, plain)));
    const pages: string[][] = [];
    for await (const { objects } of client.list({ prefix: "a/", limit: 10 })) pages.push(objects.map(({ key }) => key));
    expect(pages.map((page) => page.length)).toEqual([10, 10, 5]);
    expect(pages.flat()).toEqual(keys);
  });

  test("a wrong key is refused, and no message has the key", async () => {
    const accountKey = Buffer.from("wrong").toString("base64");
    await using client = new AzureClient({ ...started().options("", ""), accountKey }, thisMachine);
    for (const work of [() => client.ask(), () => client.put("k", bytes, plain)]) {
      const error: unknown = await work().catch((reason: unknown) => reason);
      // Azure's own code is AuthenticationFailed.
      expect(error).toMatchObject({ status: 403, code: "AuthorizationFailure" });
      expect(String(error)).not.toContain(accountKey);
    }
  });
});

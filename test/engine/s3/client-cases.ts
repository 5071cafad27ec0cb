import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { thisMachine } from "../../../src/lib/this-machine.ts";
import { RemoteError } from "../../../src/store/remote/remote-error.ts";
import { S3Client } from "../../../src/store/s3/s3-client.ts";
import type { S3Server } from "../../support/s3/server.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const plain = { contentType: "text/plain" };
const failure = async (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

export function clientCases(started: () => S3Server): void {
  test("objects with strange names are stored, read, listed and deleted", async () => {
    await using client = new S3Client(started().options("a/b"), thisMachine);
    const keys = ["ws:a/EPSG:4326/png/default/3/1/2.png", "ä ö+&=?#%41/(1)*'!~", "x~lq2/1.png"];
    for (const key of keys)
      expect(await client.put(key, bytes(key), { ...plain, metadata: { "nuthatch-written": "17" } })).toMatchObject({
        kind: "stored",
      });
    for (const key of keys) {
      const found = await client.get(key);
      expect(Buffer.from(found?.body ?? []).toString()).toBe(key);
      expect(found?.metadata["nuthatch-written"]).toBe("17");
      expect(await client.head(key)).toMatchObject({ bytes: Buffer.byteLength(key), etag: found?.etag });
    }
    const listed: string[] = [];
    for await (const page of client.list({ prefix: "", limit: 2 })) listed.push(...page.objects.map(({ key }) => key));
    expect(listed.sort()).toEqual([...keys].sort());
    const folders: string[] = [];
    for await (const page of client.list({ prefix: "", delimiter: "/" })) folders.push(...page.prefixes);
    expect(folders.sort()).toEqual(["ws:a/", "x~lq2/", "ä ö+&=?#%41/"].sort());
    await client.deleteAll([...keys, "never"]);
    for (const key of keys) expect(await client.get(key)).toBeUndefined();
    expect(await client.head("never")).toBeUndefined();
    await client.delete("never");
  });

  test("a list begins behind a key", async () => {
    await using client = new S3Client(started().options("list"), thisMachine);
    for (const n of [1, 2, 3, 10]) await client.put(`l/${n}.png`, bytes("x"), plain);
    const listed: string[] = [];
    for await (const page of client.list({ prefix: "l/", startAfter: "l/10.png" }))
      listed.push(...page.objects.map(({ key }) => key));
    expect(listed).toEqual(["l/2.png", "l/3.png"]);
  });

  test("one of sixteen puts of a new object wins, and a put that expects another object changes nothing", async () => {
    // The service lets one put of a key wait for another, on a busy machine for many seconds.
    await using client = new S3Client(started().options("race", { timeoutMs: 120_000 }), thisMachine);
    const absent = { ...plain, condition: { kind: "absent" } } as const;
    const all = await Promise.all([...Array(16).keys()].map((n) => client.put("k", bytes(`${n}`), absent)));
    expect(all.filter(({ kind }) => kind === "stored")).toHaveLength(1);
    const etag = (await client.head("k"))?.etag ?? "";
    const same = { ...plain, condition: { kind: "same", etag } } as const;
    expect(await client.put("k", bytes("new"), same)).toMatchObject({ kind: "stored" });
    expect(await client.put("k", bytes("newer"), same)).toMatchObject({ kind: "changed" });
    await client.delete("k");
    expect(await client.put("k", bytes("newer"), same)).toMatchObject({ kind: "changed" });
    expect(await client.put("k", bytes("x"), { ...plain, guard: () => false })).toMatchObject({ kind: "refused" });
    expect(await client.get("k")).toBeUndefined();
  });

  test("a put that arrives after its end is refused", async () => {
    const late = new S3Client(started().options("late", { putSeconds: 1 }), thisMachine);
    await using client = late;
    // A service whose clock is 20 s ahead of the time in the address.
    const real = Date.now;
    Date.now = () => real() - 20_000;
    try {
      const error = await failure(late.put("k", bytes("x"), plain));
      expect(error).toBeInstanceOf(RemoteError);
    } finally {
      Date.now = real;
    }
    expect(await client.get("k")).toBeUndefined();
  });

  test("a clock that differs is noticed by the service's answers", async () => {
    await using client = new S3Client(started().options("clock"), thisMachine);
    const real = Date.now;
    Date.now = () => real() - 3_600_000;
    try {
      await failure(client.get("k"));
      expect(await client.put("k", bytes("x"), plain)).toMatchObject({ kind: "stored" });
    } finally {
      Date.now = real;
    }
  });

  test("wrong keys, a bucket that does not exist and a service that is away are told apart, without the keys", async () => {
    await using wrong = new S3Client(
      started().options("", { credentials: { accessKeyId: "nuthatch", secretAccessKey: "wrong-secret" } }),
      thisMachine,
    );
    await using nowhere = new S3Client(started().options("", { bucket: "nowhere" }), thisMachine);
    await using away = new S3Client(started().options("", { endpoint: "http://127.0.0.1:1" }), thisMachine);
    const errors = await Promise.all(
      [wrong, nowhere, away]
        .map(async (client) => {
          for await (const _ of client.list({ prefix: "" })) break;
        })
        .map(failure),
    );
    expect(errors).toMatchObject([
      { code: "SignatureDoesNotMatch" },
      { code: "NoSuchBucket" },
      { status: 0, code: "ECONNREFUSED" },
    ]);
    expect(errors.map(String).join()).not.toMatch(/secret/);
  });

  test("keys come from the environment or from a profile", async () => {
    const directory = mkdtempSync(join(tmpdir(), "nuthatch-aws-"));
    try {
      const { credentials: _, ...bare } = started().options("keys");
      const file = join(directory, "credentials");
      writeFileSync(
        file,
        "# mine\n[default]\naws_access_key_id = x\naws_secret_access_key = y\n\n[ tiles ]\naws_access_key_id=nuthatch\naws_secret_access_key = nuthatch-secret\n",
      );
      const places = { AWS_SHARED_CREDENTIALS_FILE: file, AWS_CONFIG_FILE: join(directory, "none") };
      for (const [options, environment] of [
        [bare, { AWS_ACCESS_KEY_ID: "nuthatch", AWS_SECRET_ACCESS_KEY: "nuthatch-secret" }],
        [bare, { ...places, AWS_PROFILE: "tiles" }],
        [
          { ...bare, profile: "tiles" },
          { ...places, AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "y" },
        ],
      ] as const) {
        await using client = new S3Client(options, thisMachine, environment);
        expect(await client.put("k", bytes("x"), plain)).toMatchObject({ kind: "stored" });
      }
      await using without = new S3Client(bare, thisMachine, {
        ...places,
        AWS_PROFILE: "other",
        AWS_EC2_METADATA_DISABLED: "true",
      });
      expect(await failure(without.get("k"))).toMatchObject({ code: "NoCredentials" });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
}

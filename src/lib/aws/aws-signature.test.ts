import { expect, test } from "vitest";
import { signAddress, signHeaders } from "./aws-signature.ts";

// The examples of "Authenticating Requests (AWS Signature Version 4)", Amazon S3 API reference.
const signing = {
  service: "s3",
  region: "us-east-1",
  credentials: {
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  },
  atMs: Date.UTC(2013, 4, 24),
} as const;
const host = "examplebucket.s3.amazonaws.com";
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

test("a signed address equals AWS's example", () => {
  const { path } = signAddress({ method: "GET", host, path: "/test.txt", query: {}, headers: {} }, 86_400, signing);
  expect(path).toContain("X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
});

test("signed headers equal AWS's examples of a list and of a put", () => {
  const query = { prefix: "J", "max-keys": "2" };
  const list = signHeaders({ method: "GET", host, path: "/", query, headers: {} }, EMPTY, signing);
  expect(list.path).toBe("/?max-keys=2&prefix=J");
  expect(list.headers["authorization"]).toContain("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
  const headers = { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" };
  const hash = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
  const put = signHeaders({ method: "PUT", host, path: "/test$file.text", query: {}, headers }, hash, signing);
  expect(put.headers["authorization"]).toContain("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
});

test("an address with a session token carries it, and no header shows a secret", () => {
  const temporary = { ...signing, credentials: { ...signing.credentials, sessionToken: "tok/en+=" } };
  const signed = signAddress(
    { method: "PUT", host, path: "/a b/é~", query: {}, headers: { "x-a": "1" } },
    30,
    temporary,
  );
  expect(signed.path).toContain("X-Amz-Security-Token=tok%2Fen%2B%3D");
  expect(signed.path).toContain("/a%20b/%C3%A9~?");
  expect(signed.path).toContain("X-Amz-SignedHeaders=host%3Bx-a");
  expect(JSON.stringify(signed)).not.toContain("wJalr");
});

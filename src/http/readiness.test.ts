import { expect, test } from "vitest";
import { publicReason } from "./readiness.ts";

test.each([
  ["starting", "starting"],
  ["shutting down", "shutting down"],
  ["draining", "draining"],
  ["the store (/srv/tiles) is lost: ENOENT", "the store cannot be used"],
  ['the store "two" (/srv/two) is lost: ENOENT', 'the store "two" cannot be used'],
  ["store main: there was no answer in 5 ms", 'the store "main" cannot be used'],
  ["store main: it cannot be read: getaddrinfo ENOTFOUND s3.internal", 'the store "main" cannot be used'],
  [
    'the store "a" cannot be used: /a: EIO\nthe store "b" (/b) is lost: another one is in its place',
    'the store "a" cannot be used\nthe store "b" cannot be used',
  ],
  ["the state database (/srv/state.db) is lost: ENOENT", "the state database cannot be used"],
  ["PostgreSQL at db.internal:5432 refuses: self-signed certificate", "the state database cannot be used"],
  ["the disk of the data directory is full, the state cannot be read: /srv", "the disk of the data directory is full"],
  ["this node has no lease of the lead: node a at 10.0.0.5:9000 is away", "this node has no lease of the lead"],
  ["node a: its store is at /mnt/a", "the server cannot work: its log has the reason"],
])("of %j anybody reads %j", (reason, shown) => {
  expect(publicReason(reason)).toBe(shown);
});

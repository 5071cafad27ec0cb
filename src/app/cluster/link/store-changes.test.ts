import { expect, test } from "vitest";
import type { S3StoreConfiguration } from "../../../store/s3/s3-options.ts";
import type { StoreOptions } from "../../../store/store-options.ts";
import { storeChanges, withStoreChanges } from "./store-changes.ts";

const file = (id: string, path = `/tiles/${id}`): StoreOptions => ({ id, type: "file", path, layout: "gwc" });
const bucket = (id: string, dataDir: string): S3StoreConfiguration => ({
  id,
  type: "s3",
  region: "r",
  bucket: id,
  prefix: "",
  pathStyle: true,
  timeoutMs: 1,
  connections: 1,
  putSeconds: 5,
  unavailable: "refuse",
  namesFile: `${dataDir}/stores/${id}.generations.json`,
});

test("a node has the stores of its file, those that were made, and their order; names are in its own directory", () => {
  const ofLead = [file("main"), bucket("remote", "/lead")];
  const own = { dataDir: "/node", stores: [file("main"), bucket("remote", "/node")] };
  const stores = [bucket("made", "/lead"), ...ofLead, file("other")];
  const changes = storeChanges(stores, ofLead);
  // A store of the file is not sent, because each node has its own account there.
  expect(changes.made.map(({ id }) => id)).toEqual(["made", "other"]);
  expect(withStoreChanges(own, changes)).toEqual([bucket("made", "/node"), ...own.stores, file("other")]);
});

test("a store of the file that was changed or removed over HTTP is so on each node", () => {
  const ofLead = [file("main"), file("a"), file("b")];
  const changes = storeChanges([file("main"), file("a", "/elsewhere")], ofLead);
  expect(withStoreChanges({ dataDir: "/node", stores: ofLead }, changes)).toEqual([
    file("main"),
    file("a", "/elsewhere"),
  ]);
});

test("without changes a node has the stores of its file", () => {
  const stores = [file("main"), bucket("remote", "/node")];
  const changes = storeChanges([file("main"), bucket("remote", "/lead")], [file("main"), bucket("remote", "/lead")]);
  expect(withStoreChanges({ dataDir: "/node", stores }, changes)).toEqual(stores);
});

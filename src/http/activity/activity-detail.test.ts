import { expect, test } from "vitest";
import { differences, jobDetail } from "./activity-detail.ts";

test("a change names each field with its old and its new value", () => {
  expect(
    differences(
      { enabled: true, globalQuota: { value: "50", units: "MiB" }, layerQuotas: [] },
      { enabled: true, globalQuota: { value: "2", units: "GiB" }, layerQuotas: [{ layer: "a" }] },
    ),
  ).toBe('globalQuota.value: 50 → 2; globalQuota.units: MiB → GiB; layerQuotas: [] → [{"layer":"a"}]');
  expect(differences({ a: 1 }, { a: 1 })).toBe("no change");
  expect(differences({ a: 1 }, { b: null, c: 10n })).toBe("a: 1 → none; c: none → 10");
});

test("a change of a secret is named without either value", () => {
  const text = differences(
    { source: { url: "http://u:old@host/wms?key=old", httpPassword: "old", vendorParameters: { map: "old" } } },
    { source: { url: "http://u:new@host/wms?key=new", httpPassword: "new", vendorParameters: { map: "new" } } },
  );
  expect(text).toContain("source.httpPassword: *** → ***");
  expect(text).toContain("source.url: http://***@host/wms?key=***");
  expect(text).not.toMatch(/old|new/);
});

test("a job is named by its type, layer and range", () => {
  expect(
    jobDetail({ layer: "roads", type: "seed", gridSet: "EPSG:900913", format: null, zoomStart: 0, zoomStop: 10 }),
  ).toBe("seed of roads, EPSG:900913, levels 0 to 10");
});

import { expect, test } from "vitest";
import { shownRequest } from "./hide-secrets.ts";

const plain = { vendorParameters: {} };

test.each([
  [
    "https://{s}.tiles.example/v1/{z}/{x}/{y}.png?key=abc&size={z}",
    "https://a.tiles.example/v1/3/2/1.png?key=abc&size=3",
    "/v1/3/2/1.png?key=…&size=3",
  ],
  [
    "https://user:pass@host.example:8443/0123456789abcdef0123/wms?MAP=/etc/a.map",
    "https://host.example:8443/0123456789abcdef0123/wms?map=%2Fetc%2Fa.map&LAYERS=a%20b",
    "/…/wms?map=…&LAYERS=a%20b",
  ],
  ["http://host.example", "http://host.example/", "/"],
  ["http://host.example/wms?", "http://host.example/wms?REQUEST=GetMap", "/wms?REQUEST=GetMap"],
])("of %s nothing is shown that may be a secret", (address, url, shown) => {
  expect(shownRequest(new URL(url), address, plain)).toBe(shown);
});

test("the values of vendor parameters are hidden, whatever their case", () => {
  const url = new URL("http://host.example/wms?LAYERS=a&TOKEN=x%26y");
  expect(shownRequest(url, "http://host.example/wms", { vendorParameters: { token: "x&y" } })).toBe(
    "/wms?LAYERS=a&TOKEN=…",
  );
});

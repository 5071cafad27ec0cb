import fc from "fast-check";
import { expect, test } from "vitest";
import { asForm, decimal, setParameters, withQuery } from "./query.ts";

test("later parameters replace earlier ones and the address's, whatever the case", () => {
  const url = withQuery("http://u/?Layers=a&map=/x", { LAYERS: "b", key: "1" }, { layers: "c" });
  expect(url.search).toBe("?map=/x&key=1&layers=c");
});

test("an address is left as it is written when nothing is set", () => {
  const address = "http://u/a%20b?sig=a%2Bb+c~&x";
  expect(withQuery(address).href).toBe(address);
  expect(withQuery(address, {}, {}).href).toBe(address);
});

test("parameters without a value are not set", () => {
  expect(setParameters({ TIME: "", STYLES: "night" })).toEqual({ STYLES: "night" });
});

test("numbers have no exponent and lose nothing that a map could show", () => {
  fc.assert(
    fc.property(fc.double({ min: -3e7, max: 3e7, noNaN: true }), (value) => {
      expect(decimal(value)).toMatch(/^-?\d+(\.\d+)?$/);
      expect(Math.abs(Number(decimal(value)) - value)).toBeLessThanOrEqual(1e-20);
    }),
  );
});

test("a question mark at the beginning of a query stays", () => {
  const url = withQuery("http://host/wms??map=/x", { LAYERS: "a" });
  expect(url.search).toBe("??map=/x&LAYERS=a");
  expect(asForm(url, "http://host/wms??map=/x")).toEqual({ url: new URL("http://host/wms??map=/x"), form: "LAYERS=a" });
  expect(asForm(withQuery("http://host/wms", { LAYERS: "a" }), "http://host/wms").url.href).toBe("http://host/wms");
});

test("escapes of the configured address that are no UTF-8 stay as they are written", () => {
  const address = "http://host/wms?map=/data/stra%DFe.map&a=%7e+b%20c&LAYERS=old";
  const url = withQuery(address, { layers: "ä b" }, { key: "1" });
  expect(url.search).toBe("?map=/data/stra%DFe.map&a=%7e+b%20c&layers=%C3%A4+b&key=1");
  expect(asForm(url, address)).toEqual({
    url: new URL("http://host/wms?map=/data/stra%DFe.map&a=%7e+b%20c"),
    form: "layers=%C3%A4+b&key=1",
  });
});

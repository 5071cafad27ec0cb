import { describe, expect, test } from "vitest";
import { wmsCapabilities111, wmsCapabilities130, wmtsCapabilities } from "../../../../test/support/capabilities.ts";
import { catalogue, startProtocols, states } from "../../../../test/support/tile-protocols.ts";
import { atEveryZoom } from "../../../layer/by-zoom.ts";
import { type Catalogue, catalogueOf } from "../../../layer/catalogue.ts";
import type { Layer } from "../../../layer/layer.ts";

const full = catalogue.layers.get("full");
if (full === undefined) throw new Error("the fixture has changed");
const BASE = "http://a/b&c";
const size = { width: 20, height: 40, format: "image/png" };
const withLegends = (layer: Layer, legends: Layer["legends"]): Catalogue => catalogueOf([{ ...layer, legends }]);

describe("capabilities", () => {
  const styled = withLegends({ ...states, source: full.source }, [
    { style: "", ...size },
    { style: "größe", ...size, url: "https://cdn.example/l.png?a=1&b=<", minScaleDenominator: 1e3 },
  ]);

  test("of WMTS have the legend of each style that has one, here or at its own address", () => {
    const document = wmtsCapabilities(styled, BASE);
    const styles = document.match(/<Style[\s\S]*?<\/Style>/g) ?? [];
    expect(styles[0]).toContain(
      '<LegendURL format="image/png" xlink:href="http://a/b&amp;c/service/wms?SERVICE=WMS&amp;VERSION=1.1.1&amp;REQUEST=GetLegendGraphic&amp;LAYER=topp%3Astates&amp;STYLE=&amp;FORMAT=image%2Fpng&amp;WIDTH=20&amp;HEIGHT=40" width="20" height="40"/>',
    );
    expect(styles[1]).not.toContain("LegendURL");
    expect(styles[2]).toContain(
      'xlink:href="https://cdn.example/l.png?a=1&amp;b=&lt;" minScaleDenominator="1000" width="20" height="40"/>',
    );
    expect(document).not.toContain("127.0.0.1:9");
  });

  test("of WMS too, where a default style without a name gets one for its legend", () => {
    for (const document of [wmsCapabilities111(styled, BASE, "left out"), wmsCapabilities130(styled, BASE)]) {
      expect(document).toContain('<Style><Name>default</Name><Title>default</Title><LegendURL width="20" height="40">');
      expect(document).toContain(
        '<Name>gr&#246;&#223;e</Name><Title>gr&#246;&#223;e</Title><LegendURL width="20" height="40"><Format>image/png</Format><OnlineResource xmlns:xlink="http://www.w3.org/1999/xlink" xlink:type="simple" xlink:href="https://cdn.example/l.png?a=1&amp;b=&lt;"/></LegendURL></Style>',
      );
    }
    const plain = withLegends(full, [{ style: "", ...size }]);
    expect(wmsCapabilities111(plain, BASE, "left out")).toContain("<Style><Name>default</Name>");
    expect(wmsCapabilities111(plain, BASE, "left out")).toContain("<GetLegendGraphic>");
    expect(wmsCapabilities111(catalogue, BASE, "left out")).not.toContain("<GetLegendGraphic>");
  });
});

describe("GetLegendGraphic", () => {
  const GOOD = "/service/wms?SERVICE=WMS&REQUEST=GetLegendGraphic&LAYER=full";

  test("is passed on with what it may hold, and is cached like the layer's tiles", async () => {
    const layer = { ...full, expireClientSeconds: atEveryZoom(60) };
    await using protocols = await startProtocols({ catalogue: () => withLegends(layer, [{ style: "", ...size }]) });
    const query = "&STYLE=default&FORMAT=image/png&WIDTH=30&SCALE=1e6&LEGEND_OPTIONS=fontSize:9&SLD=http://evil/";
    const { status, headers, body } = await protocols.request(GOOD + query);
    expect([status, headers["content-type"], headers["cache-control"], headers["content-security-policy"]]).toEqual([
      200,
      "image/png",
      "max-age=60, must-revalidate",
      "sandbox",
    ]);
    expect(JSON.parse(body)).toEqual({
      name: "full",
      kind: "legend",
      style: "",
      format: "image/png",
      options: { WIDTH: "30", SCALE: "1e6", LEGEND_OPTIONS: "fontSize:9" },
    });
  });

  test("asks for the default of a STYLES filter by its name", async () => {
    const filters = [{ type: "string", key: "STYLES", default: "thin", values: ["wide"] }] as const;
    const styled = catalogueOf([{ ...full, parameterFilters: filters }]);
    await using protocols = await startProtocols({ catalogue: () => styled });
    for (const [style, sent] of [
      ["", "thin"],
      ["default", "thin"],
      ["wide", "wide"],
    ])
      expect(JSON.parse((await protocols.request(`${GOOD}&STYLE=${style}`)).body).style).toBe(sent);
  });

  test("is refused where no upstream can answer, or a value is malformed", async () => {
    await using protocols = await startProtocols();
    const cases: [string, number, string][] = [
      [GOOD.replace("full", "none"), 400, "LayerNotDefined"],
      [GOOD.replace("full", "topp:states"), 400, "OperationNotSupported"],
      [`${GOOD}&FORMAT=png`, 400, "InvalidFormat"],
      [`${GOOD}&WIDTH=-3`, 400, "WIDTH: expected"],
      [`${GOOD}&BGCOLOR=red`, 400, "BGCOLOR: expected"],
    ];
    for (const [target, status, words] of cases) {
      const reply = await protocols.request(target);
      expect([reply.status, reply.body.includes(words)], target).toEqual([status, true]);
    }
  });
});

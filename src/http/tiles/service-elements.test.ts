import { expect, test } from "vitest";
import {
  tileMapServiceDocument,
  wmsCapabilities111,
  wmsCapabilities130,
  wmtsCapabilities,
} from "../../../test/support/capabilities.ts";
import { catalogue, states } from "../../../test/support/tile-protocols.ts";
import { catalogueOf } from "../../layer/catalogue.ts";
import { type ServiceInformation, STANDARD_SERVICE } from "../../layer/service-information.ts";
import { parseRequested, routeOf } from "./tile-route.ts";

const INFORMATION: ServiceInformation = {
  title: "City <tiles>",
  description: "All & more",
  keywords: ["base", "a&b"],
  fees: "NONE",
  accessConstraints: "on request",
  serviceProvider: {
    providerName: "City",
    providerSite: "http://city/?a=1&b=2",
    serviceContact: {
      individualName: "Jo",
      positionName: "GIS",
      addressStreet: "1 Main St.",
      addressCity: "Example",
      phoneNumber: "+00 1",
      addressEmail: "gis@example.org",
    },
  },
};
const described = catalogueOf(
  [{ ...states, keywords: ["k1", "<k2>"], metadataUrls: [{ type: "FGDC", format: "text/xml", url: "http://m/?a&b" }] }],
  {
    information: INFORMATION,
    isCiteCompliant: false,
    isFullWms: false,
    updateSequence: 0,
  },
);

test("the capabilities of WMTS have the service, its provider, and what describes a layer", () => {
  const document = wmtsCapabilities(described, "http://h");
  for (const element of [
    "<ows:Title>City &lt;tiles&gt;</ows:Title>",
    "<ows:Abstract>All &amp; more</ows:Abstract>",
    "<ows:Keywords><ows:Keyword>base</ows:Keyword><ows:Keyword>a&amp;b</ows:Keyword></ows:Keywords>",
    "<ows:Fees>NONE</ows:Fees>",
    "<ows:AccessConstraints>on request</ows:AccessConstraints>",
    "<ows:ProviderName>City</ows:ProviderName>",
    '<ows:ProviderSite xlink:href="http://city/?a=1&amp;b=2"/>',
    "<ows:ServiceContact><ows:IndividualName>Jo</ows:IndividualName><ows:PositionName>GIS</ows:PositionName><ows:ContactInfo><ows:Phone><ows:Voice>+00 1</ows:Voice></ows:Phone><ows:Address><ows:DeliveryPoint>1 Main St.</ows:DeliveryPoint><ows:City>Example</ows:City><ows:ElectronicMailAddress>gis@example.org</ows:ElectronicMailAddress></ows:Address></ows:ContactInfo></ows:ServiceContact>",
    "<ows:Keywords><ows:Keyword>k1</ows:Keyword><ows:Keyword>&lt;k2&gt;</ows:Keyword></ows:Keywords>",
    '<ows:Metadata xlink:type="simple" xlink:href="http://m/?a&amp;b" about="FGDC"/>',
  ])
    expect(document).toContain(element);
});

test("the capabilities of WMS have them in their own elements", () => {
  for (const document of [
    wmsCapabilities111(described, "http://h", "left out"),
    wmsCapabilities130(described, "http://h"),
  ])
    for (const element of [
      "<Title>City &lt;tiles&gt;</Title>",
      "<KeywordList><Keyword>base</Keyword><Keyword>a&amp;b</Keyword></KeywordList>",
      "<ContactPersonPrimary><ContactPerson>Jo</ContactPerson><ContactOrganization>City</ContactOrganization></ContactPersonPrimary>",
      "<ContactAddress><AddressType></AddressType><Address>1 Main St.</Address><City>Example</City><StateOrProvince></StateOrProvince><PostCode></PostCode><Country></Country></ContactAddress>",
      "<Fees>NONE</Fees>",
      "<KeywordList><Keyword>k1</Keyword><Keyword>&lt;k2&gt;</Keyword></KeywordList>",
      '<MetadataURL type="FGDC"><Format>text/xml</Format>',
    ])
      expect(document).toContain(element);
});

test("the document of TMS has title, abstract and keywords", () => {
  const document = tileMapServiceDocument(described, "http://h");
  expect(document).toContain("<Title>City &lt;tiles&gt;</Title>\n  <Abstract>All &amp; more</Abstract>");
  expect(document).toContain("<KeywordList>base a&amp;b</KeywordList>");
});

test("without service information the documents are as they were", () => {
  expect(wmtsCapabilities(catalogue, "http://h")).toContain(`<ows:ServiceIdentification>
  <ows:Title>Web Map Tile Service - Nuthatch</ows:Title>
  <ows:ServiceType>OGC WMTS</ows:ServiceType>
  <ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion>
</ows:ServiceIdentification>
<ows:ServiceProvider>
  <ows:ProviderName>http://h/service/wmts</ows:ProviderName>
  <ows:ProviderSite xlink:href="http://h"/>
  <ows:ServiceContact/>
</ows:ServiceProvider>`);
  expect(wmsCapabilities130(catalogue, "http://h")).toContain(
    "    <Name>WMS</Name>\n    <Title>Web Map Service - Nuthatch</Title>\n    <OnlineResource",
  );
});

test("a layer that is not enabled or not advertised is in no document; an enabled one has its tiles", () => {
  const hidden = catalogueOf([
    { ...states, name: "off", enabled: false },
    { ...states, name: "secret", advertised: false },
    { ...states, name: "shown" },
  ]);
  for (const document of [
    wmtsCapabilities(hidden, "http://h"),
    wmsCapabilities111(hidden, "http://h", "listed"),
    wmsCapabilities130(hidden, "http://h"),
    tileMapServiceDocument(hidden, "http://h"),
  ]) {
    expect(document).toContain("shown");
    expect(document).not.toMatch(/\boff\b|secret/);
  }
  const parsed = (path: string, query = "") => {
    const route = routeOf(path);
    if (!route.ok) throw new Error(path);
    return parseRequested(hidden, route.value, query);
  };
  expect(parsed("/xyz/secret/EPSG:900913/3/2/2.png").requested).toMatchObject({ ok: true, value: { kind: "tile" } });
  const kvp =
    "SERVICE=WMTS&REQUEST=GetTile&LAYER=off&FORMAT=image/png&TILEMATRIXSET=EPSG:900913&TILEMATRIX=EPSG:900913:3&TILEROW=2&TILECOL=2";
  for (const [path, query, dialect] of [
    ["/xyz/off/EPSG:900913/3/2/2.png", "", "ows"],
    ["/service/tms/1.0.0/off@EPSG:900913@png/3/2/2.png", "", "ows"],
    ["/service/wmts/rest/off/EPSG:900913/EPSG:900913:3/2/2", "format=image/png", "ows-rest"],
    ["/service/wmts", kvp, "ows"],
    ["/service/wms", "REQUEST=GetMap&LAYERS=off&VERSION=1.1.1", "wms-1.1.1"],
    ["/ogc/collections/off", "", "ows"],
    ["/tilejson/off", "", "ows"],
  ] as const)
    expect([path, parsed(path, query)]).toEqual([
      path,
      {
        errors: { dialect, picture: undefined },
        requested: { ok: false, error: expect.objectContaining({ message: "Layer 'off' is disabled" }) },
      },
    ]);
});

test("CITE demands SERVICE, STYLE of GetTile, FORMAT of GetFeatureInfo, and a version that is there", () => {
  const strict = catalogueOf([states], { ...STANDARD_SERVICE, isCiteCompliant: true });
  const asked = (query: string, of = strict) => {
    const route = routeOf("/service/wmts");
    if (!route.ok) throw new Error("no route");
    const { requested } = parseRequested(of, route.value, query);
    return requested.ok ? requested.value.kind : requested.error.exception;
  };
  const tile =
    "REQUEST=GetTile&LAYER=topp:states&FORMAT=image/png&TILEMATRIXSET=EPSG:900913&TILEMATRIX=EPSG:900913:3&TILEROW=2&TILECOL=2";
  // QGIS sends this if the address of its connection is /service/wmts?REQUEST=GetCapabilities.
  const ofQgis = "REQUEST=GetCapabilities&SERVICE=WMS&REQUEST=GetCapabilities";
  expect(asked(ofQgis, catalogue)).toBe("document");
  expect(asked(ofQgis)).toEqual({ code: "InvalidParameterValue", locator: "service" });
  expect(asked(`SERVICE=WMS&${tile}`, catalogue)).toEqual({ code: "InvalidParameterValue", locator: "service" });
  expect(asked(tile, catalogue)).toBe("tile");
  expect(asked(tile)).toEqual({ code: "MissingParameterValue", locator: "service" });
  expect(asked(`SERVICE=WMTS&${tile}`)).toEqual({ code: "MissingParameterValue", locator: "STYLE" });
  expect(asked(`SERVICE=WMTS&STYLE=&${tile}`)).toBe("tile");
  expect(asked("SERVICE=WMTS&REQUEST=GetFeatureInfo&LAYER=topp:states")).toEqual({
    code: "MissingParameterValue",
    locator: "FORMAT",
  });
  expect(asked("SERVICE=WMTS&REQUEST=GetCapabilities&ACCEPTVERSIONS=2.0.0")).toEqual({
    code: "VersionNegotiationFailed",
    locator: "acceptVersions",
  });
  expect(asked("SERVICE=WMTS&REQUEST=GetCapabilities&ACCEPTVERSIONS=2.0.0,1.0.0")).toBe("document");
});

import { isMap } from "../../../lib/is-map.ts";
import { itemsIn, scalarText } from "../../gwc/document-node.ts";
import { type Element, type Elements, type Form, type Keys, kept, keysOf } from "../../gwc/element.ts";
import { mapOf, text, texts } from "../../gwc/forms.ts";
import { ServiceContactSchema, ServiceInformationSchema, ServiceProviderSchema } from "../service-schema.ts";
import { FORMAT_MODIFIERS } from "./layer-parts-elements.ts";

const ofContact = keysOf(ServiceContactSchema);
const CONTACT: Elements<Keys<typeof ServiceContactSchema>> = Object.fromEntries(
  ServiceContactSchema.keyof().options.map((name) => [name, ofContact(name, text)]),
);

const ofProvider = keysOf(ServiceProviderSchema);
const PROVIDER = {
  providerName: ofProvider("providerName", text),
  providerSite: ofProvider("providerSite", text),
  serviceContact: ofProvider("serviceContact", mapOf(CONTACT)),
} satisfies Elements<Keys<typeof ServiceProviderSchema>>;

/** A fact of the provider in a file of an old version, which has no element `serviceProvider`. */
const ofOldFile = (name: "providerName" | "providerSite"): Element<unknown> => ({
  type: "text",
  rank: Number.MAX_SAFE_INTEGER,
  read(part, node) {
    const { serviceProvider } = part;
    const provider = isMap(serviceProvider) ? serviceProvider : {};
    const value = scalarText(node);
    if (value !== undefined && provider[name] === undefined) part["serviceProvider"] = { ...provider, [name]: value };
  },
});

const keywords: Form<readonly string[]> = {
  ...texts,
  read: (node) =>
    itemsIn(node)
      .map(String)
      .filter((keyword) => keyword !== ""),
};

const ofService = keysOf(ServiceInformationSchema);
/** The elements with which GeoWebCache describes its operator in capabilities. */
export const SERVICE_INFORMATION = {
  title: ofService("title", text),
  description: ofService("description", text),
  keywords: ofService("keywords", keywords, { unread: [] }),
  serviceProvider: ofService("serviceProvider", mapOf(PROVIDER), { unread: {} }),
  fees: ofService("fees", text),
  accessConstraints: ofService("accessConstraints", text),
  providerName: ofOldFile("providerName"),
  providerSite: ofOldFile("providerSite"),
} satisfies Elements<Keys<typeof ServiceInformationSchema>>;

/** The settings of the server. */
export const SETTINGS_ELEMENTS = {
  serviceInformation: kept(mapOf(SERVICE_INFORMATION).type),
  runtimeStatsEnabled: kept("flag", { differs: "statistics are always kept" }),
  lockProvider: kept("text"),
  fullWMS: kept("flag"),
  wmtsCiteCompliant: kept("flag"),
  backendTimeout: kept("integer"),
  cacheBypassAllowed: kept("flag"),
  version: kept("text"),
  identifier: kept("text"),
  location: kept("text"),
} satisfies Elements<unknown>;

/** The settings of a file. Settings that `/rest/global` lacks are the defaults of layers. */
export const FILE_SETTINGS_ELEMENTS = {
  ...SETTINGS_ELEMENTS,
  seederCorePoolSize: kept("integer"),
  seederMaxPoolSize: kept("integer"),
  httpUsername: kept("text"),
  httpPassword: kept("text"),
  proxyUrl: kept("text"),
  formatModifiers: kept(FORMAT_MODIFIERS.type),
} satisfies Elements<unknown>;

import type { ServiceInformation } from "../../../layer/service-information.ts";
import { type Content, withoutUndefined } from "../content.ts";
import { type DocumentNode, fieldOf, itemsOf, list, type MapNode, map, mapOf, textOf } from "../document-node.ts";

const TEXTS = ["fees", "accessConstraints"] as const;
const CONTACT = [
  "individualName",
  "positionName",
  "addressType",
  "addressStreet",
  "addressCity",
  "addressAdministrativeArea",
  "addressPostalCode",
  "addressCountry",
  "phoneNumber",
  "faxNumber",
  "addressEmail",
] as const;

/**
 * Returns the description of the server in settings, in the form of the configuration file. Undefined without a
 * description.
 */
export function serviceContent(settings: MapNode | undefined): Content | undefined {
  const service = settings && mapOf(settings, "serviceInformation");
  if (service === undefined) return undefined;
  const provider = mapOf(service, "serviceProvider");
  const contact = provider && mapOf(provider, "serviceContact");
  const keywords = itemsOf(service, "keywords")
    .map(String)
    .filter((keyword) => keyword !== "");
  // Files of old versions have the provider's name and site without an element around them.
  const ofProvider = (name: string): string | undefined =>
    (provider && textOf(provider, name)) ?? textOf(service, name);
  const serviceProvider = withoutUndefined({
    providerName: ofProvider("providerName"),
    providerSite: ofProvider("providerSite"),
    serviceContact:
      contact && withoutUndefined(Object.fromEntries(CONTACT.map((name) => [name, textOf(contact, name)]))),
  });
  return withoutUndefined({
    title: textOf(service, "title"),
    description: textOf(service, "description"),
    keywords: keywords.length === 0 ? undefined : keywords,
    serviceProvider: Object.keys(serviceProvider).length === 0 ? undefined : serviceProvider,
    ...Object.fromEntries(TEXTS.map((name) => [name, textOf(service, name)])),
  });
}

/** Returns the description of the server as GeoWebCache's element. Undefined without a description. */
export function serviceNode(information: ServiceInformation): DocumentNode | undefined {
  if (Object.keys(information).length === 0) return undefined;
  const { title, description, keywords, serviceProvider, fees, accessConstraints } = information;
  const contact = serviceProvider?.serviceContact;
  return map([
    ["title", title],
    ["description", description],
    ["keywords", keywords && list("string", keywords)],
    [
      "serviceProvider",
      serviceProvider &&
        map([
          ["providerName", serviceProvider.providerName],
          ["providerSite", serviceProvider.providerSite],
          ["serviceContact", contact && map(CONTACT.map((name) => [name, contact[name]]))],
        ]),
    ],
    ["fees", fees],
    ["accessConstraints", accessConstraints],
  ]);
}

/** Returns whether settings make WMTS strict (`wmtsCiteCompliant`). Undefined if the settings have no such element. */
export function isCiteCompliant(settings: MapNode | undefined): boolean | undefined {
  const given = settings && fieldOf(settings, "wmtsCiteCompliant");
  return typeof given === "boolean" ? given : undefined;
}

/** Returns the sections of the configuration file that settings replace, without the layers. */
export const serverContent = (settings: MapNode | undefined): Content =>
  withoutUndefined({
    serviceInformation: serviceContent(settings),
    compat: isCiteCompliant(settings) === true ? { wmtsCiteCompliant: true } : undefined,
  });

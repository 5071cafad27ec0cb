import type { ServiceContact, ServiceInformation } from "../../layer/service-information.ts";
import { escapeXml } from "../../lib/text/escape.ts";

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== "";

/** Returns an element with a text. Empty without a text. */
const element = (name: string, text: string | undefined): string =>
  isGiven(text) ? `<${name}>${escapeXml(text)}</${name}>` : "";

/** Returns an element with inner elements. Empty without inner elements. */
const around = (name: string, ...inner: readonly string[]): string => {
  const content = inner.join("");
  return content === "" ? "" : `<${name}>${content}</${name}>`;
};

/** Returns a list of keywords. Empty without keywords. */
export const keywordElements = (list: string, one: string, keywords: readonly string[] = []): string =>
  around(list, ...keywords.map((keyword) => element(one, keyword)));

/** Returns a section of a service's description, each element on a line. */
const section = (name: string, inner: readonly string[]): string =>
  `<${name}>\n${inner.map((line) => (line === "" ? "" : `  ${line}\n`)).join("")}</${name}>`;

/** Returns the identification of a service (OWS Common 1.1.0, 7.4.4), each element on a line. */
export const owsIdentification = (
  { title, description, keywords, fees, accessConstraints }: ServiceInformation,
  standard: { readonly title: string; readonly type: string },
): string =>
  section("ows:ServiceIdentification", [
    `<ows:Title>${escapeXml(title || standard.title)}</ows:Title>`,
    element("ows:Abstract", description),
    keywordElements("ows:Keywords", "ows:Keyword", keywords),
    `<ows:ServiceType>${escapeXml(standard.type)}</ows:ServiceType>`,
    "<ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion>",
    element("ows:Fees", fees),
    element("ows:AccessConstraints", accessConstraints),
  ]);

/** Returns the provider of a service (OWS Common 1.1.0, 7.4.5), each element on a line. */
export function owsProvider(
  { serviceProvider = {} }: ServiceInformation,
  standard: { readonly name: string; readonly site: string },
): string {
  const { providerName, providerSite, serviceContact = {} } = serviceProvider;
  return section("ows:ServiceProvider", [
    `<ows:ProviderName>${escapeXml(providerName || standard.name)}</ows:ProviderName>`,
    `<ows:ProviderSite xlink:href="${escapeXml(providerSite || standard.site)}"/>`,
    owsContact(serviceContact) || "<ows:ServiceContact/>",
  ]);
}

const owsContact = (contact: ServiceContact): string =>
  around(
    "ows:ServiceContact",
    element("ows:IndividualName", contact.individualName),
    element("ows:PositionName", contact.positionName),
    around(
      "ows:ContactInfo",
      around("ows:Phone", element("ows:Voice", contact.phoneNumber), element("ows:Facsimile", contact.faxNumber)),
      around(
        "ows:Address",
        element("ows:DeliveryPoint", contact.addressStreet),
        element("ows:City", contact.addressCity),
        element("ows:AdministrativeArea", contact.addressAdministrativeArea),
        element("ows:PostalCode", contact.addressPostalCode),
        element("ows:Country", contact.addressCountry),
        element("ows:ElectronicMailAddress", contact.addressEmail),
      ),
    ),
  );

/**
 * Returns the elements of a WMS's `Service` around its address, each on a line, in the order of WMS 1.1.1 (annex A.1)
 * and 1.3.0 (annex E.1).
 */
export function wmsService(
  { title, description, keywords, fees, accessConstraints, serviceProvider = {} }: ServiceInformation,
  standardTitle: string,
  online: string,
): string {
  const { providerName, serviceContact = {} } = serviceProvider;
  return [
    `<Title>${escapeXml(title || standardTitle)}</Title>`,
    element("Abstract", description),
    keywordElements("KeywordList", "Keyword", keywords),
    online,
    wmsContact(serviceContact, providerName),
    element("Fees", fees),
    element("AccessConstraints", accessConstraints),
  ]
    .filter((line) => line !== "")
    .join("\n    ");
}

function wmsContact(contact: ServiceContact, providerName: string | undefined): string {
  const { individualName, addressType, addressStreet, addressCity } = contact;
  // The schemas require all elements of an address, and both elements of a person.
  const hasPerson = isGiven(individualName) || isGiven(providerName);
  const address = [
    ["AddressType", addressType],
    ["Address", addressStreet],
    ["City", addressCity],
    ["StateOrProvince", contact.addressAdministrativeArea],
    ["PostCode", contact.addressPostalCode],
    ["Country", contact.addressCountry],
  ] as const;
  const always = (name: string, text: string | undefined): string => `<${name}>${escapeXml(text ?? "")}</${name}>`;
  return around(
    "ContactInformation",
    hasPerson
      ? `<ContactPersonPrimary>${always("ContactPerson", individualName)}${always("ContactOrganization", providerName)}</ContactPersonPrimary>`
      : "",
    element("ContactPosition", contact.positionName),
    address.some(([, text]) => isGiven(text))
      ? `<ContactAddress>${address.map(([name, text]) => always(name, text)).join("")}</ContactAddress>`
      : "",
    element("ContactVoiceTelephone", contact.phoneNumber),
    element("ContactFacsimileTelephone", contact.faxNumber),
    element("ContactElectronicMailAddress", contact.addressEmail),
  );
}

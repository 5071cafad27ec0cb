import { anyText, list, map, optional, text } from "./fields.ts";

const optionalText = optional(anyText);

export const ServiceContactSchema = map({
  individualName: optionalText.describe("The contact person."),
  positionName: optionalText.describe("The person's position."),
  addressType: optionalText.describe("The type of the address, such as postal."),
  addressStreet: optionalText.describe("Street and number."),
  addressCity: optionalText.describe("The city."),
  addressAdministrativeArea: optionalText.describe("The state or province."),
  addressPostalCode: optionalText.describe("The postal code."),
  addressCountry: optionalText.describe("The country."),
  phoneNumber: optionalText.describe("The telephone number."),
  faxNumber: optionalText.describe("The fax number."),
  addressEmail: optionalText.describe("The email address."),
});

export const ServiceProviderSchema = map({
  providerName: optionalText.describe("The name of the provider."),
  providerSite: optionalText.describe("The address of the provider's site."),
  serviceContact: optional(ServiceContactSchema).describe("How to reach the provider."),
});

/** The elements of GeoWebCache's `serviceInformation`, with GeoWebCache's names. */
export const ServiceInformationSchema = map({
  title: optionalText.describe("The title of the service in capabilities."),
  description: optionalText.describe("The description of the service."),
  keywords: optional(list(text)).describe("The keywords of the service."),
  serviceProvider: optional(ServiceProviderSchema).describe("The provider of the service."),
  fees: optionalText.describe("The fees for the use of the service."),
  accessConstraints: optionalText.describe("The constraints on access to the service."),
});

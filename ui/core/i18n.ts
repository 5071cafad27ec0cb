import { computed, signal } from "@preact/signals";
import type { settings } from "../texts/en/settings.ts";
import type { en } from "../texts/en.ts";

/** A text with a singular and a plural form (CLDR plural categories; all except `one` use `other`). */
export interface Plural {
  readonly one: string;
  readonly other: string;
}
type Text = string | Plural;
export type Texts<T> = { readonly [K in keyof T]: T[K] extends string ? string : Plural };
export type Catalogue = Texts<typeof en>;
type SettingsTexts = Texts<typeof settings>;
export type TextKey = keyof Catalogue | keyof SettingsTexts;

interface Language {
  /** The name of the language in the language itself. */
  readonly name: string;
  readonly load: () => Promise<Catalogue>;
  /** Loads the texts of the settings. */
  readonly loadSettings: () => Promise<SettingsTexts>;
}

/** The languages. Each catalogue is loaded when it is first needed. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  en: {
    name: "English",
    load: async () => (await import("../texts/en.ts")).en,
    loadSettings: async () => (await import("../texts/en/settings.ts")).settings,
  },
  de: {
    name: "Deutsch",
    load: async () => (await import("../texts/de.ts")).de,
    loadSettings: async () => (await import("../texts/de/settings.ts")).settings,
  },
  fr: {
    name: "Français",
    load: async () => (await import("../texts/fr.ts")).fr,
    loadSettings: async () => (await import("../texts/fr/settings.ts")).settings,
  },
  es: {
    name: "Español",
    load: async () => (await import("../texts/es.ts")).es,
    loadSettings: async () => (await import("../texts/es/settings.ts")).settings,
  },
};

const STORED = "nuthatch.language";
export const language = signal("en");
/** The language with the user's region, which determines the form of numbers and times. */
export const locale = computed(
  () => window.navigator.languages.find((tag) => tag.split("-")[0] === language.value) ?? language.value,
);
const catalogue = signal<Readonly<Partial<Record<string, Text>>>>({});
/** Whether a view has already needed the texts of the settings. */
let hasSettings = false;
/** The language that was chosen last. The catalogue of another language that arrives later is ignored. */
let latest = "en";

function preferred(): string {
  const wanted = [window.localStorage.getItem(STORED) ?? "", ...window.navigator.languages];
  return wanted.map((tag) => tag.split("-")[0] ?? "").find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? "en";
}

/** Loads the catalogue of a language, by default of the user's preferred one. */
export async function loadLanguage(tag = preferred()): Promise<void> {
  const chosen = LANGUAGES[tag];
  if (chosen === undefined) return;
  latest = tag;
  const common = await chosen.load();
  const texts = hasSettings ? { ...common, ...(await chosen.loadSettings()) } : common;
  if (latest !== tag) return;
  catalogue.value = texts;
  language.value = tag;
  document.documentElement.lang = tag;
}

/** Loads the texts of the settings in the current language. */
export async function loadSettingsTexts(): Promise<void> {
  hasSettings = true;
  await loadLanguage(latest);
}

export async function chooseLanguage(tag: string): Promise<void> {
  window.localStorage.setItem(STORED, tag);
  await loadLanguage(tag);
}

/**
 * Returns a text in the user's language. Replaces `{name}` by the value of that name. `count` selects the plural form.
 */
export function t(key: TextKey, values: Readonly<Record<string, string | number | bigint>> = {}): string {
  const text = catalogue.value[key];
  const chosen = typeof text === "object" ? text[pluralForm(Number(values["count"] ?? 0))] : text;
  return (chosen ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "string" ? value : new Intl.NumberFormat(locale.value).format(value);
  });
}

const pluralForm = (count: number): keyof Plural =>
  new Intl.PluralRules(language.value).select(count) === "one" ? "one" : "other";

/** Returns the text for a computed key, such as `outcome.done`. Without a text, returns the last part of the key. */
export function tMaybe(key: string): string {
  return Object.hasOwn(catalogue.value, key) ? t(key as TextKey) : key.slice(key.lastIndexOf(".") + 1);
}

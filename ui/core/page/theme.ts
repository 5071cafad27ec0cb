import { signal } from "@preact/signals";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED = "nuthatch.theme";
const stored = window.localStorage.getItem(STORED);
export const theme = signal<Theme>(THEMES.find((one) => one === stored) ?? "system");

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.value;
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  window.localStorage.setItem(STORED, chosen);
  applyTheme();
}

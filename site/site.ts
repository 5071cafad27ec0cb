// The script of every page of the documentation: search, the menu of narrow screens, buttons that copy code. The pages
// can be read without it.
import MiniSearch from "minisearch";

/** One section of a page, as the build writes it (`site/search-index.mjs`). */
interface Section {
  readonly id: number;
  /** The address relative to the root of the site, with the anchor of the section. */
  readonly address: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

const script = document.querySelector<HTMLScriptElement>("script[data-index]");
const rootAddress = new URL(script?.dataset["root"] ?? "", document.baseURI);

let loading: Promise<MiniSearch<Section>> | undefined;

/** Returns the index; the first call loads the sections. */
function loadIndex(): Promise<MiniSearch<Section>> {
  loading ??= fetchIndex().catch((error: unknown) => {
    // The next key tries again.
    loading = undefined;
    throw error;
  });
  return loading;
}

async function fetchIndex(): Promise<MiniSearch<Section>> {
  const answer = await fetch(script?.dataset["index"] ?? "");
  if (!answer.ok) throw new Error(`the search index: status ${answer.status}`);
  const sections: readonly Section[] = await answer.json();
  const index = new MiniSearch<Section>({
    fields: ["heading", "page", "text"],
    storeFields: ["address", "page", "heading", "text"],
    searchOptions: {
      boost: { heading: 6, page: 3 },
      // A short word would be the beginning of too many.
      prefix: (term) => term.length > 2,
      processTerm: (term) => (FREQUENT.has(term.toLowerCase()) ? null : term.toLowerCase()),
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      // The changelog has every word of every subject.
      boostDocument: (_, __, stored) => (String(stored?.["address"]).startsWith("project/") ? 0.3 : 1),
    },
  });
  index.addAll(sections);
  return index;
}

/** Words of questions that are in every section. */
const FREQUENT = new Set("a an and are do does for how i in is it my of on or the to what when where with".split(" "));

const RESULTS = 12;
/** Characters of the excerpt before and after the first word that was found. */
const BEFORE = 60;
const AFTER = 120;

function resultLink(found: { readonly [key: string]: unknown }, terms: readonly string[]): HTMLAnchorElement {
  const link = document.createElement("a");
  link.href = new URL(String(found["address"]), rootAddress).href;
  const title = document.createElement("b");
  const page = String(found["page"]);
  const heading = String(found["heading"]);
  title.textContent = page === heading ? page : `${page} › ${heading}`;
  const excerpt = document.createElement("span");
  excerpt.append(...marked(String(found["text"]), terms));
  link.append(title, excerpt);
  return link;
}

/** Returns the part of `text` around the first of the words, which are marked. */
function marked(text: string, terms: readonly string[]): (Node | string)[] {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - BEFORE);
  const from = places.length === 0 ? 0 : start;
  // Words are whole at both ends.
  const part = text
    .slice(from, from + BEFORE + AFTER)
    .replace(from > 0 ? /^\S*\s/ : "", "")
    .replace(/\s\S*$/, "");
  const nodes: (Node | string)[] = [from > 0 ? "… " : ""];
  let rest = part;
  while (rest !== "") {
    const low = rest.toLowerCase();
    const hits = terms.map((term) => ({ term, at: low.indexOf(term) })).filter(({ at }) => at >= 0);
    const first = hits.sort((a, b) => a.at - b.at || b.term.length - a.term.length)[0];
    if (first === undefined) break;
    const mark = document.createElement("mark");
    mark.textContent = rest.slice(first.at, first.at + first.term.length);
    nodes.push(rest.slice(0, first.at), mark);
    rest = rest.slice(first.at + first.term.length);
  }
  nodes.push(rest, text.endsWith(part) ? "" : " …");
  return nodes;
}

function startSearch(box: HTMLElement): void {
  const input = box.querySelector("input");
  const results = box.querySelector<HTMLElement>(".results");
  if (input === null || results === null) return;
  box.hidden = false;
  const close = (): void => {
    results.hidden = true;
  };
  const show = async (): Promise<void> => {
    const words = input.value.trim();
    if (words === "") return close();
    const note = document.createElement("p");
    try {
      const index = await loadIndex();
      // A later key has changed the words: its own search shows the results.
      if (input.value.trim() !== words) return;
      const all = index.search(words, { combineWith: "AND" });
      const found = (all.length > 0 ? all : index.search(words)).slice(0, RESULTS);
      note.textContent = `Nothing found for “${words}”.`;
      results.replaceChildren(...(found.length === 0 ? [note] : found.map((one) => resultLink(one, one.terms))));
    } catch (error) {
      note.textContent = `The search does not work: ${error instanceof Error ? error.message : String(error)}`;
      results.replaceChildren(note);
    }
    results.hidden = false;
  };
  input.addEventListener("input", () => void show());
  input.addEventListener("focus", () => void show());
  box.addEventListener("keydown", (event) => moveFocus(event, box, close));
  document.addEventListener("click", ({ target }) => {
    if (!(target instanceof Node && box.contains(target))) close();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLElement && /input|textarea/i.test(event.target.tagName);
    if ((event.key === "/" && !isTyping) || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
}

/** Arrow keys walk through the results, Enter in the field opens the first one, Escape closes them. */
function moveFocus(event: KeyboardEvent, box: HTMLElement, close: () => void): void {
  const stops = [...box.querySelectorAll<HTMLElement>("input, .results:not([hidden]) a")];
  const at = stops.findIndex((stop) => stop.matches(":focus"));
  if (event.key === "Escape") {
    close();
    stops[0]?.focus();
    close();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    stops[at + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
  } else if (event.key === "Enter" && at === 0) stops[1]?.click();
}

function startMenu(button: HTMLElement): void {
  button.hidden = false;
  button.addEventListener("click", () => {
    const isOpen = document.body.classList.toggle("menu-open");
    button.setAttribute("aria-expanded", String(isOpen));
  });
}

function addCopyButton(block: HTMLPreElement): void {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  const text = block.textContent ?? "";
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(text).then(
      () => {
        button.textContent = "Copied";
      },
      () => {
        button.textContent = "Not allowed";
      },
    );
  });
  const frame = document.createElement("div");
  frame.className = "block";
  block.replaceWith(frame);
  frame.append(block, button);
}

document.body.classList.add("with-script");
const box = document.getElementById("search");
if (box !== null) startSearch(box);
const menu = document.getElementById("menu");
if (menu !== null) startMenu(menu);
// Pages over http (not on localhost) have no clipboard.
if (navigator.clipboard !== undefined) for (const block of document.querySelectorAll("pre")) addCopyButton(block);
document.querySelector('#navigation [aria-current="page"]')?.scrollIntoView({ block: "nearest" });

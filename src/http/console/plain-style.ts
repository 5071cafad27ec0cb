/** The style of the page without JavaScript. It needs no external host. */
export const STYLE = `
:root { --ink: #1f2a33; --soft: #53626d; --line: #d9e0e5; --edge: #7a8791; --accent: #23607f; --paper: #fbfcfc; --field: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4eaee; --soft: #a3b1bb; --line: #2d3a43; --edge: #7d8c97; --accent: #7cc0e2; --paper: #12181c; --field: #1a2228; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header { padding: 14px 24px; border-bottom: 1px solid var(--line); display: flex; gap: 16px; align-items: baseline; flex-wrap: wrap; }
header h1 { font-size: 20px; margin: 0; }
header p { margin: 0; color: var(--soft); }
main { display: grid; grid-template-columns: minmax(0, 3fr) minmax(300px, 2fr); gap: 24px; padding: 24px; max-width: 1500px; margin: auto; }
@media (max-width: 900px) { main { grid-template-columns: minmax(0, 1fr); } }
section { margin-bottom: 28px; min-width: 0; }
h2 { font-size: 16px; margin: 0 0 8px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; }
th, td { text-align: left; padding: 5px 8px; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; font-size: 13px; }
td.number, th.number { text-align: right; }
a { color: var(--accent); }
form.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 8px 12px; }
label { display: block; font-size: 13px; color: var(--soft); }
input, select, button { font: inherit; width: 100%; padding: 5px 8px; border: 1px solid var(--edge); border-radius: 4px; background: var(--field); color: var(--ink); }
button { width: auto; cursor: pointer; background: var(--accent); color: var(--paper); border-color: var(--accent); }
button.quiet { background: var(--field); color: var(--accent); }
form.inline { display: inline; }
.none { color: var(--soft); }
`;

/** An icon: four tiles, one of them a seed. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#2c6e8f"/><g fill="#d9e8ef"><rect x="5" y="5" width="10" height="10" rx="1.5"/><rect x="17" y="5" width="10" height="10" rx="1.5"/><rect x="5" y="17" width="10" height="10" rx="1.5"/></g><path d="M22 16.5c4 1.6 5.6 4.4 5 6.8-.6 2.4-2.6 4-5 4s-4.4-1.6-5-4c-.6-2.4 1-5.2 5-6.8z" fill="#e0a458"/></svg>
`;

/** The style of the page, which needs no other file. */
export const STYLE = `
:root { color-scheme: light dark; --paper: light-dark(#f5f6f8, #0d1217); --card: light-dark(#ffffff, #141b22);
  --ink: light-dark(#121a21, #e5ecf2); --muted: light-dark(#55636f, #9caab7);
  --line: light-dark(#e0e5ea, #25303a); --brand: light-dark(#0f766e, #2dd4bf);
  --red: light-dark(#b3380b, #ff9469);
  --sans: Inter, system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
  font: 0.9375rem/1.5 var(--sans); }
h1 { margin: 0 0 1rem; font-size: 1.5rem; letter-spacing: -0.02em; }
h2 { margin: 0 0 0.5rem; font-size: 1.125rem; }
section { margin: 0 0 1rem; padding: 1rem 1.25rem 1.25rem; border: 1px solid var(--line);
  border-radius: 0.75rem; background: var(--card); }
p { margin: 0 0 0.5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.125rem 1.25rem; margin: 0; }
dt, th, .quiet { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding: 0.5rem 0 0.25rem; font-weight: 600; text-align: left; }
th, td { padding: 0.25rem 1rem 0.25rem 0; border-bottom: 1px solid var(--line); text-align: left; }
th { font-weight: 500; }
.number { text-align: right; white-space: nowrap; }
bdi { font: 0.8125rem var(--mono); overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: 15.5rem; margin: 0.5rem 0; padding: 0 0 0 3.25rem;
  overflow: visible; }
svg text { fill: var(--muted); font-size: 12px; }
.grid { stroke: var(--line); }
.allowed { fill: var(--brand); }
.denied { fill: var(--red); }
.key { display: inline-block; width: 0.75rem; height: 0.75rem; margin: 0 0.375rem 0 0; border-radius: 2px; }
.key.of-allowed { background: var(--brand); }
.key.of-denied { background: var(--red); }
.key + span { margin-right: 1.25rem; }
@media (max-width: 47.99rem) {
  body { padding: 1rem 0.75rem; }
  section { padding: 0.75rem 0.875rem 1rem; }
  th, td { padding-right: 0.5rem; }
  .time.extra { display: none; }
}
@media (forced-colors: active) { svg text { fill: CanvasText; } }
@media print { section { break-inside: avoid; } }
`

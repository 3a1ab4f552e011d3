/** The colors of a plot. */
export interface Look {
  readonly background: string
  readonly text: string
  readonly muted: string
  readonly rule: string
  /** Of headgate's figures, one for each series. */
  readonly ours: readonly [string, ...string[]]
  readonly peers: readonly [string, ...string[]]
}

const LIGHT: Look = {
  background: '#ffffff',
  text: '#121a21',
  muted: '#55636f',
  rule: '#e0e5ea',
  ours: ['#0f766e', '#1d4ed8', '#7c3aed', '#0891b2'],
  peers: ['#c96f2e', '#7b8894', '#a98307', '#be185d'],
}

/** Its background is that of the documentation's dark pages. On GitHub's dark pages it hardly shows. */
const DARK: Look = {
  background: '#0d1217',
  text: '#e5ecf2',
  muted: '#9caab7',
  rule: '#25303a',
  ours: ['#2dd4bf', '#60a5fa', '#a78bfa', '#22d3ee'],
  peers: ['#d98a52', '#8695a3', '#d9b84a', '#f472b6'],
}

/** A plot for light pages, and one for dark pages. */
export const LOOKS = { light: LIGHT, dark: DARK } as const satisfies Readonly<Record<string, Look>>

/** A plot for both: light, with a style that makes it dark on dark pages. */
export interface AdaptiveLook extends Look {
  readonly style: string
}

export const ADAPTIVE: AdaptiveLook = { ...LIGHT, style: darkStyle() }

/** An image takes the color scheme of the page that shows it, not of the system (CSSWG issue 7213). */
function darkStyle(): string {
  const colorsOf = ({ ours, peers, ...others }: Look) => [...Object.values<string>(others), ...ours, ...peers]
  const dark = colorsOf(DARK)
  const rules = colorsOf(LIGHT).flatMap((color, i) =>
    ['fill', 'stroke'].map((property) => `[${property}="${color}"]{${property}:${dark[i]}}`),
  )
  return `<style>@media (prefers-color-scheme:dark){${rules.join('')}}</style>`
}

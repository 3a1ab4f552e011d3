import { guessAt, PER_ADDRESS, SITE_ATTACKS } from './attacks.js'
import type { SiteOf } from './login.js'

/** From how many addresses guesses come for the table. */
const ADDRESSES = 20

/** How many guesses reached the password: of each attack, from many addresses and from one browser. */
export type SiteRow = readonly (readonly [addresses: number, browser: number])[]

/** Plays all attacks on a site, with guesses from some addresses. */
export async function playOn({ start }: SiteOf, addresses = ADDRESSES): Promise<SiteRow> {
  const site = await start()
  try {
    const row: [number, number][] = []
    for (const attack of SITE_ATTACKS)
      row.push([await guessAt(site, attack, addresses, false), await guessAt(site, attack, addresses, true)])
    return row
  } finally {
    await site.close()
  }
}

export const SITES_TITLE =
  `What a guesser sends between ${ADDRESSES * PER_ADDRESS} guesses, and how many of these reached the password: ` +
  `from ${ADDRESSES} addresses / from one browser`

/** The table as it is printed. */
export function siteTable(rows: readonly (readonly [name: string, row: SiteRow])[]): string {
  const head = ['adapter', ...SITE_ATTACKS.map(({ name }) => name)]
  return printedTable(SITES_TITLE, [head, ...rows.map(([name, row]) => [name, ...cellsOf(row)])])
}

export function cellsOf(row: SiteRow): string[] {
  return row.map(([addresses, browser]) => `${addresses} / ${browser}`)
}

/** A table below its title, with a rule below the head, indented by two. */
export function printedTable(title: string, lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0))) ?? []
  const rule = widths.map((width) => '-'.repeat(width))
  const [head = [], ...body] = lines
  const padded = [head, rule, ...body].map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))),
  )
  return [title, '', ...padded.map((line) => line.join('  ').trimEnd())]
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')
}

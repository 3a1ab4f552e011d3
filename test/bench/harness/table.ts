/** Prints a table: the first column to the left, figures to the right. */
export function printTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const lines = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const show = (line: readonly string[]) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')
  console.log(`\n${title}\n`)
  console.log(`  ${show(head)}`)
  console.log(`  ${widths.map((width) => '-'.repeat(width)).join('  ')}`)
  for (const row of rows) console.log(`  ${show(row)}`)
}

/** How many times less our figure is than a peer's. Figures that are lost in the noise give no ratio. */
export function ratio(ours: number, peers: number): string {
  return ours > 0 ? `${(peers / ours).toFixed(2)}x` : 'noise'
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

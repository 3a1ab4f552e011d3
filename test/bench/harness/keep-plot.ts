import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

let folder: string | undefined

/** From now on plots are kept, in this folder. */
export function keepPlotsIn(path: string): void {
  folder = path
}

/** Draws a plot and writes it to `NAME.svg`, where plots are kept. Where they are not, nothing is drawn. */
export async function keepPlot(name: string, draw: () => Promise<string>): Promise<void> {
  if (folder === undefined) return
  const path = join(folder, `${name}.svg`)
  const svg = await draw()
  await mkdir(folder, { recursive: true })
  await writeFile(path, svg)
  console.log(`\n  ${relative('', path)}`)
}

import { readFileSync, writeFileSync } from 'node:fs'
import { asResults, PAGE, print, RESULTS, withTable } from './printed.js'
import { HEADS, installAll, probeAll } from './table.js'

/**
 * Prints how headgate compares with other packages. With `--write`, also into the results and the page; with
 * `--probes`, only the rows that need no build.
 */
const installs = process.argv.includes('--probes') ? {} : await installAll()
const table = print({ heads: HEADS, rows: { ...installs, ...(await probeAll()) } })
process.stdout.write(table)
if (process.argv.includes('--write')) {
  writeFileSync(RESULTS, asResults(table))
  writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), table))
}
process.exit() // packages leave timers and connections

import { SITES } from './adapters/sites.js'
import { playOn, type SiteRow, siteTable } from './adapters/table.js'
import { ATTACKS } from './attacks.js'
import { playHidden } from './hidden-login.js'
import { playMethods } from './methods.js'
import { type NeighborRow, neighborTable, playBeside } from './neighbors/table.js'
import { VARIANTS } from './neighbors/variants.js'
import { playResends } from './resends.js'
import { playResets } from './resets.js'
import { playBoth, type Row, tableOf } from './table.js'

/**
 * Plays all attacks and prints what came of them. No figure is of the machine's time: it is the same every
 * time.
 */
const rows: Row[] = []
for (const attack of ATTACKS) rows.push(await playBoth(attack))
console.log(tableOf(rows))

const siteRows: [string, SiteRow][] = []
for (const site of SITES) siteRows.push([site.name, await playOn(site)])
console.log(`\n${siteTable(siteRows)}`)

const neighborRows: [string, NeighborRow][] = []
for (const variant of VARIANTS) neighborRows.push([variant.name, await playBeside(variant)])
console.log(`\n${neighborTable(neighborRows)}`)
console.log(`\n${await playResets()}`)
console.log(`\n${await playResends()}`)
console.log(`\n${await playHidden()}`)
console.log(`\n${await playMethods()}`)
process.exit() // the sites' servers may close later

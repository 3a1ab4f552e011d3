import { runTraces } from './run.js'
import { tableOf } from './table.js'

/** Prints what `headgate tune` proposes for three traces with known attackers. A seed draws other traces. */
const [seed = '1'] = process.argv.slice(2)
process.stdout.write(tableOf(await runTraces(Number(seed), true)))

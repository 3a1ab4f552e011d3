import { parseArgs } from 'node:util'
import { runDifferential } from './differential/main.js'
import { runLosses } from './histories/losses.js'
import { runHistories } from './histories/main.js'

const HELP = `Checks the stores by an independent model of the policies and operations.

  npm run model -- traces [--store NAME]... [--seed N] [--traces N] [--seconds N]

      Plays random traces on each store and on the model, and prints the first figures that differ, each with
      a shrunk trace. By default all stores, from seed 1, for 10 seconds each.

  npm run model -- histories [--store NAME]... [--seed N] [--seconds N]

      Has three processes call limiters on a few hot keys of each store at once, a third of the time under
      older numbers. Prints how many histories there are of a key, and those that no order of its calls
      explains. The charges of a store such as 'Redis, several keys' take several keys, all or none. Of leased
      limits, checks that all processes together never admit more than the limit.

  npm run model -- losses [--store NAME]... [--seed N] [--seconds N]

      The same, while connections are lost. A call without a result may have taken effect once, or never. Also
      counts charges that were counted twice.
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    store: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', default: '1' },
    traces: { type: 'string', default: '1000000000' },
    seconds: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<boolean> {
  const [what] = positionals
  const command = {
    stores: values.store,
    seed: Number(values.seed),
    traces: Number(values.traces),
    seconds: Number(values.seconds),
  }
  if (what === 'traces' && !values.help) return runDifferential(command)
  if (what === 'histories' && !values.help) return runHistories(command)
  if (what === 'losses' && !values.help) return runLosses(command)
  console.log(HELP)
  return values.help
}

main().then(
  (isFine) => process.exit(isFine ? 0 : 1), // whatever a driver may still hold
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  },
)

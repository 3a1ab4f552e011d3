import { parseArgs } from 'node:util'
import { runDifferential } from './differential/main.js'

const HELP = `Checks the stores by an independent model of the policies and operations.

  npm run model -- traces [--store NAME]... [--seed N] [--traces N] [--seconds N]

      Plays random traces on each store and on the model, and prints the first figures that differ, each with
      a shrunk trace. By default all stores, from seed 1, for 10 seconds each.
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

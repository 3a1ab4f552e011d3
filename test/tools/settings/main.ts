import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runSettings } from './run.js'

const HELP = `Changes the limits of four processes on Redis under load, with Redis frozen in between.

  npm run settings -- [--changes N] [--freeze-every N] [--seed N]

      By default 100 changes, with Redis frozen around every fourth of them for up to three seconds. Prints how
      long processes took to follow, whether more was admitted than the larger of two limits, and whether a
      concurrent change was lost. Takes about five minutes.
`

const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '100' },
    'freeze-every': { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (values.help) {
    console.log(HELP)
    return
  }
  const outcome = await runSettings({
    program: fileURLToPath(new URL('./follower-child.ts', import.meta.url)),
    changes: Number(values.changes),
    freezeEvery: Number(values['freeze-every']),
    seed: Number(values.seed),
    onProgress: (line) => console.error(line),
  })
  console.log(outcome)
  const { late, exceeded, lost, failures } = outcome
  if ([late, exceeded, lost, failures].some(({ length }) => length > 0)) process.exitCode = 1
}

main()

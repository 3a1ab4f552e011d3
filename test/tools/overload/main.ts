import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { rotated } from '../../bench/harness/rounds.js'
import { fetchLocked } from '../../e2e/package/fetched.js'
import { LEGEND, printScenario, printSeconds } from './report.js'
import { type LiveRun, play } from './run.js'
import { SERVER_KINDS } from './scenario.js'
import { SCENARIOS } from './scenarios.js'

const NAMES = ['none', 'fixed', 'loop delay', 'under-pressure', 'Gradient2', 'Envoy', 'headgate']

const HELP = `Overloads servers with different guards, and counts what their clients get.

  npm run overload -- [--only TEXT] [--guards none,fixed,headgate] [--seconds 15] [--rounds 1] [--seed 1]
      [--by-second]

      Each server runs in a process of its own, and another sends to it. The guards take turns in each scenario.
      --by-second also prints how many requests of each second were answered in time.
      Guards: ${NAMES.join(', ')}.
`

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    guards: { type: 'string', default: NAMES.join() },
    seconds: { type: 'string', default: '15' },
    rounds: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    'by-second': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (values.help) {
    console.log(HELP)
    return
  }
  const guards = values.guards.split(',')
  const unknown = guards.find((name) => !NAMES.includes(name))
  if (unknown !== undefined) throw new Error(`There is no guard ${unknown}. There are: ${NAMES.join(', ')}.`)
  const [seconds, rounds, seed] = [values.seconds, values.rounds, values.seed].map(Number) as [
    number,
    number,
    number,
  ]
  const programs = {
    server: new URL('./server-child.ts', import.meta.url),
    load: new URL('./load-child.ts', import.meta.url),
    packages: await fetchLocked('overload', fileURLToPath(new URL('./packages', import.meta.url))),
  }
  console.log(`Node ${process.version} on ${cpus()[0]?.model ?? 'an unknown CPU'}, ${cpus().length} cores`)
  for (const { title, ...kind } of Object.values(SERVER_KINDS)) {
    const { capacity, patienceMs, fixedLimit } = kind
    const perSecond = Math.round(capacity * 1000)
    console.log(`  ${title}: ${perSecond} a second, clients wait ${patienceMs} ms, fixed limit ${fixedLimit}`)
  }
  console.log(LEGEND)
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(values.only))) {
    const runs = new Map<string, LiveRun[]>(guards.map((name) => [name, []]))
    for (let round = 0; round < rounds; round++) {
      for (const name of rotated(guards, round)) {
        const run = await play(scenario, name, programs, seconds, seed + round)
        runs.get(name)?.push(run)
        if (values['by-second']) printSeconds(name, run)
      }
    }
    printScenario(scenario, runs, seconds)
  }
}

main().catch((error: unknown) => {
  console.error(`overload: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
})

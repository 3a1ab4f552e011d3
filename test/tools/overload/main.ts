import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { rotated } from '../../bench/harness/rounds.js'
import { fetchLocked } from '../../e2e/package/fetched.js'
import { bundleSources } from '../../support/servers/bundle.js'
import { writeDocs } from './docs-tables.js'
import type { Runs } from './goals.js'
import { recordInto } from './record.js'
import { LEGEND, printGoals, printScenario, printSeconds } from './report.js'
import { type LiveRun, type Programs, play } from './run.js'
import {
  GUARDS,
  type LiveScenario,
  MAIN_GUARDS,
  OURS,
  type Phase,
  REFERENCE,
  SERVER_KINDS,
  secondsOf,
} from './scenario.js'
import { SCENARIOS } from './scenarios.js'

const HELP = `Overloads servers with different guards, and counts what their clients get.

  npm run overload -- [--only TEXT] [--guards none,fixed,headgate] [--seconds 3] [--rounds 2]
      [--other-rounds 1] [--seed 1] [--by-second] [--out FILE]

      Each server runs in a process of its own, and another sends to it. The guards take turns in each
      scenario. --rounds are those of ${REFERENCE} and ${OURS}, and --other-rounds those of the others.
      --only takes the name of a scenario, or a part that some have.
      --by-second also prints how many requests of each second were answered in time.
      --out also writes a file, such as test/tools/results/overload-live.txt.
      Guards: ${GUARDS.join(', ')}.

  npm run overload -- --docs

      Writes the tables of docs/overload.md from test/tools/results/overload-live.txt.
`

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    guards: { type: 'string', default: GUARDS.join() },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '2' },
    'other-rounds': { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    'by-second': { type: 'boolean', default: false },
    out: { type: 'string' },
    docs: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const PACKAGES = fileURLToPath(new URL('./packages', import.meta.url))
/** What a run takes beside what it sends: two processes start, and the last requests end. */
const START_SECONDS = 1

async function main(): Promise<void> {
  if (values.help) return console.log(HELP)
  if (values.docs) return writeDocs()
  const wanted = values.guards.split(',')
  const unknown = wanted.find((name) => !GUARDS.includes(name))
  if (unknown !== undefined) throw new Error(`There is no guard ${unknown}. There are: ${GUARDS.join(', ')}.`)
  const seconds = numberOf('seconds')
  const scenarios = scenariosLike(values.only)
  const programs = await prepare()
  if (values.out !== undefined) recordInto(values.out, process.argv.slice(2))
  printServers()
  const plan = scenarios.map((scenario) => ({ scenario, turns: turnsOf(scenario, wanted) }))
  const all = plan.map(
    ({ scenario, turns }) => turns.length * (sum(secondsOf(scenario, seconds)) + START_SECONDS),
  )
  console.error(`About ${Math.ceil(all.reduce((a, b) => a + b, 0) / 60)} minutes.`)
  const played = new Map<LiveScenario, Runs>()
  for (const { scenario, turns } of plan) {
    const runs = await playAll(scenario, turns, programs, seconds)
    printScenario(scenario, runs, seconds)
    played.set(scenario, runs)
  }
  printGoals(played)
}

/** Bundles the programs of the children, which then start at once, and installs the packages. */
async function prepare(): Promise<Programs> {
  const bundled = async (name: string) => {
    const { path, folder } = await bundleSources(fileURLToPath(new URL(name, import.meta.url)))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    return pathToFileURL(path)
  }
  const packages = await fetchLocked('overload', PACKAGES)
  return { server: await bundled('./server-child.ts'), load: await bundled('./load-child.ts'), packages }
}

function printServers(): void {
  const { dependencies } = JSON.parse(readFileSync(`${PACKAGES}/package.json`, 'utf8'))
  console.log(
    `\nPackages: ${Object.entries(dependencies)
      .map((each) => each.join(' '))
      .join(', ')}`,
  )
  for (const [work, { title, capacity, patienceMs, fixedLimit }] of Object.entries(SERVER_KINDS)) {
    const limit = fixedLimit === undefined ? 'no limit is right' : `fixed limit ${fixedLimit}`
    const perSecond = Math.round(capacity * 1000)
    console.log(`${work}: ${title}: ${perSecond} a second, clients wait ${patienceMs} ms, ${limit}`)
  }
  console.log(LEGEND)
}

/** Returns the scenario with this name, or all whose names contain the text. */
function scenariosLike(text: string): readonly LiveScenario[] {
  const named = SCENARIOS.filter(({ name }) => name === text)
  const found = named.length > 0 ? named : SCENARIOS.filter(({ name }) => name.includes(text))
  if (found.length === 0) throw new Error(`No scenario has "${text}" in its name.`)
  return found
}

interface Turn {
  readonly guard: string
  readonly round: number
}

/** Returns which guard plays when. No guard always goes first. */
function turnsOf({ guards = MAIN_GUARDS }: LiveScenario, wanted: readonly string[]): Turn[] {
  const [rounds, otherRounds] = [numberOf('rounds'), numberOf('other-rounds')]
  const playing = wanted.filter((name) => guards.includes(name))
  const roundsOf = (guard: string) => (guard === REFERENCE || guard === OURS ? rounds : otherRounds)
  return Array.from({ length: Math.max(rounds, otherRounds) }, (_, round) =>
    rotated(
      playing.filter((guard) => round < roundsOf(guard)),
      round,
    ).map((guard) => ({ guard, round })),
  ).flat()
}

async function playAll(
  scenario: LiveScenario,
  turns: readonly Turn[],
  programs: Programs,
  seconds: number,
): Promise<Runs> {
  const runs = new Map<string, LiveRun[]>(turns.map(({ guard }) => [guard, []]))
  for (const { guard, round } of turns) {
    try {
      const run = await play(scenario, guard, programs, seconds, numberOf('seed') + round)
      runs.get(guard)?.push(run)
      if (values['by-second']) printSeconds(guard, run)
    } catch (error) {
      runs.delete(guard) // its rounds would no longer be those of the others
      console.log(`\n  ${scenario.name}, ${guard}: ${error instanceof Error ? error.message : error}`)
      process.exitCode = 1
    }
  }
  return runs
}

function numberOf(name: 'seconds' | 'rounds' | 'other-rounds' | 'seed'): number {
  const number = Number(values[name])
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`--${name} must be a whole number from 1, got ${values[name]}.`)
}

const sum = (seconds: Readonly<Record<Phase, number>>) => Object.values(seconds).reduce((a, b) => a + b)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
main().catch((error: unknown) => {
  console.error(`overload: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
})

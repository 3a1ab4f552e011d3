import {
  CONTENDERS,
  type Contender,
  FRAMEWORKS,
  type FrameworkName,
  SCENARIOS,
  type ScenarioName,
} from './contenders/frameworks/frameworks.js'
import { type Estimate, medianOf } from './harness/intervals.js'
import { median } from './harness/rounds.js'
import { printTable, ratio, whole } from './harness/table.js'
import { type LiveSetup, type Served, serveInRounds } from './live-server.js'
import { isShort } from './workloads.js'

const PROCESSES = isShort ? 3 : 15
const REQUESTS = isShort ? 6_000 : 12_000
const AT_A_TIME = 128
const HELLO = 'GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n'

/** What each process of a contender took. */
type Samples = Readonly<Record<Contender, readonly Served[]>>

/**
 * What a limiter costs a live server of each framework, beside the limiter that its users usually take: user
 * CPU of the server's process above that of the same server without a limiter, and requests a second. All
 * limiters count one client in memory, and send the legacy headers. Fresh processes take turns.
 */
export async function benchFrameworks(): Promise<void> {
  for (const scenario of Object.keys(SCENARIOS) as ScenarioName[])
    for (const framework of Object.keys(FRAMEWORKS) as FrameworkName[])
      printSamples(framework, scenario, await sample(framework, scenario))
}

async function sample(framework: FrameworkName, scenario: ScenarioName): Promise<Samples> {
  const setups = CONTENDERS.map((name) => setupOf(framework, name, scenario))
  return Object.fromEntries(await serveInRounds(setups, PROCESSES, REQUESTS)) as Samples
}

function setupOf(framework: FrameworkName, name: Contender, scenario: ScenarioName): LiveSetup {
  return {
    name,
    module: new URL('./frameworks-child.ts', import.meta.url),
    args: [framework, name, scenario],
    requests: () => [HELLO],
    status: name === 'nothing' ? 200 : SCENARIOS[scenario].status,
    atATime: AT_A_TIME,
  }
}

function printSamples(framework: FrameworkName, scenario: ScenarioName, samples: Samples): void {
  const usOf = (name: Contender) => samples[name].map(({ userCpuNs }) => userCpuNs / REQUESTS / 1000)
  // By round: what the machine does meets the servers of one round.
  const bare = usOf('nothing')
  const aboveBare = (name: Contender) => medianOf(usOf(name).map((us, round) => us - (bare[round] as number)))
  const { usual } = FRAMEWORKS[framework]
  const rows = CONTENDERS.map((name) => [
    name === 'usual' ? usual : name,
    median(usOf(name)).toFixed(1),
    ...(name === 'nothing' ? ['', ''] : shown(aboveBare(name))),
    whole(median(samples[name].map(({ wallNs }) => (REQUESTS / wallNs) * 1e9))),
  ])
  const title = `${framework}, ${scenario}: user CPU of a request, ${PROCESSES} processes each, medians`
  printTable(title, ['limiter', 'µs', 'above nothing', '95 %', 'requests/s'], rows)
  const peers = aboveBare('usual').median
  const times = peers > 0 ? ratio(aboveBare('headgate').median, peers) : 'noise'
  console.log(`\n  ${usual} / headgate, above nothing: ${times}`)
}

function shown({ median, low, high }: Estimate): string[] {
  return [median.toFixed(1), `${low.toFixed(1)} to ${high.toFixed(1)}`]
}

/**
 * A server with one guard. Arguments: what it does for a request, the name of its guard, and the folder with
 * the packages of other guards.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerQuestions } from '../../bench/harness/child.js'
import { CONTENDERS } from './contenders.js'
import type { LiveScenario, Work } from './scenario.js'
import { scenarioNamed } from './scenarios.js'
import { burn, workOf } from './work.js'

/** The questions of the parent: its port, its CPU and limit so far, and to begin a scenario. */
export type ServerQuestion = 'port' | 'figures' | { readonly begin: string; readonly seconds: number }

export interface ServerFigures {
  readonly cpuMs: number
  readonly limit?: number
}

/** A herd opens many connections at once. */
const BACKLOG = 4096
const STOPS_EVERY_MS = 1000

const [work = 'backend', contender = '', packages = ''] = process.argv.slice(2)
let [scenario, beganAtMs, durationMs]: [LiveScenario | undefined, number, number] = [undefined, 0, 1]

function workersNow(): number | undefined {
  return scenario?.workersAt?.((performance.now() - beganAtMs) / durationMs)
}

const doWork = workOf(work as Work, workersNow)

async function handle({ url = '/' }: IncomingMessage, res: ServerResponse): Promise<void> {
  const working = doWork(url)
  if (working !== undefined) await working
  res.end('hello\n')
}

const make = CONTENDERS[contender]
if (make === undefined) throw new Error(`There is no guard ${contender}.`)
const { server, limit } = await make({ handle, packages, work: work as Work })
server.keepAliveTimeout = 60_000 // longer than any pause of a scenario
server.headersTimeout = server.requestTimeout = 0 // a proxy has connections that wait for their first request
const listening = new Promise<number>((resolve) => {
  server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () =>
    resolve((server.address() as AddressInfo).port),
  )
})

function begin(name: string, seconds: number): void {
  scenario = scenarioNamed(name)
  durationMs = seconds * 1000
  beganAtMs = performance.now()
  const { stopMs } = scenario
  if (stopMs !== undefined) setInterval(() => burn(stopMs), STOPS_EVERY_MS)
}

answerQuestions((question: ServerQuestion) => {
  if (question === 'port') return listening
  if (question !== 'figures') return begin(question.begin, question.seconds)
  const { user, system } = process.cpuUsage()
  return { cpuMs: (user + system) / 1000, ...(limit && { limit: limit() }) } satisfies ServerFigures
})
process.once('disconnect', () => process.exit())

/**
 * A server with one guard. Arguments: what it does for a request, the name of its guard, and the folder with
 * the packages of other guards.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerQuestions } from '../../bench/harness/child.js'
import { CONTENDERS } from './contenders.js'
import { type LiveScenario, WORKERS, type Work } from './scenario.js'
import { scenarioNamed } from './scenarios.js'
import { workOf } from './work.js'

/** The questions of the parent: its port, its CPU and limit so far, and to begin a scenario. */
export type ServerQuestion = 'port' | 'figures' | { readonly begin: string; readonly seconds: number }

export interface ServerFigures {
  readonly cpuMs: number
  readonly limit?: number
}

/** A herd opens many connections at once. */
const BACKLOG = 4096

const [work = 'backend', contender = '', packages = ''] = process.argv.slice(2)
let [scenario, beganAtMs, durationMs]: [LiveScenario | undefined, number, number] = [undefined, 0, 1]

function workersNow(): number {
  return scenario?.workersAt?.((performance.now() - beganAtMs) / durationMs) ?? WORKERS
}

const doWork = workOf(work as Work, workersNow)

async function handle(_req: IncomingMessage, res: ServerResponse): Promise<void> {
  const working = doWork()
  if (working !== undefined) await working
  res.end('hello\n')
}

const make = CONTENDERS[contender]
if (make === undefined) throw new Error(`There is no guard ${contender}.`)
const { server, limit } = await make({ handle, packages, work: work as Work })
server.keepAliveTimeout = 60_000 // longer than any pause of a scenario
const listening = new Promise<number>((resolve) => {
  server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () =>
    resolve((server.address() as AddressInfo).port),
  )
})

answerQuestions((question: ServerQuestion) => {
  if (question === 'port') return listening
  if (question === 'figures') {
    const { user, system } = process.cpuUsage()
    return { cpuMs: (user + system) / 1000, ...(limit && { limit: limit() }) } satisfies ServerFigures
  }
  scenario = scenarioNamed(question.begin)
  durationMs = question.seconds * 1000
  beganAtMs = performance.now()
  return undefined
})
process.once('disconnect', () => process.exit())

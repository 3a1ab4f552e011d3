import assert from 'node:assert/strict'
import { DENIALS, type DenialName } from './contenders/denials.js'
import { type Child, startChild } from './harness/child.js'
import { sendRequests } from './harness/http-load.js'
import { type Round, takeTurns } from './harness/rounds.js'
import type { Question } from './harness/server-child.js'
import { printTable, ratio, whole } from './harness/table.js'
import type { Usage } from './harness/usage.js'

const ROUNDS = 9
const REQUESTS = 5_000
const CONNECTIONS = 16
const HEAP_MB = 500
const NAMES = Object.keys(DENIALS) as DenialName[]
const HELLO = 'a route that says hello'

/**
 * What a denial costs a server, over sockets: each server in a process of its own, in turns. CPU is the
 * server's alone.
 */
export async function benchDenied(): Promise<void> {
  const module = new URL('./denied-child.ts', import.meta.url)
  const children = NAMES.map((name): [DenialName, Child] => [name, startChild(module, [name], HEAP_MB)])
  try {
    const contenders: [DenialName, Round][] = []
    for (const [name, child] of children) contenders.push([name, await contender(name, child)])
    const usages = await takeTurns(Object.fromEntries(contenders) as Record<DenialName, Round>, ROUNDS)
    print(usages)
  } finally {
    for (const [, child] of children) child.end()
  }
}

/** Uses up what a server lets through, and warms it up. */
async function contender(name: DenialName, child: Child): Promise<Round> {
  const ask = (question: Question) => child.ask<number>(question)
  const port = await ask('port')
  assert.deepEqual(await sendRequests(port, 1, 1), { 200: 1 }, `${name}: the first request was denied`)
  const status = name === HELLO ? 200 : 429

  async function round(): Promise<Usage> {
    const cpuNs = await ask('cpuNs')
    const start = process.hrtime.bigint()
    const statuses = await sendRequests(port, REQUESTS, CONNECTIONS)
    const wallNs = Number(process.hrtime.bigint() - start)
    assert.deepEqual(statuses, { [status]: REQUESTS }, `${name}: not every request was answered ${status}`)
    return { wallNs, cpuNs: (await ask('cpuNs')) - cpuNs }
  }

  for (let i = 0; i < 3; i++) await round() // for the compiler
  return round
}

function print(usages: Record<DenialName, Usage>): void {
  const rows = NAMES.map((name) => {
    const { wallNs, cpuNs } = usages[name]
    const against = (peer: DenialName) =>
      name.startsWith('headgate') ? ratio(cpuNs, usages[peer].cpuNs) : '-'
    const figures = [(cpuNs / REQUESTS / 1000).toFixed(1), whole((REQUESTS * 1e9) / wallNs)]
    return [name, ...figures, against(HELLO), against('express-rate-limit'), against('rate-limiter-flexible')]
  })
  printTable(
    `Denied requests over sockets: ${whole(REQUESTS)} a round on ${CONNECTIONS} connections, ${ROUNDS} rounds, medians; ratios of the server's CPU`,
    ['Express server', 'CPU µs', 'a second', 'hello /', 'express-rate-limit /', 'rate-limiter-flexible /'],
    rows,
  )
  for (const peer of [HELLO, 'express-rate-limit'] as const) {
    const times = usages[peer].cpuNs / usages.headgate.cpuNs
    const verdict = times > 1 ? 'reached' : 'NOT reached'
    console.log(`\n  Goal: cheaper than ${peer}: ${times.toFixed(2)}x, ${verdict}`)
  }
}

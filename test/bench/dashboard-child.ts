import assert from 'node:assert/strict'
import { memoryStore } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { boardOf } from '../../src/dashboard/board/board.js'
import { Changes } from '../../src/dashboard/server/changes.js'
import { limiterOf, requestFrom, watchesOf } from './dashboard-limiters.js'
import { answerQuestions } from './harness/child.js'

/** The parent's questions: deny all clients once, or what a second takes, which begins at `nowMs`. */
export type Question =
  | { readonly do: 'attack' }
  | { readonly do: 'second'; readonly nowMs: number; readonly hasPage: boolean }

/** CPU time in ms, and the size of the frame. */
export interface Second {
  readonly reportMs: number
  readonly readMs: number
  readonly frameMs: number
  readonly frameBytes: number
}

/** How many clients a process denies each second. Every limiter also allows a request. */
const DENIED_A_SECOND = 20

const [index, limiterCount, attacked, clientCount, url = ''] = process.argv.slice(2)
const client = new Redis(url, { autoResendUnfulfilledCommands: false })
let nowMs = Date.now()
const memory = memoryStore()
const limiters = Array.from({ length: Number(limiterCount) }, (_, i) => limiterOf(`limiter-${i}`, 1, memory))
const watches = watchesOf(limiters, () => nowMs)
// The requests are decided in memory: what counts here is what the dashboard does.
const store = redisStore(client)
for (const watch of watches) Object.assign(watch, { inspection: { ...watch.inspection, store } })
const board = boardOf(watches, () => nowMs)
const changes = new Changes(board)
const view = { limiter: 'limiter-0', search: '' }
let [sent, allowed] = [0, 0]

async function attack(clients: number): Promise<void> {
  for (let i = 0; i < clients; i++, sent++) {
    const request = requestFrom(Number(index), sent % Number(clientCount))
    for (let times = 0; times < 2; times++) await limiters[sent % Number(attacked)]?.charge(request)
  }
  for (const limiter of limiters) await limiter.charge(requestFrom(100 + Number(index), allowed++))
}

/** Returns what a second takes: with a page all of it; without one, what tells the others. */
async function second(hasPage: boolean): Promise<Second> {
  await attack(DENIED_A_SECOND)
  const isEven = Math.floor(nowMs / 1000) % 2 === 0
  const reportMs = isEven ? await cpuMs(() => board.tick()) : 0
  if (!hasPage) return { reportMs, readMs: 0, frameMs: 0, frameBytes: 0 }
  const readMs = await cpuMs(() => board.refresh())
  let frameBytes = 0
  const frameMs = await cpuMs(async () => {
    changes.advance(nowMs)
    frameBytes = Buffer.from(changes.frameSince(changes.tick - 1, view)).length
  })
  assert.equal(board.problems().length, 0, board.problems().join())
  return { reportMs, readMs, frameMs, frameBytes }
}

async function cpuMs(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function heapBytes(): number {
  global.gc?.()
  return process.memoryUsage().heapUsed
}

answerQuestions<Question>(async (question) => {
  if (question.do === 'second') {
    nowMs = question.nowMs
    return second(question.hasPage)
  }
  const before = heapBytes()
  await attack(Number(clientCount))
  return heapBytes() - before
})
process.once('disconnect', () => process.exit())

import { EventEmitter } from 'node:events'
import type { Request, Response } from 'express'
import { refundSkipped } from '../../../../src/adapters/express-rate-limit/refunds.js'
import type { CompatSettings } from '../../../../src/adapters/express-rate-limit/settings.js'

const failed = { skipFailedRequests: true }
const successful = { skipSuccessfulRequests: true }

/** A response of node:http, as far as refunds read it. */
class FakeResponse extends EventEmitter {
  statusCode = 200
  writableEnded = false
  writableFinished = false
  closed = false
  destroyed = false

  /** Sends the response, and closes it. */
  finish(statusCode = this.statusCode): void {
    Object.assign(this, { statusCode, writableEnded: true, writableFinished: true })
    this.emit('finish')
    this.hangUp()
  }

  hangUp(): void {
    this.closed = true
    this.emit('close')
  }
}

interface Case {
  readonly options: Partial<CompatSettings>
  readonly endsAtMs?: number
  refund?(): void
  /** What happens before the hit is known, and after that. */
  before?(res: FakeResponse): void
  after?(res: FakeResponse): void
}

/** Returns how often a hit is refunded, and what is logged. */
async function outcomeOf({ options, endsAtMs, refund, before, after }: Case) {
  const log: unknown[][] = []
  const logger = { error: (...args: unknown[]) => log.push(args), warn: () => undefined }
  const settings = {
    skipFailedRequests: false,
    skipSuccessfulRequests: false,
    requestWasSuccessful: (_: Request, { statusCode }: Response) => statusCode < 400,
    logger,
    ...options,
  } as unknown as CompatSettings
  const res = new FakeResponse()
  res.on('error', () => undefined)
  let refunds = 0
  const hit = {
    endsAtMs,
    refund() {
      refunds++
      refund?.()
    },
  }
  before?.(res)
  refundSkipped(settings, [{} as Request, res as unknown as Response], hit)
  after?.(res)
  await new Promise((resolve) => setImmediate(resolve))
  return { refunds, log }
}

const fail = (res: FakeResponse) => res.finish(404)
const succeed = (res: FakeResponse) => res.finish()
const hangUp = (res: FakeResponse) => res.hangUp()

test.each<[string, Case, refunds: number]>([
  ['a failed request', { options: failed, after: fail }, 1],
  ['a successful one', { options: failed, after: succeed }, 0],
  ['a failed request', { options: successful, after: fail }, 0],
  ['a successful one', { options: successful, after: succeed }, 1],
  ['a request that is over before it is counted', { options: failed, before: fail }, 1],
  ['a client that hangs up', { options: failed, after: hangUp }, 1],
  ['a client that has hung up before it is counted', { options: failed, before: hangUp }, 1],
  ['a client that hangs up', { options: successful, after: hangUp }, 0],
  [
    'a client that hangs up, which HTTP/2 reports as finished',
    { options: successful, after: (res) => Object.assign(res, { stream: {} }).emit('finish') },
    0,
  ],
  ['an error of the response', { options: failed, after: (res) => res.emit('error', new Error()) }, 1],
  ['an error of the response', { options: successful, after: (res) => res.emit('error', new Error()) }, 0],
  [
    'a request that fails in several ways',
    {
      options: failed,
      after(res) {
        res.emit('error', new Error())
        res.hangUp()
      },
    },
    1,
  ],
  [
    'what an own function says is successful',
    { options: { ...successful, requestWasSuccessful: async () => true }, after: fail },
    1,
  ],
  ['a hit of a window that goes on', { options: failed, endsAtMs: Date.now() + 60_000, after: fail }, 1],
  ['a hit of a window that has ended', { options: failed, endsAtMs: Date.now() - 1, after: fail }, 0],
])('%s: with %j, this often', async (_, each, refunds) => {
  expect(await outcomeOf(each)).toEqual({ refunds, log: [] })
})

test.each<[string, Case, unknown[]]>([
  [
    'a store',
    {
      options: failed,
      after: fail,
      refund() {
        throw new Error('connection lost')
      },
    },
    [new Error('connection lost'), 'rateLimit: the store failed to refund a hit.'],
  ],
  [
    'requestWasSuccessful',
    {
      options: { ...failed, requestWasSuccessful: () => Promise.reject(new Error('no database')) },
      after: fail,
    },
    [new Error('no database'), 'rateLimit: requestWasSuccessful failed.'],
  ],
])('what fails is logged: %s', async (_, each, logged) => {
  expect((await outcomeOf(each)).log).toEqual([logged])
})

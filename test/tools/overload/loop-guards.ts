/** Guards that deny requests while the event loop is late: one of our own, and those that npm has. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyPluginAsync } from 'fastify'
import { deny, type Guard, guarded, type MakeContender } from './contender.js'

/** @fastify/under-pressure measures as often by default. Its documentation denies from 1 s on, which is too late. */
const SAMPLE_MS = 1000
const RESOLUTION_MS = 10
const MAX_DELAY_MS = 50

/** Denies all requests while the event loop was late on average. */
export const loopDelay: MakeContender = ({ handle }) => {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let delayMs = 0
  setInterval(() => {
    delayMs = Math.max(0, histogram.mean / 1e6 - RESOLUTION_MS)
    histogram.reset()
  }, SAMPLE_MS)
  return { server: guarded(handle, (_req, res, pass) => (delayMs > MAX_DELAY_MS ? deny(res) : pass())) }
}

export const underPressure: MakeContender = async ({ handle, packages }) => {
  const { default: Fastify } = await import('fastify') // the others start without it
  const plugin = required<FastifyPluginAsync<object>>(packages, '@fastify/under-pressure')
  const app = Fastify()
  const options: object = { maxEventLoopDelay: MAX_DELAY_MS, sampleInterval: SAMPLE_MS, retryAfter: 1 }
  app.register(plugin, options)
  app.get('/*', (req, reply) => {
    reply.hijack()
    handle(req.raw, reply.raw)
  })
  await app.ready()
  return { server: app.server }
}

/** With its defaults: it denies more the later the event loop is, all from 140 ms on. */
export const tooBusy: MakeContender = ({ handle, packages }) => {
  const isTooBusy = required<() => boolean>(packages, 'toobusy-js')
  return { server: guarded(handle, (_req, res, pass) => (isTooBusy() ? deny(res) : pass())) }
}

/** With its defaults: from a delay of 42 ms on, measured every 5 ms. Its responses are its own. */
export const overloadProtection: MakeContender = ({ handle, packages }) => {
  const protect = required<(framework: 'http', options: object) => Protection>(
    packages,
    'overload-protection',
  )
  const denies = protect('http', { production: true })
  const guard: Guard = (req, res, pass) => {
    if (denies(req, res) !== true) pass()
  }
  return { server: guarded(handle, guard) }
}

/** Returns true after it has responded. */
type Protection = (req: IncomingMessage, res: ServerResponse) => boolean

function required<Module>(packages: string, name: string): Module {
  return createRequire(join(packages, 'package.json'))(name)
}

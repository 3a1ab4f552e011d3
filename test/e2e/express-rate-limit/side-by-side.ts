import type { OutgoingHttpHeaders } from 'node:http'
import express, { type Express } from 'express'
import * as original from 'express-rate-limit'
import * as ours from 'headgate/express-rate-limit'
import { type Answer, type Sent, send, serve } from '../../support/http.js'

/** What both packages export, in the types of ours. */
export interface Package extends Pick<typeof ours, 'rateLimit' | 'ipKeyGenerator'> {
  readonly MemoryStore: new () => Pick<ours.MemoryStore, keyof ours.MemoryStore>
}
type Options = ours.GivenOptions

/** Its `rateLimit` takes no store of headgate, and none is given to it. */
export const ORIGINAL = original as Package
export const OURS: Package = ours

/** What a test sees of one package: its answers, and what it logs. */
export interface Transcript {
  readonly answers: readonly object[]
  readonly log: readonly string[]
}

/** Makes options with the exports of a package. */
export type MakeOptions = (exports: Package) => Options

/**
 * Builds the application of a test around middleware. Default: one route, which answers with
 * `req.rateLimit`.
 */
export type BuildApp = (limit: (options: Options) => ReturnType<Package['rateLimit']>, app: Express) => void

/** Serves an application with each package in turn, and sends both the same requests. */
export async function bothWith(
  build: BuildApp,
  requests: readonly Sent[],
  windowMs = 60_000,
  createApp: () => Express = express,
) {
  return {
    original: await transcribe(ORIGINAL, build, requests, windowMs, createApp),
    ours: await transcribe(OURS, build, requests, windowMs, createApp),
  }
}

/** The same for middleware with some options, behind one proxy that reports the clients' addresses. */
export function both(make: MakeOptions, requests: readonly Sent[], windowMs?: number) {
  const build = (exports: Package): BuildApp => {
    return (limit, app) => {
      app.set('trust proxy', 1)
      app.use(limit(make(exports)))
      answerAll(app)
    }
  }
  return Promise.all(
    [ORIGINAL, OURS].map((exports) => transcribe(exports, build(exports), requests, windowMs)),
  ).then(([first, second]) => ({ original: first as Transcript, ours: second as Transcript }))
}

/** Answers with what the request carries of its limit, and with the status in the path, such as `/404`. */
export function answerAll(app: Express): void {
  app.use((req, res) => {
    const { limit, used, remaining, key, resetTime } = (req as ours.AugmentedRequest).rateLimit ?? {}
    res.status(Number(/^\/(\d{3})/.exec(req.path)?.[1] ?? 200))
    res.json({ limit, used, remaining, key, hasReset: resetTime instanceof Date })
  })
}

async function transcribe(
  exports: Package,
  build: BuildApp,
  requests: readonly Sent[],
  windowMs = 60_000,
  createApp: () => Express = express,
): Promise<Transcript> {
  const log: string[] = []
  const logger = {
    error: (error: unknown) => void log.push(`error ${nameOf(error)}`),
    warn: (error: unknown) => void log.push(`warn ${nameOf(error)}`),
  }
  const app = createApp()
  build((options) => exports.rateLimit({ logger, ...options }), app)
  app.use((error: Error, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
    res.status(500).send(`failed: ${error.message}`)
  })
  const served = await serve(app)
  const answers: object[] = []
  for (const sent of requests) answers.push(normalize(await send(served, sent), windowMs))
  return { answers, log }
}

/** Errors of checks are compared by their code, and others by their message. */
function nameOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string }
  return code ?? message ?? String(error)
}

/**
 * Returns an answer without what differs from run to run: dates, and the seconds until the window ends. Also
 * without `no-store`, which only our denials have.
 */
function normalize({ status, headers, text }: Answer, windowMs: number): object {
  const { date, ...rest } = headers as OutgoingHttpHeaders
  if (rest['cache-control'] === 'no-store') delete rest['cache-control']
  const windowSeconds = Math.ceil(windowMs / 1000)
  const nearly = (seconds: string) => {
    const isNear = Number(seconds) <= windowSeconds + 1 && Number(seconds) >= windowSeconds - 3
    return isNear ? '<reset>' : seconds
  }
  const shown = Object.entries(rest).map(([name, value]) => {
    if (name === 'x-ratelimit-reset')
      return [name, nearly(String(Number(value) - Math.floor(Date.now() / 1000)))]
    if (['retry-after', 'ratelimit-reset'].includes(name)) return [name, nearly(String(value))]
    const text = Array.isArray(value) ? value.join(', ') : String(value)
    return [name, text.replace(/(?<=reset=|\bt=)\d+/g, nearly)]
  })
  return { status, headers: Object.fromEntries(shown), hasDate: date !== undefined, text }
}

import { createServer, type IncomingMessage } from 'node:http'
import connect from 'connect'
import express from 'express'
import {
  byField,
  byIp,
  byUser,
  createLimiter,
  type Decision,
  memoryStore,
  type Policy,
  rateLimit,
  type Store,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import type { Operation, Outcome } from 'headgate/store'
import { statusesOf } from './statuses.cjs'

const free: Policy = tokenBucket({ capacity: 2, refill: 2, every: '1h' })
const app = express()
app.use(rateLimit({ policy: free }))

// What options are given follows from what they are annotated with, or from the app that they are used in.
app.use(rateLimit({ name: 'a', policy: free, skip: (req: express.Request) => req.hostname === 'health' }))
app.use(
  '/api',
  rateLimit({
    policy: (req: express.Request) => (req.ip === undefined ? undefined : free),
    key: [byUser((req: express.Request) => req.get('x-user')), byIp()],
    cost: async (req: express.Request) => (req.secure ? 1 : 2),
    count: (_req: express.Request, res: express.Response) => res.locals.counts === true,
    onDenied: (_req: express.Request, res: express.Response, _next, decision) => {
      res.status(429).json({ retryAfterMs: decision.retryAfterMs })
    },
  }),
)
app.use(rateLimit<express.Request, express.Response>({ policy: free, skip: (req) => req.path === '/up' }))
app.post('/login', rateLimit({ policy: free, key: byField('username'), count: 'failed' }), (req, res) => {
  const remaining: number | undefined = req.rateLimit?.remaining
  // @ts-expect-error: the figures are numbers
  const wrong: string | undefined = req.rateLimit?.remaining
  res.json({ remaining, wrong })
})
app.get('/', (_req, res) => {
  res.send('hello\n')
})

const connectApp = connect()
connectApp.use(rateLimit({ limit: 2, window: '1h', skip: (req: IncomingMessage) => req.url === '/up' }))
connectApp.use('/api', rateLimit({ limit: 2, window: '1h' }))
connectApp.use((_req, res) => res.end('hello\n'))

/** Never called: each has to be an error of its types. */
export const wrongUses = [
  // @ts-expect-error: a policy is no number
  () => rateLimit({ policy: 100 }),
  // @ts-expect-error: there is no such mode
  () => rateLimit({ limit: 2, window: '1h', mode: 'dry-run' }),
  // @ts-expect-error: there is no such option
  () => rateLimit({ limit: 2, window: '1h', max: 2 }),
]

const inner = memoryStore({ maxKeys: 1000 })
const counting: Store & { charged: number } = {
  name: 'counting',
  charged: 0,
  apply(operations: readonly Operation[]): readonly Outcome[] {
    counting.charged += operations.filter(({ type }) => type === 'charge').length
    return inner.apply(operations)
  },
}

const limiter = createLimiter<{ player: string }>({
  store: counting,
  limits: [{ name: 'moves', policy: slidingWindow({ limit: 1, window: '1s' }), key: ({ player }) => player }],
})
limiter.events.on('denied', (decision, { player }) => console.error(player, decision.limitName))
const decision: Decision = await limiter.charge({ player: 'ada' })
if (!decision.allowed || counting.charged !== 1 || decision.parts[0]?.name !== 'moves')
  throw new Error('charge')

const statuses = [await statusesOf(createServer(app)), await statusesOf(createServer(connectApp))]
console.log(process.version, statuses.join(', '))

/**
 * Serves an API, a login and a search with their dashboard, as one of several processes on a Redis server.
 * Arguments: the URL of Redis, how many limiters there are besides, which no request reaches, and the port.
 */
import type { AddressInfo } from 'node:net'
import express from 'express'
import {
  byField,
  byHeader,
  byIp,
  createLimiter,
  fixedWindow,
  rateLimit,
  sharedSettings,
  slidingWindow,
} from 'headgate'
import { dashboard } from 'headgate/dashboard'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'

const [url = '', others = '0', port = '0'] = process.argv.slice(2)
const store = redisStore(new Redis(url, { autoResendUnfulfilledCommands: false }))
const settings = sharedSettings(store)

const api = rateLimit({ name: 'api', limit: 60, window: '1m', key: byIp(), store, settings })
const login = rateLimit({
  name: 'login',
  policy: slidingWindow({ limit: 10, window: '1m' }),
  key: byField('username'),
  store,
  settings,
})
const search = rateLimit({
  name: 'search',
  policy: fixedWindow({ limit: 50, window: '10s' }),
  key: byHeader('x-api-key'),
  store,
  settings,
})
const idle = Array.from({ length: Number(others) }, (_, i) =>
  createLimiter<string>({ name: `idle-${i + 1}`, limit: 100, window: '1m', key: (id) => id, store }),
)

const app = express().disable('x-powered-by').set('trust proxy', 'loopback')
const limiters = [api.limiter, login.limiter, search.limiter, ...idle]
const page = dashboard({ limiters, authorize: () => true, operator: () => 'mira' })
app.use('/limits', page)
for (const { events } of [api.limiter, login.limiter, search.limiter])
  events.on('decision', ({ source }, { res }) => res?.setHeader('X-Source', source))
app.post('/login', express.urlencoded({ extended: false }), login, (_req, res) => {
  res.sendStatus(401)
})
app.post('/search', search, (_req, res) => {
  res.json([])
})
app.use(api, (_req, res) => {
  res.type('text').send('hello\n')
})
const server = app.listen(Number(port), '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
process.once('disconnect', () => process.exit())
/** As a deployment ends a process: the others are told. */
process.once('SIGTERM', () => void page.close().finally(() => process.exit()))

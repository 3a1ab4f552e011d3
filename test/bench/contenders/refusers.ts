import { createServer, type Server } from 'node:http'
import express, { type Express, type RequestHandler } from 'express'
import { byIp, loginGuard, memoryStore, rateLimit } from 'headgate'

export const PATHS = { limited: '/', login: '/login' } as const

/** The body of a login form with the right password. */
export const RIGHT_LOGIN = 'username=ada&password=right'

const guard = () =>
  loginGuard({
    field: 'username',
    name: 'site',
    store: memoryStore(),
    deviceCookie: { secret: 'only for this benchmark' },
  }) as unknown as RequestHandler

const limiter = () =>
  rateLimit({ limit: 1, window: '1d', key: byIp({ trustProxy: 1 }) }) as unknown as RequestHandler

/** Denies as headgate does, with a body of the same size. */
const refuse: RequestHandler = (_req, res) => {
  res
    .status(429)
    .set('Retry-After', '1800')
    .type('text')
    .send('Too many requests. Try again in 1800 seconds.\n')
}

function app(limiting: RequestHandler, guarding: RequestHandler): Express {
  const made = express()
  made.get(PATHS.limited, limiting, (_req, res) => {
    res.send('hello')
  })
  made.post(PATHS.login, express.urlencoded(), guarding, (req, res) => {
    res.sendStatus(req.body.password === 'right' ? 200 : 401)
  })
  return made
}

/** Servers by name: one that headgate limits, and one that denies every request without it. */
export const REFUSERS = {
  headgate: () => createServer(app(limiter(), guard())),
  'without headgate': () => createServer(app(refuse, refuse)),
} as const satisfies Record<string, () => Server>

export type RefuserName = keyof typeof REFUSERS

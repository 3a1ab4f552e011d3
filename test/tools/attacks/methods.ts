import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { loginGuard } from 'headgate'
import * as ofFastify from 'headgate/fastify'
import * as ofHono from 'headgate/hono'
import * as ofKoa from 'headgate/koa'
import { type Context, Hono } from 'hono'
import Koa from 'koa'
import { asRequest, headerOf } from '../../../src/keys/request.js'
import { listening } from './adapters/express.js'
import { guardOptions, loginStatus, type Site } from './adapters/login.js'
import { printedTable } from './adapters/table.js'

/** How a client logs in where `succeeded` says which responses are logins. */
interface Way {
  readonly name: string
  readonly method: string
  readonly isBasic?: true
}

export const WAYS: readonly Way[] = [
  { name: 'GET', method: 'GET' },
  { name: 'GET, Basic', method: 'GET', isBasic: true },
  { name: 'PUT', method: 'PUT' },
  { name: 'POST', method: 'POST' },
]

/** What a guesser sends after every fourth guess. All of it names the account, and gets 200. */
const BETWEEN = ['none', 'HEAD', 'OPTIONS', 'DELETE', 'GET /in/form', 'POST /in/form'] as const
const ADDRESSES = 3
const PER_ADDRESS = 12
const ROUNDS = 3

/** The routes of a site. */
const PAGES = ['/in/login', '/in/form']

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: unknown
}

/** Returns the name and the password in a request: in its query, or of Basic authentication. */
function credentialsIn(req: unknown): { username?: string | undefined; password?: string | undefined } {
  const { originalUrl, url } = asRequest(req)
  const basic = headerOf(req, 'authorization')?.replace('Basic ', '')
  if (basic !== undefined) {
    const [username, password] = atob(basic).split(':')
    return { username, password }
  }
  return Object.fromEntries(new URL(String(originalUrl ?? url), 'http://any').searchParams)
}

/** Returns the status of the application, which checks passwords by one method at one path. */
function statusOf(way: Way, { method, url, headers }: Asked): number {
  const isLogin = method === way.method && url.startsWith('/in/login')
  return isLogin ? loginStatus(credentialsIn({ url, headers })) : 200
}

const options = (account = (req: never) => credentialsIn(req).username) => {
  const { field: _field, ...others } = guardOptions('prefix')
  const succeeded = (_req: unknown, res: { statusCode?: number; status?: number }) =>
    (res.statusCode ?? res.status) === 200
  return { ...others, account, succeeded } as never
}

/** Starts a site of each adapter, whose guard is before all pages. */
export const METHOD_SITES = {
  Express(way) {
    const guard = loginGuard(options())
    const app = express().use(guard)
    for (const page of PAGES) app.all(page, (req, res) => void res.sendStatus(statusOf(way, asked(req))))
    return listening(app.listen(0, '::1'))
  },
  'node:http'(way) {
    const guard = loginGuard(options())
    const server = createServer((req, res) =>
      guard(req, res, () => void Object.assign(res, { statusCode: statusOf(way, asked(req)) }).end()),
    )
    return listening(server.listen(0, '::1'))
  },
  Koa(way) {
    const guard = ofKoa.loginGuard(options())
    const app = new Koa().use(guard as never).use((ctx) => {
      ctx.status = statusOf(way, asked(ctx.req))
    })
    return listening(app.listen(0, '::1'))
  },
  async Fastify(way) {
    const app = fastify({ forceCloseConnections: true })
    app.addHook('preHandler', ofFastify.loginGuard(options()))
    for (const page of PAGES)
      app.all(page, (request, reply) => reply.code(statusOf(way, asked(request.raw))).send())
    await app.listen({ port: 0, host: '::1' })
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() }
  },
  Hono(way) {
    const app = new Hono().use(ofHono.loginGuard(options((c: never) => credentialsIn(ofContext(c)).username)))
    for (const page of PAGES)
      app.all(page, (c) => new Response(null, { status: statusOf(way, ofContext(c)) }))
    return listening((createAdaptorServer({ fetch: app.fetch }) as Server).listen(0, '::1'))
  },
} satisfies Readonly<Record<string, (way: Way) => Promise<Site>>>

function asked({ method = '', url = '', headers }: IncomingMessage): Asked {
  return { method, url, headers }
}

function ofContext({ req }: Context): Asked {
  const { pathname, search } = new URL(req.url)
  return { method: req.method, url: pathname + search, headers: req.header() }
}

/** The results of one way to log in: of a user who mistypes four times before each login, and of guesses. */
export interface MethodRow {
  readonly user: string
  readonly guesses: readonly number[]
}

export async function playWay(start: (way: Way) => Promise<Site>, way: Way): Promise<MethodRow> {
  const site = await start(way)
  const agent = new Agent({ keepAlive: true })

  function send(
    method: string,
    path: string,
    from: string,
    username: string,
    password = '',
  ): Promise<number> {
    const isBasic = way.isBasic && method === way.method && path === '/in/login'
    const query = isBasic ? '' : `?${new URLSearchParams({ username, password })}`
    const headers = {
      'x-from': from,
      ...(isBasic && { authorization: `Basic ${btoa(`${username}:${password}`)}` }),
    }
    const options = { host: '::1', port: site.port, method, path: path + query, agent, headers }
    return new Promise((resolve, reject) => {
      const req = request(options, (res) => {
        res.resume().on('end', () => resolve(res.statusCode ?? 0))
      })
      req.on('error', reject).end()
    })
  }

  async function guessAt(between: (typeof BETWEEN)[number]): Promise<number> {
    let reached = 0
    const [method = '', path = '/in/login'] = between.split(' ')
    for (let i = 0; i < ADDRESSES * PER_ADDRESS; i++) {
      const from = `${between} ${Math.floor(i / PER_ADDRESS)}`
      if ((await send(way.method, '/in/login', from, between, `guess ${i}`)) === 401) reached++
      if (between !== 'none' && i % 4 === 3) await send(method, path, from, between)
    }
    return reached
  }

  try {
    let userIn = 0
    for (let i = 0; i < ROUNDS; i++)
      for (const password of ['a', 'b', 'c', 'd', 'analytical engine'])
        if ((await send(way.method, '/in/login', 'home', 'ada', password)) === 200) userIn++
    const guesses: number[] = []
    for (const between of BETWEEN) guesses.push(await guessAt(between))
    return { user: `${userIn} of ${ROUNDS}`, guesses }
  } finally {
    agent.destroy()
    await site.close()
  }
}

/** Plays all, and returns the table as it is printed. */
export async function playMethods(): Promise<string> {
  const lines: string[][] = []
  for (const [name, start] of Object.entries(METHOD_SITES))
    for (const way of WAYS) {
      const { user, guesses } = await playWay(start, way)
      lines.push([`${name}, ${way.name}`, user, ...guesses.map(String)])
    }
  const title =
    'Logins by other methods, where succeeded says what succeeds: logins of a user who mistypes four times before ' +
    `each, and how many of ${ADDRESSES * PER_ADDRESS} guesses from ${ADDRESSES} addresses reached the password, by ` +
    'what is sent between them'
  return printedTable(title, [['login', 'user in', ...BETWEEN], ...lines])
}

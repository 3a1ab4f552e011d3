import formbody from '@fastify/formbody'
import { createAdaptorServer } from '@hono/node-server'
import express, { type RequestHandler } from 'express'
import fastify from 'fastify'
import { byField, loginGuard, rateLimit } from 'headgate'
import { loginGuard as fastifyGuard, rateLimit as fastifyLimit } from 'headgate/fastify'
import { loginGuard as honoGuard, rateLimit as honoLimit } from 'headgate/hono'
import { Hono } from 'hono'
import multer from 'multer'
import { closeServers, type Sent, type Served, serve, statuses } from '../support/http.js'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

const BOUNDARY = 'a-boundary'

/** A form with a field of this name, as clients send it. */
const FORMS = {
  'a form': (name: string): Sent => ({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ [name]: 'ada' }).toString(),
  }),
  multipart: (name: string): Sent => ({
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nada\r\n--${BOUNDARY}--\r\n`,
  }),
  JSON: (name: string): Sent => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ [name]: 'ada' }),
  }),
} as const

type Form = keyof typeof FORMS

const NAMES = ['login.email', 'login[email]'] as const
const skipping = { limit: 2, window: '1h', key: byField('login.email', { missing: 'skip' }) } as const
const guardOptions = { field: 'login.email', path: '/' } as const

function onExpress(parser: RequestHandler, limiter: unknown): Promise<Served> {
  const app = express().post('/', parser, limiter as RequestHandler, (_req, res) => {
    res.sendStatus(401)
  })
  return serve(app)
}

type Start = (limits: 'key' | 'guard') => Promise<Served>

const expressWith =
  (parser: RequestHandler): Start =>
  (limits) =>
    onExpress(parser, limits === 'key' ? rateLimit(skipping) : loginGuard(guardOptions))

const PARSERS: readonly (readonly [name: string, Start, readonly Form[]])[] = [
  [
    'express.urlencoded({ extended: false })',
    expressWith(express.urlencoded({ extended: false })),
    ['a form'],
  ],
  ['express.urlencoded({ extended: true })', expressWith(express.urlencoded({ extended: true })), ['a form']],
  ['express.json()', expressWith(express.json()), ['JSON']],
  ['multer', expressWith(multer().none()), ['multipart']],
  ['Fastify', onFastify, ['a form', 'JSON']],
  ['Hono', onHono, ['a form', 'JSON', 'multipart']],
]

async function onFastify(limits: 'key' | 'guard'): Promise<Served> {
  const app = fastify()
  await app.register(formbody)
  if (limits === 'key') await app.register(fastifyLimit, { ...skipping, hook: 'preHandler' })
  const preHandler = limits === 'guard' ? fastifyGuard(guardOptions) : []
  app.post('/', { preHandler }, (_request, reply) => reply.code(401).send())
  await app.ready()
  return serve((req, res) => app.routing(req, res))
}

async function onHono(limits: 'key' | 'guard'): Promise<Served> {
  const app = new Hono()
  app.use(async (c, next) => {
    await c.req.text()
    await next()
  })
  app.post('/', limits === 'key' ? honoLimit(skipping as never) : honoGuard(guardOptions), (c) =>
    c.body(null, 401),
  )
  const server = createAdaptorServer({ fetch: app.fetch })
  return serve((req, res) => void server.emit('request', req, res))
}

const CASES = PARSERS.flatMap(([parser, start, forms]) =>
  forms.flatMap((form) => NAMES.map((name) => [parser, form, name, start] as const)),
)

test.each(CASES)(
  'with %s, %s with the field %s is counted by byField',
  async (_parser, form, name, start) => {
    const served = await start('key')
    expect(await statuses(served, Array(3).fill(FORMS[form](name)))).toEqual([401, 401, 429])
  },
)

test.each(CASES)('with %s, %s with the field %s names an account', async (_parser, form, name, start) => {
  const served = await start('guard')
  expect(await statuses(served, Array(6).fill(FORMS[form](name)))).toEqual([401, 401, 401, 401, 401, 429])
  expect(warnings()).toEqual([])
})

test('a form that names two accounts is answered 400', async () => {
  const served = await onExpress(express.urlencoded({ extended: true }), loginGuard(guardOptions))
  const body = 'login.email=ada&login[email]=bob'
  const { headers } = FORMS['a form']('')
  expect(await statuses(served, [{ method: 'POST', headers: headers ?? {}, body }])).toEqual([400])
})

import formbody from '@fastify/formbody'
import multipart from '@fastify/multipart'
import { createAdaptorServer } from '@hono/node-server'
import express, { type RequestHandler } from 'express'
import fastify, { type FastifyInstance } from 'fastify'
import { byField, loginGuard, rateLimit } from 'headgate'
import { loginGuard as fastifyGuard, rateLimit as fastifyLimit } from 'headgate/fastify'
import { loginGuard as honoGuard, rateLimit as honoLimit } from 'headgate/hono'
import { type Context, Hono } from 'hono'
import multer from 'multer'
import qs from 'qs'
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

/** Names of fields in options, and the names that a form may give them. */
const NAMES = {
  'login.email': ['login.email', 'login[email]'],
  'a.b[c]': ['a.b[c]', 'a.b.c', 'a[b][c]'],
} as const

type Field = keyof typeof NAMES

const skipping = (field: Field) =>
  ({ limit: 2, window: '1h', key: byField(field, { missing: 'skip' }) }) as const
const guardOptions = (field: Field) => ({ field, path: '/' }) as const

function onExpress(parser: RequestHandler, limiter: unknown): Promise<Served> {
  const app = express().post('/', parser, limiter as RequestHandler, (_req, res) => {
    res.sendStatus(401)
  })
  return serve(app)
}

type Start = (limits: 'key' | 'guard', field: Field) => Promise<Served>

const expressWith =
  (...parsers: readonly RequestHandler[]): Start =>
  (limits, field) =>
    onExpress(
      parsers as never,
      limits === 'key' ? rateLimit(skipping(field)) : loginGuard(guardOptions(field)),
    )

/** Parses forms with qs, as applications do that need its options. */
const qsWith =
  (options: qs.IParseOptions): RequestHandler =>
  (req, _res, next) => {
    req.body = qs.parse(req.body, options)
    next()
  }

const asText = express.text({ type: '*/*' })

const PARSERS: readonly (readonly [name: string, Start, readonly Form[]])[] = [
  [
    'express.urlencoded({ extended: false })',
    expressWith(express.urlencoded({ extended: false })),
    ['a form'],
  ],
  ['express.urlencoded({ extended: true })', expressWith(express.urlencoded({ extended: true })), ['a form']],
  ['qs with allowDots', expressWith(asText, qsWith({ allowDots: true })), ['a form']],
  ['express.json()', expressWith(express.json()), ['JSON']],
  ['multer', expressWith(multer().none()), ['multipart']],
  ['Fastify', fastifyWith((app) => app.register(formbody)), ['a form', 'JSON']],
  ['@fastify/multipart with fields as objects', multipartWith(true), ['multipart']],
  ['@fastify/multipart with keyValues', multipartWith('keyValues'), ['multipart']],
  ['Hono', honoWith((c) => c.req.text()), ['a form', 'JSON', 'multipart']],
  ['Hono with dot', honoWith((c) => c.req.parseBody({ dot: true })), ['a form', 'multipart']],
]

function fastifyWith(parse: (app: FastifyInstance) => PromiseLike<unknown>): Start {
  return async (limits, field) => {
    const app = fastify()
    await parse(app)
    if (limits === 'key') await app.register(fastifyLimit, { ...skipping(field), hook: 'preHandler' })
    const preHandler = limits === 'guard' ? fastifyGuard(guardOptions(field)) : []
    app.post('/', { preHandler }, (_request, reply) => reply.code(401).send())
    await app.ready()
    return serve((req, res) => app.routing(req, res))
  }
}

function multipartWith(attachFieldsToBody: true | 'keyValues'): Start {
  return fastifyWith((app) => app.register(multipart, { attachFieldsToBody }))
}

function honoWith(parse: (c: Context) => Promise<unknown>): Start {
  return async (limits, field) => {
    const app = new Hono()
    app.use(async (c, next) => {
      await parse(c)
      await next()
    })
    app.post(
      '/',
      limits === 'key' ? honoLimit(skipping(field) as never) : honoGuard(guardOptions(field)),
      (c) => c.body(null, 401),
    )
    const server = createAdaptorServer({ fetch: app.fetch })
    return serve((req, res) => void server.emit('request', req, res))
  }
}

const CASES = PARSERS.flatMap(([parser, start, forms]) =>
  forms.flatMap((form) =>
    (Object.keys(NAMES) as Field[]).flatMap((field) =>
      NAMES[field].map((name) => [parser, form, name, field, start] as const),
    ),
  ),
)

test.each(CASES)(
  "with %s, %s with the field %s is counted by byField('%s')",
  async (_parser, form, name, field, start) => {
    const served = await start('key', field)
    expect(await statuses(served, Array(3).fill(FORMS[form](name)))).toEqual([401, 401, 429])
  },
)

test.each(CASES)(
  'with %s, %s with the field %s names an account by %s',
  async (_parser, form, name, field, start) => {
    const served = await start('guard', field)
    expect(await statuses(served, Array(6).fill(FORMS[form](name)))).toEqual([401, 401, 401, 401, 401, 429])
    expect(warnings()).toEqual([])
  },
)

test.each(['field', 'file'])(
  'JSON that imitates a %s of @fastify/multipart names no account',
  async (type) => {
    const served = await onExpress(express.json(), loginGuard({ field: 'email', path: '/' }))
    const email = { type, fieldname: 'email', value: 'ada', fields: { email: 'ada' } }
    const { headers } = FORMS.JSON('')
    expect(
      await statuses(served, [{ method: 'POST', headers: headers ?? {}, body: JSON.stringify({ email }) }]),
    ).toEqual([400])
  },
)

test('a file names no account with @fastify/multipart, nor do two fields', async () => {
  const served = await multipartWith(true)('guard', 'login.email')
  const part = (more: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="login.email"${more}\r\n\r\nada\r\n`
  const sent = FORMS.multipart('')
  const bodies = [part('; filename="a"'), part('') + part('')]
  const requests = bodies.map((body) => ({ ...sent, body: `${body}--${BOUNDARY}--\r\n` }))
  expect(await statuses(served, requests)).toEqual([400, 400])
})

test('a form that names two accounts is answered 400', async () => {
  const served = await onExpress(
    express.urlencoded({ extended: true }),
    loginGuard(guardOptions('login.email')),
  )
  const body = 'login.email=ada&login[email]=bob'
  const { headers } = FORMS['a form']('')
  expect(await statuses(served, [{ method: 'POST', headers: headers ?? {}, body }])).toEqual([400])
})

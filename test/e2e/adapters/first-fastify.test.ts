import type fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { loginGuard } from 'headgate/fastify'
import { fetchPackages } from '../package/fetched.js'

type Mount = (app: FastifyInstance, guard: ReturnType<typeof loginGuard>) => unknown

/** The first release of the oldest major version that headgate supports. */
async function start(mount: Mount) {
  const folder = await fetchPackages('fastify-4.0', { fastify: '4.0.0' })
  const create: typeof fastify = require(`${folder}/node_modules/fastify`)
  const app = create()
  mount(app, loginGuard({ field: 'username' }))
  const statusOf = async (password: string, url = '/login') => {
    const { statusCode } = await app.inject({ method: 'POST', url, payload: { username: 'ada', password } })
    return statusCode
  }
  return { app, statusOf }
}

function addLogin(app: FastifyInstance, guard: ReturnType<typeof loginGuard>, url = '/login') {
  app.post<{ Body: { password: string } }>(url, { preHandler: guard }, async ({ body }, reply) =>
    reply.code(body.password === 'right' ? 200 : 401).send(),
  )
}

test.each<[string, Mount]>([
  ['one route', (app, guard) => addLogin(app, guard)],
  [
    'the route / below a prefix',
    (app, guard) => app.register(async (scope) => addLogin(scope, guard, '/'), { prefix: '/login' }),
  ],
])('in Fastify 4.0, a guard of %s limits failures, and a success clears them', async (_how, mount) => {
  const { app, statusOf } = await start(mount)
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 4; j++) expect(await statusOf('wrong')).toBe(401)
    expect(await statusOf('right')).toBe(200)
  }
  for (let j = 0; j < 5; j++) expect(await statusOf('wrong')).toBe(401)
  expect(await statusOf('right')).toBe(429)
  await app.close()
})

test('in Fastify 4.0, a success at another route of the guard clears nothing', async () => {
  const { app, statusOf } = await start((app, guard) => {
    addLogin(app, guard)
    app.post('/forgot', { preHandler: guard }, async () => 'sent')
  })
  for (let j = 0; j < 5; j++) {
    expect(await statusOf('wrong')).toBe(401)
    expect(await statusOf('', '/forgot')).toBe(j < 4 ? 200 : 429)
  }
  expect(await statusOf('right')).toBe(429)
  await app.close()
})

import { type LoginGuardOptions, loginGuard } from 'headgate/fastify'
import { closeServers, type Sent } from '../../../support/http.js'
import { start } from './applications.js'

afterEach(closeServers)

const secret = 'a secret of sixteen characters'

/**
 * Starts a login that knows one password, with a guard that allows two failures of an account and address.
 */
async function startLogin(options: Partial<LoginGuardOptions> = {}) {
  const guard = loginGuard({ field: 'username', ...options } as LoginGuardOptions)
  const served = await start((app) => {
    app.post<{ Body: { password: string } }>('/login', { preHandler: guard }, async (request, reply) => {
      if (request.body.password === 'redirect') {
        guard.reportSuccess(request)
        return reply.redirect('/home')
      }
      return reply.code(request.body.password === 'right' ? 204 : 401).send()
    })
  })
  const attempt = (password: string, username: unknown = 'ada', headers = {}): Sent => ({
    method: 'POST',
    path: '/login',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ username, password }),
  })
  return { ...served, guard, attempt }
}

test('limits failures of an account, and lets a success clear them', async () => {
  const { statuses, attempt } = await startLogin()
  const wrong = Array.from({ length: 4 }, () => attempt('wrong'))
  expect(await statuses(...wrong, attempt('right'), ...wrong)).toEqual([
    ...[401, 401, 401, 401, 204, 401, 401, 401, 401],
  ])
  expect(await statuses(attempt('wrong'), attempt('right'), attempt('right', 'bob'))).toEqual([401, 429, 204])
})

test('reads the body, and answers 400 where there is no name', async () => {
  const { statuses, attempt } = await startLogin()
  expect(await statuses(attempt('right', ['ada']), attempt('right', null))).toEqual([400, 400])
})

test('a redirect is a success where the handler reports it', async () => {
  const { statuses, attempt } = await startLogin()
  const wrong = Array.from({ length: 4 }, () => attempt('wrong'))
  expect(await statuses(...wrong, attempt('redirect'), ...wrong)).toEqual([
    ...[401, 401, 401, 401, 302, 401, 401, 401, 401],
  ])
})

test('succeeded sees the reply, with its status', async () => {
  const { statuses, attempt, guard } = await startLogin({
    succeeded: (_request, reply) => reply.statusCode === 401, // the wrong way round
  })
  expect(await statuses(...Array.from({ length: 7 }, () => attempt('wrong')))).toEqual(Array(7).fill(401))
  expect(await statuses(...Array.from({ length: 6 }, () => attempt('right')))).toEqual([
    ...Array(5).fill(204),
    429,
  ])
  expect(guard.describe().map(({ limit }) => limit)).toContain('account')
})

test('a known browser gets a cookie, beside those of the handler', async () => {
  const { get, attempt } = await startLogin({ name: 'login', deviceCookie: { secret } })
  const { headers } = await get(attempt('right'))
  expect(headers['set-cookie']).toEqual([expect.stringMatching(/^__Host-headgate-device-/)])
})

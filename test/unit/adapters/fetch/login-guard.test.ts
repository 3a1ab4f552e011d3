import {
  adjustments,
  fixedWindow,
  type LoginGuard,
  type LoginGuardOptions,
  loginGuard,
  memoryStore,
  type SecurityEvent,
  type Store,
} from 'headgate/fetch'
import { customStore } from 'headgate/store'
import { recordWarnings } from '../../../support/warnings.js'

const warnings = recordWarnings()

const INFO = { ip: '192.0.2.1', body: { username: 'ada' } }

/** A guard that allows an account two failures, by a clock that stands still. */
function guardOf(options: Partial<LoginGuardOptions> = {}): LoginGuard {
  const account = fixedWindow({ limit: 2, window: '30m' })
  const store = memoryStore({ clock: () => 0 })
  return loginGuard({ field: 'username', path: '/login', limits: { account }, store, ...options })
}

const request = (init: RequestInit = {}) => new Request('http://localhost/login', { method: 'POST', ...init })

const attempt = (guard: LoginGuard, response: Response) => guard.handle(request(), INFO, () => response)

/** Returns whether another attempt at the account is allowed. */
const isOpen = async (guard: LoginGuard) => (await guard(request(), INFO)) === undefined

const fail = (guard: LoginGuard) => attempt(guard, new Response('wrong', { status: 401 }))

describe('an attempt', () => {
  test.each<[string, Response, boolean]>([
    ['a status below 300', new Response('welcome'), true],
    ['a status of 400 or more', new Response('wrong', { status: 401 }), false],
    ['a redirect to a path that is not a failure', Response.redirect('http://localhost/home', 303), true],
    ['a redirect to a failure', Response.redirect('http://localhost/login?error', 303), false],
  ])('has an outcome by %s', async (_what, response, isSuccess) => {
    const guard = guardOf({ failureRedirect: '/login' })
    await fail(guard)
    await attempt(guard, response)
    expect(await isOpen(guard)).toBe(isSuccess)
  })

  test('has the outcome that is reported, or that succeeded returns for its response', async () => {
    const guard = guardOf({ succeeded: (_subject, response) => response.headers.has('x-session') })
    await fail(guard)
    await attempt(guard, new Response('welcome', { headers: { 'x-session': '1' } }))
    await fail(guard)
    const reported = request()
    await guard.handle(reported, INFO, () => {
      guard.reportFailure(reported)
      guard.reportSuccess(reported)
      return new Response('welcome')
    })
    await attempt(guard, new Response('welcome'))
    const failed = request()
    await guard.handle(failed, INFO, () => {
      guard.reportFailure(failed)
      return new Response('welcome', { headers: { 'x-session': '1' } })
    })
    expect(await isOpen(guard)).toBe(false)
  })

  test('cannot be reported once it is finished', async () => {
    const guard = guardOf()
    const finished = request()
    await guard.handle(finished, INFO, () => new Response('wrong', { status: 401 }))
    expect(() => guard.reportSuccess(finished)).toThrow(
      'loginGuard: the response headers were sent before the outcome was reported.',
    )
    expect(() => guard.reportSuccess(request())).not.toThrow()
  })

  test('whose handler throws counts for the account, but is no failure in a row', async () => {
    const guard = guardOf({ consecutive: 1 })
    const throws = () => Promise.reject(new Error('the database is down'))
    await expect(guard.handle(request(), INFO, throws)).rejects.toThrow('the database is down')
    const { parts } = await guard.limiter.peek(INFO as never)
    const used = Object.fromEntries(parts.map(({ name, limit, remaining }) => [name, limit - remaining]))
    expect(used).toMatchObject({ account: 1, consecutive: 0 })
  })

  test('whose client hangs up is a failure, and counts once', async () => {
    const guard = guardOf()
    const controller = new AbortController()
    const aborted = request({ signal: controller.signal })
    await guard.handle(aborted, INFO, () => {
      controller.abort()
      return new Response('welcome')
    })
    expect(await isOpen(guard)).toBe(true)
    expect(await isOpen(guard)).toBe(false)
  })

  test('reconciles with waitUntil', async () => {
    const waitUntil = jest.fn()
    const guard = guardOf({ store: lateStore() })
    await guard.handle(request(), { ...INFO, waitUntil }, () => new Response('welcome'))
    expect(waitUntil.mock.calls).toEqual([[expect.any(Promise)]])
    await waitUntil.mock.calls[0][0]
    const { parts } = await guard.limiter.peek(INFO as never)
    expect(parts.every(({ limit, remaining }) => limit === remaining)).toBe(true)
  })

  test('wrong options are an error, with the fix', () => {
    expect(() => loginGuard({} as never)).toThrow("Write field: 'username'.")
    expect(() => loginGuard(undefined as never)).toThrow(TypeError)
  })
})

describe('device cookies', () => {
  const guardWithCookies = () =>
    guardOf({ name: 'login', consecutive: 1, deviceCookie: { secret: 'sixteen letters!' } })

  test.each([
    ['of its own', () => new Response('welcome')],
    ['with immutable headers', () => Response.redirect('http://localhost/home', 303)],
  ])('are set on a copy of a response %s', async (_what, make) => {
    const guard = guardOf({
      name: 'login',
      deviceCookie: { secret: 'sixteen letters!' },
      failureRedirect: '/login',
    })
    const response = make()
    const finished = await attempt(guard, response)
    expect(response.headers.getSetCookie()).toEqual([])
    expect(finished.headers.getSetCookie()).toEqual([expect.stringMatching(/^__Host-headgate-device-/)])
  })

  test('are never those of another request that has the same response', async () => {
    const guard = guardWithCookies()
    const shared = new Response(null, { status: 204 })
    const names = ['ada', 'bob'].map(async (username) => {
      const finished = await guard.handle(request(), { ...INFO, body: { username } }, () => shared)
      return finished.headers.getSetCookie().map((cookie) => cookie.split('=')[0])
    })
    const [ofAda = [], ofBob = []] = await Promise.all(names)
    expect([ofAda.length, ofBob.length]).toEqual([1, 1])
    expect(ofAda).not.toEqual(ofBob)
  })

  test('let a known browser in while strangers are refused', async () => {
    const guard = guardWithCookies()
    const [cookie = ''] = (await attempt(guard, new Response('welcome'))).headers.getSetCookie()
    await fail(guard)
    expect(await isOpen(guard)).toBe(false)
    const known = request({ headers: { cookie: cookie.split(';')[0] as string } })
    expect(await guard(known, INFO)).toBeUndefined()
  })
})

test('a guard has what identifies an account, its events and its limits', async () => {
  const guard = guardOf()
  const events = jest.fn<void, [SecurityEvent]>()
  guard.events.on('security', events)
  const id = await guard.accountId(INFO as never)
  expect(id).toEqual(expect.any(String))
  await fail(guard)
  await fail(guard)
  expect(events.mock.calls.map(([{ event }]) => event)).toContainEqual(
    expect.stringMatching(/^authn_login_fail_max:.*,2$/),
  )
  expect(guard.describe().map(({ limit }) => limit)).toContain('account')
  await adjustments(guard.limiter).forget(INFO as never)
  expect(await isOpen(guard)).toBe(true)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_LIMITS']) // one address can use up the limit of the account
})

/** A correct store that answers with promises. */
function lateStore(): Store {
  const memory = memoryStore({ clock: () => 0 })
  return customStore({ name: 'late', apply: async (operations) => memory.apply(operations) })
}

import 'reflect-metadata'
import { EventEmitter } from 'node:events'
import { memoryStore } from 'headgate'
import { loginGuard, RateLimitException } from 'headgate/nest'
import { contextOf, request, WEB } from './contexts.js'

describe('a login guard', () => {
  const attempt = (guard: ReturnType<typeof loginGuard>, platform: (typeof WEB)[number] = 'Express') => {
    const made = request(platform)
    Object.assign(made.req, { method: 'POST', url: '/login', body: { username: 'ada' } })
    const raw = made.reply.raw
    return {
      context: contextOf('http', [made.req, made.res]),
      fail(status = 401) {
        raw.statusCode = status
        raw.end()
        raw.emit('finish')
      },
      pass: () => guard.canActivate(contextOf('http', [made.req, made.res])),
    }
  }

  test.each(WEB)('denies attempts after failures, on %s', async (platform) => {
    const guard = loginGuard({ field: 'username', path: '/login', consecutive: 2, store: memoryStore() })
    for (let i = 0; i < 2; i++) {
      const each = attempt(guard, platform)
      expect(await each.pass()).toBe(true)
      each.fail()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await expect((async () => attempt(guard, platform).pass())()).rejects.toBeInstanceOf(RateLimitException)
  })

  test('throws what the option exception returns', async () => {
    const replaced = new Error('replaced')
    const exception = () => replaced
    const guard = loginGuard({
      field: 'username',
      path: '/login',
      consecutive: 1,
      store: memoryStore(),
      exception,
    })
    const first = attempt(guard)
    await first.pass()
    first.fail()
    await new Promise((resolve) => setImmediate(resolve))
    await expect((async () => attempt(guard).pass())()).rejects.toBe(replaced)
  })

  test('is for HTTP alone, and says what to use for the rest', () => {
    const guard = loginGuard({ field: 'username' })
    expect(() => guard.canActivate(contextOf('ws', [new EventEmitter(), {}, 'chat']))).toThrow(
      "loginGuard: it works only with HTTP, whose status tells successes from failures. For GraphQL and WebSockets, use @RateLimit({ key: byField('username'), … }).",
    )
    expect(() => loginGuard({ field: 'username', onDenied: () => undefined } as never)).toThrow(
      'loginGuard: there is no option onDenied. Write exception, which returns what is thrown for a denied request.',
    )
  })
})

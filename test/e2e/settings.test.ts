import { byHeader, memoryStore, rateLimit, type SettingsDocument, sharedSettings } from 'headgate'
import { FRAMEWORKS, sayHello } from '../support/frameworks.js'
import { closeServers, send, serve, statuses, times } from '../support/http.js'

afterEach(closeServers)

const once = { limit: 1, window: '1m' } as const

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  /** Serves a limiter that follows a document. */
  async function following(document: Partial<SettingsDocument>, options: object = {}) {
    const settings = sharedSettings(memoryStore())
    const middleware = rateLimit({ name: 'api', ...once, settings, ...options })
    await settings.change('api', () => document, { by: 'ada', reason: 'a test' })
    return serve(app(middleware, sayHello))
  }

  test('other numbers are those of the headers', async () => {
    const served = await following({ limits: { api: { limit: 3 } } })
    expect((await send(served)).headers).toMatchObject({
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '2',
    })
    expect(await statuses(served, times(3))).toEqual([200, 200, 429])
  })

  test('a blocked network is answered 403, and an exempt address in it passes uncounted, without headers', async () => {
    const served = await following({
      overrides: [
        { network: '127.0.0.8/30', block: true },
        { network: '127.0.0.9', exempt: true },
      ],
    })
    const blocked = await send(served, { from: '127.0.0.10' })
    expect(blocked).toMatchObject({ status: 403, text: 'Forbidden.\n' })
    expect(blocked.headers).not.toHaveProperty('retry-after')
    expect(await statuses(served, times(3, { from: '127.0.0.9' }))).toEqual([200, 200, 200])
    expect((await send(served, { from: '127.0.0.9' })).headers).not.toHaveProperty('x-ratelimit-limit')
    expect(await statuses(served, times(2, { from: '127.0.0.12' }))).toEqual([200, 429])
  })

  test('an override by identity, and the options of the code, which come first', async () => {
    const served = await following(
      {
        overrides: [
          { identity: 'acme', limits: { api: { limit: 5 } } },
          { network: '127.0.0.0/8', block: true },
        ],
      },
      { key: byHeader('x-api-key'), allow: ['127.0.0.20'] },
    )
    const acme = await send(served, { headers: { 'x-api-key': 'acme' } })
    expect(acme.headers).toMatchObject({ 'x-ratelimit-limit': '5' })
    expect((await send(served, { headers: { 'x-api-key': 'other' } })).status).toBe(403)
    expect((await send(served, { from: '127.0.0.20' })).status).toBe(200)
  })
})
